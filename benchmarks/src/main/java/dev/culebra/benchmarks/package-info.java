/**
 * What a call, a launch and a softmax cost. Every figure stands beside one that was taken in the
 * same run on the same machine: the same loop in C, or a device-to-device copy of the same bytes.
 */
@NullMarked
package dev.culebra.benchmarks;

import org.jspecify.annotations.NullMarked;
