/** What the sections of a run share: where results go, how much is measured, on what machine. */
@NullMarked
package dev.culebra.benchmarks.session;

import org.jspecify.annotations.NullMarked;
