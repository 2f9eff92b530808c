/** What a call, a launch, a copy and a start cost, beside the same loop in C. */
@NullMarked
package dev.culebra.benchmarks.calls;

import org.jspecify.annotations.NullMarked;
