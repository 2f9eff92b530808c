/**
 * The typed API over the CUDA driver: devices, contexts, streams, memory, kernels.
 *
 * <p>Start at {@link dev.culebra.Device} and {@link dev.culebra.Context}; operations on tensors are
 * in {@link dev.culebra.ops}.
 *
 * <p>System properties, each also an environment variable in upper case with {@code _} for the dot
 * (the property wins):
 *
 * <ul>
 *   <li>{@code culebra.driver}: the path of the driver's library, instead of the usual places.
 *   <li>{@code culebra.kernels}: a folder with kernel images, instead of those in the jar.
 * </ul>
 *
 * <p>And {@code culebra.leaks}, a system property only: {@code report} logs what was never closed
 * to the {@link System.Logger} {@code dev.culebra}, {@code trace} adds where it was created.
 */
@NullMarked
package dev.culebra;

import org.jspecify.annotations.NullMarked;
