/** Operations on tensors that launch Culebra's own kernels: softmax, top-k and reductions. */
@NullMarked
package dev.culebra.ops;

import org.jspecify.annotations.NullMarked;
