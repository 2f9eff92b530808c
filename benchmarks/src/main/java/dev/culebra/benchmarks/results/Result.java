package dev.culebra.benchmarks.results;

import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.RatioInterval;
import dev.culebra.benchmarks.statistics.Samples;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What one contender took for one problem: samples, each the time of one operation, or the reason
 * why there are none.
 */
public final class Result {
  /** Names a result within a file. */
  public record Key(String section, String problem, String who) {
    /**
     * Whether it is ours to answer for. In the sections of JMH and of starts only C is somebody
     * else; elsewhere we are named.
     */
    public boolean isOurs() {
      boolean named = section.equals(Results.PAIRS) || section.equals("kernels");
      return named
          ? who.startsWith("Culebra")
          : !who.equals("C") && !who.endsWith(" C") && !section.equals("ceilings");
    }

    @Override
    public String toString() {
      return section + ": " + problem + " (" + who + ")";
    }
  }

  /** The detail that says how many turns contenders took. */
  private static final String TURNS = "turns";

  private final Key key;
  private final String unit;
  private final double[] samples;
  private final double[] baseline;
  private final @Nullable String failure;
  private final Map<String, @Nullable Object> details;
  private final int run;

  private Result(
      Key key,
      String unit,
      double[] samples,
      double[] baseline,
      @Nullable String failure,
      Map<String, ? extends @Nullable Object> details,
      int run) {
    this.key = key;
    this.unit = unit;
    this.samples = samples;
    this.baseline = baseline;
    this.failure = failure;
    this.details = new LinkedHashMap<>(details);
    this.run = run;
  }

  /**
   * A measured result.
   *
   * @param unit of a sample: ns, us or ms
   * @param samples at least one
   * @param details what else is known, by section
   */
  public static Result of(
      Key key, String unit, double[] samples, Map<String, ? extends @Nullable Object> details) {
    return new Result(key, unit, samples.clone(), new double[0], null, details, 0);
  }

  /**
   * A result that was taken in turns with a baseline.
   *
   * @param baseline as many samples; index i of both is a pair
   */
  public static Result ofPairs(
      Key key,
      String unit,
      double[] baseline,
      double[] samples,
      Map<String, ? extends @Nullable Object> details) {
    return new Result(key, unit, samples.clone(), baseline.clone(), null, details, 0);
  }

  /** A contender that could not be measured, or whose work was wrong. */
  public static Result failed(Key key, String unit, String reason) {
    return new Result(key, unit, new double[0], new double[0], reason, Map.of(), 0);
  }

  /** The same with more samples behind, of a later round. */
  public Result plus(double... more) {
    double[] all = Arrays.copyOf(samples, samples.length + more.length);
    System.arraycopy(more, 0, all, samples.length, more.length);
    return new Result(key, unit, all, baseline, failure, details, run);
  }

  /** The same with another detail. */
  public Result with(String name, @Nullable Object value) {
    Result copy = new Result(key, unit, samples, baseline, failure, details, run);
    copy.details.put(name, value);
    return copy;
  }

  Result inRun(int index) {
    return new Result(key, unit, samples, baseline, failure, details, index);
  }

  public Key key() {
    return key;
  }

  /** The unit of a sample. */
  public String unit() {
    return unit;
  }

  /** Why there are no samples. */
  public Optional<String> failure() {
    return Optional.ofNullable(failure);
  }

  /** The index of the run it was measured in. */
  public int run() {
    return run;
  }

  public double[] samples() {
    return samples.clone();
  }

  /** The baseline's samples, if the two were measured in pairs; else none. */
  public double[] baseline() {
    return baseline.clone();
  }

  /** The median of the samples with its interval. */
  public Interval interval() {
    return Samples.interval(samples);
  }

  /** The median of the ratios to the baseline with its interval, of paired samples. */
  public Interval ratio() {
    return RatioInterval.ofPairs(baseline, samples);
  }

  /**
   * The median of the ratios to another contender of the same problem, with its interval; nothing
   * if the two did not take turns, sample by sample, in one run.
   */
  public Optional<Interval> ratioTo(Result other) {
    boolean isInTurns =
        key.problem().equals(other.key.problem())
            && run == other.run
            && samples.length > 0
            && samples.length == other.samples.length
            && number(TURNS).filter(turns -> turns == samples.length).isPresent()
            && number(TURNS).equals(other.number(TURNS));
    return isInTurns
        ? Optional.of(RatioInterval.ofPairs(other.samples, samples))
        : Optional.empty();
  }

  /** Whether what was measured varied so much that the median says little. */
  public boolean isNoisy() {
    if (failure != null) {
      return false;
    }
    Interval judged = baseline.length > 0 ? ratio() : interval();
    return judged.width() > Samples.NOISY_WIDTH;
  }

  /** What else is known. */
  public Map<String, @Nullable Object> details() {
    return Collections.unmodifiableMap(details);
  }

  /** A detail that is a number. */
  public Optional<Double> number(String name) {
    return details.get(name) instanceof Number number
        ? Optional.of(number.doubleValue())
        : Optional.empty();
  }

  /** A detail as text. */
  public Optional<String> text(String name) {
    return Optional.ofNullable(details.get(name)).map(Object::toString);
  }

  /** The time of one operation in seconds. */
  public double seconds() {
    return interval().median() * secondsOf(unit);
  }

  /** How long a unit is. */
  public static double secondsOf(String unit) {
    return switch (unit) {
      case "ns" -> 1e-9;
      case "us" -> 1e-6;
      case "ms" -> 1e-3;
      default -> throw new IllegalArgumentException("unknown unit " + unit);
    };
  }

  Map<String, @Nullable Object> toJson() {
    Map<String, @Nullable Object> json = new LinkedHashMap<>();
    json.put("section", key.section);
    json.put("problem", key.problem);
    json.put("who", key.who);
    json.put("run", run);
    json.put("unit", unit);
    if (failure != null) {
      json.put("failed", failure);
    } else {
      Interval interval = interval();
      json.put("median", interval.median());
      json.put("low", interval.low());
      json.put("high", interval.high());
      json.put("noisy", isNoisy());
      json.put("samples", samples);
      if (baseline.length > 0) {
        Interval ratio = ratio();
        json.put("baseline_samples", baseline);
        json.put("ratio", ratio.median());
        json.put("ratio_low", ratio.low());
        json.put("ratio_high", ratio.high());
      }
    }
    json.put("details", details);
    return json;
  }

  @SuppressWarnings("unchecked") // the schema was checked
  static Result fromJson(Map<String, @Nullable Object> json) {
    return new Result(
        new Key(text(json, "section"), text(json, "problem"), text(json, "who")),
        text(json, "unit"),
        numbers(json.get("samples")),
        numbers(json.get("baseline_samples")),
        (String) json.get("failed"),
        (Map<String, @Nullable Object>) Objects.requireNonNull(json.get("details")),
        ((Long) Objects.requireNonNull(json.get("run"))).intValue());
  }

  private static String text(Map<String, @Nullable Object> json, String name) {
    return (String) Objects.requireNonNull(json.get(name));
  }

  private static double[] numbers(@Nullable Object list) {
    return list == null
        ? new double[0]
        : ((List<?>) list).stream().mapToDouble(n -> ((Number) n).doubleValue()).toArray();
  }
}
