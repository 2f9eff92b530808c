/** The float64 truth of every operation, and generators of hard inputs. For tests only. */
@NullMarked
package dev.culebra.testkit;

import org.jspecify.annotations.NullMarked;
