package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.SoftmaxBackward;
import dev.culebra.testkit.SoftmaxBackwardReference;
import dev.culebra.testkit.StorageType;
import java.util.List;
import java.util.Map;

/**
 * The gradient of a softmax of rows from its result y and the gradient dy with respect to that.
 * What it computes is defined for any y, so y is as random as dy.
 */
final class SoftmaxBackwardProblem {
  /** Two products, a difference and a sum; the exponential of the logarithm beside them. */
  private static final double FLOPS_AN_ELEMENT = 4;

  /** Of the accumulator's roundings, as of {@link SoftmaxProblem#allowed}. */
  private static final double ROUNDINGS = 64;

  private SoftmaxBackwardProblem() {}

  static Problem of(ElementType<?> type, long rows, long length, boolean log) {
    String operation = (log ? "log-softmax" : "softmax") + " backward";
    TensorSpec tensor = TensorSpec.of(type, rows, length);
    return new Problem(
        operation,
        "%s %s %d x %d".formatted(operation, type.symbol(), rows, length),
        Map.of("type", type.symbol(), "rows", rows, "length", length),
        List.of(tensor, tensor),
        List.of(tensor),
        3 * tensor.bytes(),
        FLOPS_AN_ELEMENT * tensor.elements(),
        Ceilings.READ,
        List.of(
            new Implementation(
                "Culebra",
                context -> SoftmaxBackward.of(context).withLog(log).kernelName(type, rows, length),
                context -> open(context, type, log))),
        reader -> judge(reader, tensor, Math.toIntExact(length), log),
        tensor.storage().unitRoundoff(),
        Map.of(
            "op",
            "softmax_backward",
            "type",
            type.symbol(),
            "rows",
            rows,
            "length",
            length,
            "log",
            log,
            "inputs",
            2,
            "checked_rows",
            RowCheck.sampled(rows, length)));
  }

  private static <E extends ElementType<E>> Problem.Call open(
      Context context, ElementType<E> type, boolean log) {
    SoftmaxBackward backward = SoftmaxBackward.of(context).withLog(log);
    return (tensors, stream) ->
        backward.run(tensors.in(0, type), tensors.in(1, type), tensors.out(0, type), stream);
  }

  private static Verdict judge(Reader reader, TensorSpec tensor, int length, boolean log) {
    return RowCheck.judge(
        tensor.shape().getFirst(),
        length,
        length,
        row -> {
          long from = row * length;
          reader.requireInput(0, from, length);
          reader.requireInput(1, from, length);
          return error(
              reader.output(0, from, length),
              reader.input(0, from, length),
              reader.input(1, from, length),
              log,
              tensor.storage());
        });
  }

  /**
   * How far a row is off. dy less a sum of many terms may be next to nothing, so an error is a part
   * of the result and of the magnitudes that were added up to it, these as much less as the
   * accumulator is more exact than the result's type. It is at most one rounding to that type.
   */
  static double error(double[] actual, double[] y, double[] dy, boolean log, StorageType storage) {
    StorageType accumulator = storage == StorageType.F64 ? storage : StorageType.F32;
    double weight = ROUNDINGS * accumulator.unitRoundoff() / storage.unitRoundoff();
    double[] truth = SoftmaxBackwardReference.rows(y, dy, y.length, 1, log);
    double terms = 0;
    for (int i = 0; i < y.length; i++) {
      terms += Math.abs(log ? dy[i] : y[i] * dy[i]);
    }
    double worst = 0;
    for (int i = 0; i < y.length; i++) {
      double magnitude =
          log
              ? Math.abs(dy[i]) + Math.exp(y[i]) * terms
              : Math.abs(y[i]) * (Math.abs(dy[i]) + terms);
      double error = Math.abs(actual[i] - truth[i]);
      // 0 of 0 is right; Math.max hands NaN on, which no bound allows.
      worst = Math.max(worst, error == 0 ? 0 : error / (Math.abs(truth[i]) + weight * magnitude));
    }
    return worst;
  }
}
