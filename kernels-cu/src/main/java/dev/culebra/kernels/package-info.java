/** The kernel images of the jar, with their index and launch tables. */
@NullMarked
package dev.culebra.kernels;

import org.jspecify.annotations.NullMarked;
