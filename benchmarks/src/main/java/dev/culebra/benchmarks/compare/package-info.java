/** Whether one file of results is slower than another, beyond the noise of both. */
@NullMarked
package dev.culebra.benchmarks.compare;

import org.jspecify.annotations.NullMarked;
