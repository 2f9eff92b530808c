package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.TopK;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;

/** The K largest probabilities of each row and their places, by every algorithm that there is. */
final class TopKProblem {
  /** Those of the softmax; the comparisons of a top-k are no arithmetic. */
  private static final double FLOPS_AN_ELEMENT = 5;

  /** What a user gets who does not choose. */
  static final String FUSED = "Culebra fused";

  private TopKProblem() {}

  static Problem of(ElementType<?> type, long rows, long length, int k) {
    TensorSpec in = TensorSpec.of(type, rows, length);
    TensorSpec out = TensorSpec.of(type, rows, (long) k);
    TensorSpec places = TensorSpec.of(ElementType.I32, rows, (long) k);
    List<Implementation> implementations =
        Arrays.stream(TopK.Algorithm.values())
            .map(
                algorithm ->
                    new Implementation(
                        "Culebra " + algorithm.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                        context -> TopK.of(context, k).withAlgorithm(algorithm).kernelName(type),
                        context -> open(context, type, k, algorithm)))
            .toList();
    return new Problem(
        "softmax + top-k",
        "softmax + top-%d %s %d x %d".formatted(k, type.symbol(), rows, length),
        Map.of("type", type.symbol(), "rows", rows, "length", length, "k", k),
        List.of(in),
        List.of(out, places),
        in.bytes() + out.bytes() + places.bytes(),
        FLOPS_AN_ELEMENT * in.elements(),
        Ceilings.READ,
        implementations,
        reader -> judge(reader, in, Math.toIntExact(length), k),
        SoftmaxProblem.allowed(in.storage()),
        Map.of(
            "op",
            "topk",
            "type",
            type.symbol(),
            "rows",
            rows,
            "length",
            length,
            "k",
            k,
            "checked_rows",
            RowCheck.sampled(rows, length)));
  }

  private static <E extends ElementType<E>> Problem.Call open(
      Context context, ElementType<E> type, int k, TopK.Algorithm algorithm) {
    TopK topK = TopK.of(context, k).withAlgorithm(algorithm);
    return (tensors, stream) -> forward(topK, tensors, type, stream);
  }

  private static <E extends ElementType<E>> void forward(
      TopK topK, Tensors tensors, ElementType<E> type, Stream stream) {
    TensorView<?> places = tensors.outputs().get(1);
    topK.forward(tensors.in(0, type), tensors.out(0, type), places, stream);
  }

  private static Verdict judge(Reader reader, TensorSpec in, int length, int k) {
    StorageType storage = in.storage();
    // Among equal probabilities of 16 bits a softmax that is written first leaves no choice.
    double rounding = 2 * storage.unitRoundoff();
    double worst = 0;
    long[] rows = RowCheck.sampled(in.shape().getFirst(), length);
    for (long row : rows) {
      reader.requireInput(0, row * length, length);
      double[] truth =
          SoftmaxReference.rows(reader.input(0, row * length, length), length, 1, false);
      double[] actual = reader.output(0, row * k, k);
      double[] places = reader.output(1, row * k, k);
      worst = Math.max(worst, error(actual, places, truth, rounding));
    }
    return new Verdict(worst, (long) rows.length * k);
  }

  /**
   * How far a row is off: each probability from the K-th largest that it has to be, and that of the
   * element in its place beyond what rounding hides.
   */
  static double error(double[] actual, double[] places, double[] truth, double rounding) {
    double[] largest = largest(truth, actual.length);
    Set<Double> seen = new HashSet<>();
    double worst = 0;
    for (int i = 0; i < actual.length; i++) {
      if (!(places[i] >= 0 && places[i] < truth.length) || !seen.add(places[i])) {
        return Double.POSITIVE_INFINITY;
      }
      double expected = largest[i];
      double there = truth[(int) places[i]];
      worst = Math.max(worst, Math.abs(actual[i] - expected) / expected);
      worst = Math.max(worst, Math.abs(there - expected) / expected - rounding);
    }
    return worst;
  }

  /** The K largest, in descending order, without sorting a long row. */
  private static double[] largest(double[] values, int k) {
    PriorityQueue<Double> kept = new PriorityQueue<>(k);
    for (double value : values) {
      if (kept.size() < k) {
        kept.add(value);
      } else if (value > kept.element()) {
        kept.remove();
        kept.add(value);
      }
    }
    double[] largest = new double[k];
    for (int i = k - 1; i >= 0; i--) {
      largest[i] = kept.remove();
    }
    return largest;
  }
}
