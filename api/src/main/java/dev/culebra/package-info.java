/** The typed API over the CUDA driver: devices, contexts, streams, memory, kernels. */
@NullMarked
package dev.culebra;

import org.jspecify.annotations.NullMarked;
