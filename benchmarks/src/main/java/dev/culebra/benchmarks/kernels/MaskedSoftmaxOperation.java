package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;

import dev.culebra.ElementType;
import java.util.ArrayList;
import java.util.List;

/** The softmax of rows of which not every element counts. */
final class MaskedSoftmaxOperation implements Operation {
  private static final List<List<Long>> SHAPES =
      List.of(List.of(4000L, 32000L), List.of(16384L, 8192L));
  private static final List<List<Long>> TINY_SHAPES =
      List.of(List.of(37L, 1000L), List.of(64L, 128L));

  @Override
  public List<Problem> problems(Extent extent) {
    List<ElementType<?>> types =
        extent == Extent.ALL ? List.of(F32, BF16, F16, F64) : List.of(F32, BF16);
    List<Problem> problems = new ArrayList<>();
    for (List<Long> shape : extent == Extent.TINY ? TINY_SHAPES : SHAPES) {
      for (ElementType<?> type : types) {
        for (MaskedSoftmaxProblem.Mask mask : MaskedSoftmaxProblem.Mask.values()) {
          problems.add(MaskedSoftmaxProblem.of(type, shape.get(0), shape.get(1), mask));
        }
      }
    }
    return problems;
  }
}
