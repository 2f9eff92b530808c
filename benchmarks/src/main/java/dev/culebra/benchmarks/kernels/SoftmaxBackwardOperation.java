package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;

import dev.culebra.ElementType;
import java.util.ArrayList;
import java.util.List;

/** The way back through a softmax at the shapes that goals are stated for. */
final class SoftmaxBackwardOperation implements Operation {
  private static final List<List<Long>> SHAPES =
      List.of(
          List.of(4096L, 131072L),
          List.of(16384L, 8192L),
          List.of(4000L, 32000L),
          List.of(65536L, 1024L));
  private static final List<List<Long>> TINY_SHAPES =
      List.of(List.of(37L, 1000L), List.of(64L, 128L));

  @Override
  public List<Problem> problems(Extent extent) {
    List<ElementType<?>> types =
        extent == Extent.ALL ? List.of(F32, BF16, F16, F64) : List.of(F32, BF16);
    List<List<Long>> shapes = extent == Extent.TINY ? TINY_SHAPES : SHAPES;
    List<Problem> problems = new ArrayList<>();
    for (List<Long> shape : shapes) {
      for (ElementType<?> type : types) {
        problems.add(SoftmaxBackwardProblem.of(type, shape.get(0), shape.get(1), false));
      }
    }
    for (ElementType<?> type : types) {
      problems.add(
          SoftmaxBackwardProblem.of(
              type, shapes.getFirst().get(0), shapes.getFirst().get(1), true));
    }
    return problems;
  }
}
