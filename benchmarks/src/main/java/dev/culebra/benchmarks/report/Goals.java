package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** What was meant to be reached on an H200, and whether it was. */
final class Goals {
  private static final String FILL_IN =
      "the kernels read a row two or three times; those that read it once come next";

  /**
   * A goal.
   *
   * @param what in words
   * @param goal in words
   * @param judge what came of it in a file of results
   * @param reason why it is missed, if it is
   */
  private record Goal(
      String what, String goal, Function<Results, Optional<Outcome>> judge, String reason) {}

  private record Outcome(String reached, boolean met) {}

  private static final List<Goal> ALL =
      List.of(
          new Goal(
              "prepared launch, typed and checked",
              "within 3 % of C (upper end), 0 B",
              results ->
                  culebra(results, "pairs", "cuLaunchKernel, 3 arguments")
                      .map(
                          result ->
                              new Outcome(
                                  Format.ratio(result.ratio().high())
                                      + ", "
                                      + Format.number(result.number("allocated_bytes").orElse(0.0))
                                      + " B",
                                  result.ratio().high() <= 1.03
                                      && result.number("allocated_bytes").orElse(1.0) < 0.5)),
              "see the interval"),
          new Goal(
              "cuCtxGetCurrent",
              "at most 12 ns",
              results ->
                  culebra(results, "pairs", "cuCtxGetCurrent")
                      .map(
                          result ->
                              new Outcome(
                                  Format.time(result.seconds()), result.seconds() <= 12e-9)),
              "C itself varies between 7 and 12 ns from machine to machine of this kind"),
          beatsTorch("sum f32 of all 1073741824"),
          beatsTorch("max f32 of all 1073741824"),
          rate("softmax f32 4096 x 131072", 3.8),
          rate("softmax f32 16384 x 8192", 3.8),
          rate("softmax f32 4000 x 32000", 3.8),
          rate("softmax bf16 4096 x 131072", 3.6),
          rate("softmax bf16 16384 x 8192", 3.6),
          rate("softmax bf16 4000 x 32000", 3.6),
          beatsTorch("softmax f32 10 x 4000"),
          beatsTorch("softmax f32 10 x 131072"));

  private Goals() {}

  /** The table, for a run on a GPU. */
  static Optional<Table> table(Results results) {
    if (results.isEmulated() || results.scale().equals("smoke")) {
      return Optional.empty();
    }
    Table table =
        Table.of(
            "Goals",
            "Stated for one H200. Softmax with top-k and attention are not there yet, so their goals are not in the list.",
            "what",
            "goal",
            "reached",
            "met",
            "why not");
    for (Goal goal : ALL) {
      Optional<Outcome> outcome = goal.judge.apply(results);
      boolean met = outcome.filter(Outcome::met).isPresent();
      table.add(
          goal.what,
          goal.goal,
          outcome.map(Outcome::reached).orElse("not measured"),
          outcome.isEmpty() ? "" : met ? "yes" : "MISSED",
          outcome.isEmpty() || met ? "" : goal.reason);
    }
    return Optional.of(table);
  }

  private static Goal rate(String problem, double terabytes) {
    return new Goal(
        problem,
        "at least " + terabytes + " TB/s",
        results ->
            best(results, problem)
                .map(
                    result -> {
                      double rate = result.number("bytes").orElse(0.0) / result.seconds();
                      return new Outcome(
                          Format.rate(rate) + " (" + result.key().who() + ")",
                          rate >= terabytes * 1e12);
                    }),
        FILL_IN);
  }

  private static Goal beatsTorch(String problem) {
    return new Goal(
        problem,
        "at least as fast as torch",
        results ->
            best(results, problem)
                .flatMap(
                    ours ->
                        torch(results, problem)
                            .map(
                                theirs ->
                                    new Outcome(
                                        Format.time(ours.seconds())
                                            + ", torch "
                                            + Format.time(theirs.seconds()),
                                        ours.seconds() <= theirs.seconds()))),
        "not tuned yet");
  }

  private static Optional<Result> culebra(Results results, String section, String problem) {
    return results
        .find(new Result.Key(section, problem, "Culebra"))
        .filter(result -> result.failure().isEmpty());
  }

  private static Optional<Result> best(Results results, String problem) {
    return results.of("kernels").stream()
        .filter(result -> result.key().problem().equals(problem))
        .filter(result -> result.key().who().startsWith("Culebra"))
        .filter(result -> result.failure().isEmpty() && result.text("implausible").isEmpty())
        // Overflows by design: it is no answer to a goal.
        .filter(result -> !result.key().who().endsWith("naive"))
        .min(Comparator.comparingDouble(Result::seconds));
  }

  private static Optional<Result> torch(Results results, String problem) {
    return results.of("kernels").stream()
        .filter(result -> result.key().problem().equals(problem))
        .filter(result -> result.key().who().startsWith("torch"))
        .filter(result -> result.failure().isEmpty())
        .findFirst();
  }
}
