package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;

import dev.culebra.ElementType;
import java.util.ArrayList;
import java.util.List;

/** The softmax at the shapes that goals are stated for. */
final class SoftmaxOperation implements Operation {
  private static final List<List<Long>> SHAPES =
      List.of(
          List.of(4000L, 32000L),
          List.of(16384L, 8192L),
          List.of(4096L, 131072L),
          List.of(65536L, 1024L),
          List.of(4000L, 4000L),
          List.of(10L, 4000L),
          List.of(10L, 131072L),
          List.of(1L, 1048576L));

  /** Of these many the logarithm is taken as well: those that fill a device. */
  private static final int LOG_SHAPES = 3;

  private static final List<List<Long>> TINY_SHAPES =
      List.of(List.of(37L, 1000L), List.of(64L, 128L));

  @Override
  public List<Problem> problems(Extent extent) {
    List<ElementType<?>> types =
        extent == Extent.ALL ? List.of(F32, BF16, F16, F64) : List.of(F32, BF16);
    List<Problem> problems = new ArrayList<>();
    for (List<Long> shape : extent == Extent.TINY ? TINY_SHAPES : SHAPES) {
      for (ElementType<?> type : types) {
        problems.add(SoftmaxProblem.of(type, shape.get(0), shape.get(1), false));
      }
    }
    for (List<Long> shape : extent == Extent.TINY ? TINY_SHAPES : SHAPES.subList(0, LOG_SHAPES)) {
      for (ElementType<?> type : types) {
        problems.add(SoftmaxProblem.of(type, shape.get(0), shape.get(1), true));
      }
    }
    return problems;
  }
}
