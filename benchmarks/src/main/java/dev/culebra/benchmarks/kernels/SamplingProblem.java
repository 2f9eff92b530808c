package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.Sampling;
import dev.culebra.testkit.SamplingReference;
import java.util.List;
import java.util.Map;

/** A token drawn from each row, with the filters that inference engines use. */
final class SamplingProblem {
  /** As of a softmax. */
  private static final double FLOPS_AN_ELEMENT = 5;

  /** Of a probability: where top-p ends by rounding is one element sooner or later. */
  private static final double ALLOWED = 1e-3;

  private SamplingProblem() {}

  /**
   * One problem.
   *
   * @param topK 0 for all
   * @param topP 1 for all
   */
  static Problem of(ElementType<?> type, long rows, long length, int topK, double topP) {
    TensorSpec in = TensorSpec.of(type, rows, length);
    TensorSpec tokens = TensorSpec.of(ElementType.I32, rows);
    TensorSpec probabilities = TensorSpec.of(ElementType.F32, rows);
    String filters = (topK > 0 ? " top-k " + topK : "") + (topP < 1 ? " top-p " + topP : "");
    return new Problem(
        "sampling",
        "sampling%s %s %d x %d".formatted(filters, type.symbol(), rows, length),
        Map.of("type", type.symbol(), "rows", rows, "length", length, "top_k", topK, "top_p", topP),
        List.of(in),
        List.of(tokens, probabilities),
        in.bytes() + tokens.bytes() + probabilities.bytes(),
        FLOPS_AN_ELEMENT * in.elements(),
        Ceilings.READ,
        List.of(
            new Implementation(
                "Culebra",
                context -> Sampling.of(context).kernelName(type, rows, length),
                context -> open(context, type, topK, topP))),
        reader -> judge(reader, rows, Math.toIntExact(length), topK, topP),
        ALLOWED,
        Map.of(
            "op",
            "sample",
            "type",
            type.symbol(),
            "rows",
            rows,
            "length",
            length,
            "top_k",
            topK,
            "top_p",
            topP,
            "checked_rows",
            RowCheck.sampled(rows, length)));
  }

  private static <E extends ElementType<E>> Problem.Call open(
      Context context, ElementType<E> type, int topK, double topP) {
    Sampling sampling = Sampling.of(context).withTopK(topK).withTopP(topP).withSeed(1);
    return (tensors, stream) -> {
      TensorView<?> tokens = tensors.outputs().getFirst();
      sampling.forward(tensors.in(0, type), tokens, tensors.out(1, ElementType.F32), 0, stream);
    };
  }

  /** Whether each token may be drawn, and has its probability. */
  private static Verdict judge(Reader reader, long rows, int length, int topK, double topP) {
    double worst = 0;
    long[] sampled = RowCheck.sampled(rows, length);
    for (long row : sampled) {
      reader.requireInput(0, row * length, length);
      int token = (int) reader.output(0, row, 1)[0];
      double probability = reader.output(1, row, 1)[0];
      if (token < 0 || token >= length) {
        return new Verdict(Double.POSITIVE_INFINITY, sampled.length);
      }
      double truth =
          new SamplingReference(
                  reader.input(0, row * length, length), 1, topK, (float) topP, 0, 1e-9)
              .probability(token);
      worst = Math.max(worst, Math.abs(probability - truth) / truth);
    }
    return new Verdict(worst, sampled.length);
  }
}
