package dev.culebra.benchmarks.kernels;

import dev.culebra.ElementType;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.ops.OnlineState;
import dev.culebra.ops.SoftmaxStates;
import dev.culebra.testkit.ReductionReference;
import java.util.List;
import java.util.Map;

/** The state of each row, found in pieces and merged: the first half of a softmax. */
final class StatesProblem {
  /** Subtract, exponential, add. */
  private static final double FLOPS_AN_ELEMENT = 3;

  private StatesProblem() {}

  static Problem of(ElementType<?> type, long rows, long length) {
    TensorSpec in = TensorSpec.of(type, rows, length);
    TensorSpec out = TensorSpec.of(SoftmaxStates.stateType(type), rows, 2L);
    return new Problem(
        "softmax states",
        "softmax states %s %d x %d".formatted(type.symbol(), rows, length),
        Map.of("type", type.symbol(), "rows", rows, "length", length),
        List.of(in),
        List.of(out),
        in.bytes() + out.bytes(),
        FLOPS_AN_ELEMENT * in.elements(),
        Ceilings.READ,
        List.of(
            new Implementation(
                "Culebra",
                context -> "culebra_softmax_split_states_" + type.symbol(),
                context -> open(SoftmaxStates.of(context), type))),
        reader ->
            RowCheck.judge(
                reader,
                rows,
                Math.toIntExact(length),
                2,
                row -> new double[] {ReductionReference.LOGSUMEXP.of(row)},
                (actual, truth, row) ->
                    Math.abs(new OnlineState(actual[0], actual[1]).logSumExp() - truth[0])
                        / Math.abs(truth[0])),
        SoftmaxProblem.allowed(TensorSpec.storage(SoftmaxStates.stateType(type))),
        Map.of());
  }

  private static <E extends ElementType<E>> Problem.Call open(
      SoftmaxStates states, ElementType<E> type) {
    return (tensors, stream) ->
        states.states(tensors.in(0, type), tensors.outputs().getFirst(), stream);
  }
}
