/**
 * What kernels reach, by the device's own clock, beside the ceilings and the peers of the same run.
 * An operation is one file: see {@link dev.culebra.benchmarks.kernels.Operation}.
 */
@NullMarked
package dev.culebra.benchmarks.kernels;

import org.jspecify.annotations.NullMarked;
