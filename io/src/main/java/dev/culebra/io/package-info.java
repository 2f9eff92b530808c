/** Tensors in files: .npy and .safetensors, memory-mapped. */
@NullMarked
package dev.culebra.io;

import org.jspecify.annotations.NullMarked;
