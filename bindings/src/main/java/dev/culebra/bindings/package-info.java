/** The driver, found and opened; its results as exceptions; its handles as {@code long}. */
@NullMarked
package dev.culebra.bindings;

import org.jspecify.annotations.NullMarked;
