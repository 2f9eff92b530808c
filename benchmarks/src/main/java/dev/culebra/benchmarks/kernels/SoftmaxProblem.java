package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.Softmax;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The softmax of rows, by every algorithm that there is. */
final class SoftmaxProblem {
  /** Subtract, scale, exponential, add; and the division: what the function takes at least. */
  private static final double FLOPS_AN_ELEMENT = 5;

  /** What a user gets who does not choose. */
  static final String AUTO = "Culebra auto";

  /** The steps of the ladder, and what a user gets who does not choose. */
  private static final List<Softmax.Algorithm> ALGORITHMS =
      List.of(
          Softmax.Algorithm.NAIVE,
          Softmax.Algorithm.SAFE,
          Softmax.Algorithm.ONLINE,
          Softmax.Algorithm.AUTO);

  private SoftmaxProblem() {}

  static Problem of(ElementType<?> type, long rows, long length, boolean log) {
    String name =
        "%s %s %d x %d".formatted(log ? "log-softmax" : "softmax", type.symbol(), rows, length);
    TensorSpec tensor = TensorSpec.of(type, rows, length);
    List<Implementation> implementations =
        ALGORITHMS.stream()
            .map(algorithm -> implementation(type, rows, length, algorithm, log))
            .toList();
    return new Problem(
        log ? "log-softmax" : "softmax",
        name,
        Map.of("type", type.symbol(), "rows", rows, "length", length),
        List.of(tensor),
        List.of(tensor),
        2 * tensor.bytes(),
        FLOPS_AN_ELEMENT * tensor.elements(),
        Ceilings.COPY,
        implementations,
        reader -> judge(reader, tensor, Math.toIntExact(length), log),
        allowed(tensor.storage()),
        Map.of(
            "op",
            "softmax",
            "type",
            type.symbol(),
            "rows",
            rows,
            "length",
            length,
            "log",
            log,
            "checked_rows",
            RowCheck.sampled(rows, length)));
  }

  private static Implementation implementation(
      ElementType<?> type, long rows, long length, Softmax.Algorithm algorithm, boolean log) {
    return new Implementation(
        "Culebra " + algorithm.name().toLowerCase(Locale.ROOT),
        context -> Softmax.of(context, algorithm).withLog(log).kernelName(type, rows, length),
        context -> open(context, type, algorithm, log));
  }

  private static <E extends ElementType<E>> Problem.Call open(
      Context context, ElementType<E> type, Softmax.Algorithm algorithm, boolean log) {
    Softmax softmax = Softmax.of(context, algorithm).withLog(log);
    return (tensors, stream) -> softmax.forward(tensors.in(0, type), tensors.out(0, type), stream);
  }

  private static Verdict judge(Reader reader, TensorSpec tensor, int length, boolean log) {
    return RowCheck.judge(
        reader,
        tensor.shape().getFirst(),
        length,
        length,
        row -> SoftmaxReference.rows(row, length, 1, log),
        (actual, truth, row) -> relativeError(actual, truth, tensor.storage().minNormal()));
  }

  /** Below the smallest normal value a type has no relative precision to be held to. */
  static double relativeError(double[] actual, double[] truth, double minNormal) {
    double worst = 0;
    for (int i = 0; i < truth.length; i++) {
      double error = Math.abs(actual[i] - truth[i]) / Math.max(Math.abs(truth[i]), minNormal);
      // Math.max hands NaN on, which no bound allows.
      worst = Math.max(worst, error);
    }
    return worst;
  }

  /**
   * One rounding of the result into its type, and the fp32 arithmetic before it: the exponential of
   * a difference of up to 16, rounded to fp32, is off by up to 16 half-ulps, and so are the terms
   * of the sum. Double precision accumulates in double.
   */
  static double allowed(StorageType storage) {
    StorageType accumulator = storage == StorageType.F64 ? storage : StorageType.F32;
    return storage.unitRoundoff() + 64 * accumulator.unitRoundoff();
  }
}
