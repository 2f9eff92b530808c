package dev.culebra.benchmarks.kernels;

import java.util.List;

/**
 * An operation to be measured. To add one, write a class that states its problems (shapes, bytes,
 * floating point operations, how it is called, when its result is right, what the peer is asked),
 * and name it in {@link KernelSection}.
 */
interface Operation {
  /** The problems to measure, the most important first. */
  List<Problem> problems(Extent extent);
}
