package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.Sampling;
import dev.culebra.testkit.PhiloxReference;
import dev.culebra.testkit.SamplingReference;
import java.util.List;
import java.util.Map;

/** A token drawn from each row, with the filters that inference engines use. */
final class SamplingProblem {
  /** As of a softmax. */
  private static final double FLOPS_AN_ELEMENT = 5;

  private static final long SEED = 1;
  private static final long OFFSET = 0;

  /** Of masses, from rounding the distance to the largest logit. */
  private static final double SLACK = 1e-5;

  /** Of a probability: a peer may end top-p some elements sooner or later. */
  private static final double ALLOWED = 1e-4;

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
    Sampling sampling = Sampling.of(context).withTopK(topK).withTopP(topP).withSeed(SEED);
    return (tensors, stream) -> {
      TensorView<?> tokens = tensors.outputs().getFirst();
      sampling.forward(
          tensors.in(0, type), tokens, tensors.out(1, ElementType.F32), OFFSET, stream);
    };
  }

  /** Whether each token is the one that its random bits fall on, and has its probability. */
  private static Verdict judge(Reader reader, long rows, int length, int topK, double topP) {
    double worst = 0;
    long[] sampled = RowCheck.sampled(rows, length);
    for (long row : sampled) {
      reader.requireInput(0, row * length, length);
      worst =
          Math.max(
              worst,
              error(
                  reader.input(0, row * length, length),
                  topK,
                  topP,
                  row,
                  (long) reader.output(0, row, 1)[0],
                  reader.output(1, row, 1)[0]));
    }
    return new Verdict(worst, sampled.length);
  }

  /** How far a row's probability is off; infinitely, if its token is not the one to be drawn. */
  static double error(
      double[] logits, int topK, double topP, long row, long token, double probability) {
    SamplingReference truth = new SamplingReference(logits, 1, topK, (float) topP, 0, SLACK);
    return truth.mayDraw(PhiloxReference.bits(SEED, OFFSET, row), token)
        ? truth.probabilityError((int) token, probability)
        : Double.POSITIVE_INFINITY;
  }
}
