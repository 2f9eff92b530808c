package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import java.util.Optional;

/**
 * What a problem is measured by: the bytes that it moves, or its operations where arithmetic bounds
 * it, and the ceiling of that.
 *
 * @param detail of the results, that has the amount
 * @param unit of a second's work, in trillions
 * @param ceiling that bounds the problem, if it was measured in the same file
 */
record Work(String detail, String unit, Optional<Result> ceiling) {
  private static final double TERA = 1e12;

  /** Of a result's problem. Without its ceiling there is no telling, and it is taken for bytes. */
  static Work of(Results file, Result result) {
    Optional<Result> ceiling =
        result
            .text("ceiling")
            .flatMap(name -> file.find(new Result.Key("ceilings", name, "device")))
            .filter(found -> found.failure().isEmpty());
    boolean isArithmetic = ceiling.flatMap(found -> found.number("flops")).orElse(0.0) > 0;
    return isArithmetic
        ? new Work("flops", "TFLOP/s", ceiling)
        : new Work("bytes", "TB/s", ceiling);
  }

  /** A second's work in trillions, at a time for one operation. */
  double rate(Result result, double seconds) {
    return result.number(detail).orElse(0.0) / seconds / TERA;
  }

  /** A second's work in trillions. */
  double rate(Result result) {
    return rate(result, result.seconds());
  }

  /** The ceiling's. */
  Optional<Double> most() {
    return ceiling.map(this::rate);
  }

  /** A rate for people. */
  String words(Result result) {
    return detail.equals("bytes")
        ? Format.rate(rate(result) * TERA)
        : Format.number(rate(result)) + " " + unit;
  }
}
