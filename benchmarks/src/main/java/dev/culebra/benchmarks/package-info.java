/**
 * What a call, a launch and a kernel cost. Every figure stands beside one that was taken in the
 * same run on the same machine: the same loop in C, a ceiling of the device, or a peer.
 */
@NullMarked
package dev.culebra.benchmarks;

import org.jspecify.annotations.NullMarked;
