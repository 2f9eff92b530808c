/** What samples say and how sure that is. Nothing here knows what was measured. */
@NullMarked
package dev.culebra.benchmarks.statistics;

import org.jspecify.annotations.NullMarked;
