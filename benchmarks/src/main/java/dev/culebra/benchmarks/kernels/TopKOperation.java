package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;

import dev.culebra.ElementType;
import java.util.ArrayList;
import java.util.List;

/** Softmax and top-k at the shapes that goals are stated for. */
final class TopKOperation implements Operation {
  private static final int K = 5;

  /** Beyond what the paper's form keeps its lead with, and what a sampler takes. */
  private static final List<Integer> MORE_K = List.of(30, 50);

  private static final List<List<Long>> SHAPES =
      List.of(List.of(4096L, 131072L), List.of(4000L, 32000L), List.of(10L, 131072L));
  private static final List<List<Long>> TINY_SHAPES =
      List.of(List.of(37L, 1000L), List.of(64L, 128L));

  @Override
  public List<Problem> problems(Extent extent) {
    List<List<Long>> shapes = extent == Extent.TINY ? TINY_SHAPES : SHAPES;
    List<ElementType<?>> types =
        extent == Extent.ALL ? List.of(F32, BF16, F16) : List.of(F32, BF16);
    List<Problem> problems = new ArrayList<>();
    for (List<Long> shape : shapes) {
      for (ElementType<?> type : types) {
        problems.add(TopKProblem.of(type, shape.get(0), shape.get(1), K));
      }
    }
    for (int k : MORE_K) {
      problems.add(TopKProblem.of(F32, shapes.getFirst().get(0), shapes.getFirst().get(1), k));
    }
    return problems;
  }
}
