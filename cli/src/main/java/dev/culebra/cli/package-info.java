/** The {@code culebra} command: a thin client of {@code dev.culebra}. */
@NullMarked
package dev.culebra.cli;

import org.jspecify.annotations.NullMarked;
