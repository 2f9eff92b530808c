package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Draws one token of each row of logits: what an inference engine does behind its model.
 *
 * {@snippet :
 * Sampling sampling = Sampling.of(context).withTemperature(0.7).withTopK(50).withTopP(0.95).withSeed(42);
 * for (long step = 0; step < steps; step++) {
 *   // ... the model writes logits ...
 *   sampling.forward(
 *       TensorView.of(logits, 64, 128_256),
 *       TensorView.of(tokens, 64),
 *       TensorView.of(probabilities, 64),
 *       step,
 *       stream);
 * }
 * }
 *
 * <p>The filters, in this order, each of which keeps the first elements in the order of
 * probability, of equal ones the lower index first:
 *
 * <ol>
 *   <li><b>temperature</b>: probabilities are softmax(logits / temperature). 0 takes the largest
 *       logit, with probability 1.
 *   <li><b>top-k</b>: the k most probable. 0: all.
 *   <li><b>top-p</b>: the fewest of those whose mass is at least p of theirs; one at least. 1: all.
 *   <li><b>min-p</b>: those of these that are at least min-p times as probable as the most probable
 *       one. 0: all.
 * </ol>
 *
 * <p>From what is left, whose mass is M, the token is drawn by inversion: with 64 random bits it is
 * the element at which the running sum of masses, by index, exceeds floor(bits * M / 2^64). Masses
 * are integers: the weight relative to the largest, times 2^s, cut, with s = 63 - ceil(log2 of the
 * row's length). So a token is exactly repeatable: it depends on logits, parameters, seed, offset
 * and row, not on strides, alignment, batch size or how many blocks worked on it. What is less than
 * 2^-s times as probable as the most probable element is never drawn.
 *
 * <p>Random bits are the first 64 (the lower word first) of Philox 4x32-10 with the seed for its
 * key and (offset, row) for its counter. Use another offset for every step, or the same tokens come
 * again. Where each row has a {@linkplain #withSeed(DeviceRange) seed of its own}, the counter has
 * 0 for the row: then a request's tokens do not depend on its place in the batch.
 *
 * <p>A row with NaN, with +inf, or of nothing but -inf has no distribution: its token is -1 and its
 * probability NaN. -inf is never drawn. Element types are F16, BF16 and F32, weights are computed
 * in single precision.
 *
 * <p>Parameters are the same for all rows, or come from device memory, one a row; that is read when
 * the stream comes to it, so that a captured graph can be given others. There -1 for top-k, and a
 * top-p or min-p beyond its range, mean its end; a temperature below 0, and NaN, give the token -1.
 *
 * <p>An object keeps its prepared launches and is confined to the thread that made it, as they are.
 * It needs no closing: what it loads belongs to the context.
 *
 * @see <a href="https://doi.org/10.1145/2063384.2063405">Salmon et al.: Parallel random numbers: as
 *     easy as 1, 2, 3</a>
 */
public final class Sampling {

  /** One number for all rows, or one a row from device memory. */
  record Parameter<E extends ElementType<E>>(Number ofAll, @Nullable DeviceRange<E> ofRows) {

    static <E extends ElementType<E>> Parameter<E> of(Number ofAll) {
      return new Parameter<>(ofAll, null);
    }

    Parameter<E> withRows(DeviceRange<E> values) {
      return new Parameter<>(ofAll, Objects.requireNonNull(values));
    }
  }

  /** All parameters. */
  record Parameters(
      Parameter<ElementType.F32> temperature,
      Parameter<ElementType.I32> topK,
      Parameter<ElementType.F32> topP,
      Parameter<ElementType.F32> minP,
      Parameter<ElementType.I64> seed,
      @Nullable DeviceRange<ElementType.I64> offsets,
      long firstRow) {

    static final Parameters PLAIN =
        new Parameters(
            Parameter.of(1.0),
            Parameter.of(0),
            Parameter.of(1.0),
            Parameter.of(0.0),
            Parameter.of(0L),
            null,
            0);
  }

  private final SamplingKernels kernels;
  private final Parameters parameters;

  private Sampling(SamplingKernels kernels, Parameters parameters) {
    this.kernels = kernels;
    this.parameters = parameters;
  }

  /**
   * Draws from the plain softmax: temperature 1, no filters, seed 0.
   *
   * @param context where to run
   * @return the operation
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static Sampling of(Context context) {
    return new Sampling(new SamplingKernels(context), Parameters.PLAIN);
  }

  /**
   * The same with another temperature, rounded to single precision.
   *
   * @param temperature finite and not negative; 0 takes the largest logit of each row
   * @return the operation; it shares prepared launches with this one, as all variations do
   * @throws IllegalArgumentException if it is negative or not finite
   */
  public Sampling withTemperature(double temperature) {
    requireRange("temperature", temperature, 0, Float.MAX_VALUE, "0 takes the largest logit");
    return with(Parameter.of(temperature), parameters.topK, parameters.topP, parameters.minP);
  }

  /**
   * The same with a temperature for each row.
   *
   * @param temperatures one a row
   * @return the operation
   */
  public Sampling withTemperature(DeviceRange<ElementType.F32> temperatures) {
    return with(
        parameters.temperature.withRows(temperatures),
        parameters.topK,
        parameters.topP,
        parameters.minP);
  }

  /**
   * The same with another top-k.
   *
   * @param k how many to keep; 0, or more than a row has: all
   * @return the operation
   * @throws IllegalArgumentException if it is negative
   */
  public Sampling withTopK(int k) {
    if (k < 0) {
      throw new IllegalArgumentException("top-k " + k + " is negative; 0 keeps all");
    }
    return with(parameters.temperature, Parameter.of(k), parameters.topP, parameters.minP);
  }

  /**
   * The same with a top-k for each row.
   *
   * @param ks one a row; 0 or less keeps all
   * @return the operation
   */
  public Sampling withTopK(DeviceRange<ElementType.I32> ks) {
    return with(
        parameters.temperature, parameters.topK.withRows(ks), parameters.topP, parameters.minP);
  }

  /**
   * The same with another top-p, rounded to single precision.
   *
   * @param p which part of the mass to keep, above 0 and at most 1, which keeps all
   * @return the operation
   * @throws IllegalArgumentException if it is out of range
   */
  public Sampling withTopP(double p) {
    requireRange("top-p", p, Double.MIN_VALUE, 1, "1 keeps all");
    return with(parameters.temperature, parameters.topK, Parameter.of(p), parameters.minP);
  }

  /**
   * The same with a top-p for each row.
   *
   * @param ps one a row; 0 or less keeps the most probable element alone, 1 or more keeps all
   * @return the operation
   */
  public Sampling withTopP(DeviceRange<ElementType.F32> ps) {
    return with(
        parameters.temperature, parameters.topK, parameters.topP.withRows(ps), parameters.minP);
  }

  /**
   * The same with another min-p, rounded to single precision.
   *
   * @param p how probable an element has to be, relative to the most probable one, from 0, which
   *     keeps all, to 1, which keeps those that equal it
   * @return the operation
   * @throws IllegalArgumentException if it is out of range
   */
  public Sampling withMinP(double p) {
    requireRange("min-p", p, 0, 1, "0 keeps all");
    return with(parameters.temperature, parameters.topK, parameters.topP, Parameter.of(p));
  }

  /**
   * The same with a min-p for each row.
   *
   * @param ps one a row; 0 or less keeps all, more than 1 is 1
   * @return the operation
   */
  public Sampling withMinP(DeviceRange<ElementType.F32> ps) {
    return with(
        parameters.temperature, parameters.topK, parameters.topP, parameters.minP.withRows(ps));
  }

  /**
   * The same with another seed.
   *
   * @param seed all 64 bits count
   * @return the operation
   */
  public Sampling withSeed(long seed) {
    return withSeeds(Parameter.of(seed), parameters.offsets, parameters.firstRow);
  }

  /**
   * The same with a seed for each row; a row's number then has no part in its draw.
   *
   * @param seeds one a row
   * @return the operation
   */
  public Sampling withSeed(DeviceRange<ElementType.I64> seeds) {
    return withSeeds(parameters.seed.withRows(seeds), parameters.offsets, parameters.firstRow);
  }

  /**
   * The same with an offset for each row, for requests that are not at the same step; then that of
   * {@link #forward} has no effect.
   *
   * @param offsets one a row
   * @return the operation
   */
  public Sampling withOffsets(DeviceRange<ElementType.I64> offsets) {
    return withSeeds(parameters.seed, Objects.requireNonNull(offsets), parameters.firstRow);
  }

  /**
   * The same for rows that are the rest of a batch, which is done in parts: the tokens are those
   * that the whole batch would have.
   *
   * @param row the number of the first row, 0 or more
   * @return the operation
   * @throws IllegalArgumentException if it is negative
   */
  public Sampling withFirstRow(long row) {
    if (row < 0) {
      throw new IllegalArgumentException("first row " + row + " is negative");
    }
    return withSeeds(parameters.seed, parameters.offsets, row);
  }

  private Sampling with(
      Parameter<ElementType.F32> temperature,
      Parameter<ElementType.I32> topK,
      Parameter<ElementType.F32> topP,
      Parameter<ElementType.F32> minP) {
    return new Sampling(
        kernels,
        new Parameters(
            temperature,
            topK,
            topP,
            minP,
            parameters.seed,
            parameters.offsets,
            parameters.firstRow));
  }

  private Sampling withSeeds(
      Parameter<ElementType.I64> seed,
      @Nullable DeviceRange<ElementType.I64> offsets,
      long firstRow) {
    return new Sampling(
        kernels,
        new Parameters(
            parameters.temperature,
            parameters.topK,
            parameters.topP,
            parameters.minP,
            seed,
            offsets,
            firstRow));
  }

  private static void requireRange(
      String what, double value, double least, double most, String hint) {
    if (!(value >= least && value <= most)) {
      throw new IllegalArgumentException(
          what
              + " "
              + value
              + " is not "
              + (least == 0 ? "from 0" : "above 0")
              + " to "
              + (most == Float.MAX_VALUE ? "the largest float" : "1")
              + "; "
              + hint);
    }
  }

  /**
   * Which kernel draws the tokens of so many rows.
   *
   * @param type the type of the logits
   * @param rows how many rows
   * @param length of a row
   * @return its symbol
   * @throws IllegalArgumentException if the type is not F16, BF16 or F32
   */
  public String kernelName(ElementType<?> type, long rows, long length) {
    return kernels.symbol(type, rows, length);
  }

  /**
   * Enqueues the draw of a token of every row of the last axis. Nothing is launched if there are no
   * rows.
   *
   * @param <E> the type of the logits
   * @param logits rows of elements side by side, at one distance from each other
   * @param tokens the places drawn, from 0 in each row, or -1: I32 or I64, one a row side by side
   * @param probabilities that of each token among those it was drawn from; of the number of tokens
   * @param offset of the random bits: another one for every step
   * @param stream where to enqueue
   * @throws IllegalArgumentException if a row is empty or longer than 2^31 - 1, types or numbers of
   *     elements do not fit, a view cannot be walked as rows, or a result overlaps another or the
   *     input
   */
  public <E extends ElementType<E>> void forward(
      TensorView<E> logits,
      TensorView<?> tokens,
      TensorView<ElementType.F32> probabilities,
      long offset,
      Stream stream) {
    check(logits, tokens);
    requireOneARow("probabilities", probabilities, logits.rows().count());
    if (probabilities.overlaps(logits) || probabilities.overlaps(tokens)) {
      throw new IllegalArgumentException(
          "probabilities overlap the logits or the tokens; give each its own memory");
    }
    requireApartFromParameters("probabilities", probabilities);
    kernels.launch(logits, tokens, probabilities.range(), parameters, offset, stream);
  }

  /**
   * The same without probabilities.
   *
   * @param <E> the type of the logits
   * @param logits rows of elements side by side, at one distance from each other
   * @param tokens the places drawn, as above
   * @param offset of the random bits
   * @param stream where to enqueue
   * @throws IllegalArgumentException as above
   */
  public <E extends ElementType<E>> void forward(
      TensorView<E> logits, TensorView<?> tokens, long offset, Stream stream) {
    check(logits, tokens);
    kernels.launch(logits, tokens, null, parameters, offset, stream);
  }

  private void check(TensorView<?> logits, TensorView<?> tokens) {
    SamplingKernels.requireType(logits.type());
    if (tokens.type() != ElementType.I32 && tokens.type() != ElementType.I64) {
      throw new IllegalArgumentException("tokens are I32 or I64, not " + tokens.type());
    }
    TensorView.Rows rows = logits.rows();
    if (rows.count() > 0 && (rows.length() < 1 || rows.length() > Integer.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "a row of "
              + rows.length()
              + " elements: a token is drawn from 1 to "
              + Integer.MAX_VALUE
              + ": "
              + logits);
    }
    requireOneARow("tokens", tokens, rows.count());
    if (tokens.overlaps(logits)) {
      throw new IllegalArgumentException("tokens overlap the logits; give them their own memory");
    }
    requireOneARow("temperatures", parameters.temperature.ofRows, rows.count());
    requireOneARow("values of top-k", parameters.topK.ofRows, rows.count());
    requireOneARow("values of top-p", parameters.topP.ofRows, rows.count());
    requireOneARow("values of min-p", parameters.minP.ofRows, rows.count());
    requireOneARow("seeds", parameters.seed.ofRows, rows.count());
    requireOneARow("offsets", parameters.offsets, rows.count());
    requireApartFromParameters("tokens", tokens);
  }

  /** A block may write a row's result before another one has read the row's parameters. */
  private void requireApartFromParameters(String what, TensorView<?> results) {
    requireApart(what, results, parameters.temperature.ofRows);
    requireApart(what, results, parameters.topK.ofRows);
    requireApart(what, results, parameters.topP.ofRows);
    requireApart(what, results, parameters.minP.ofRows);
    requireApart(what, results, parameters.seed.ofRows);
    requireApart(what, results, parameters.offsets);
  }

  private static <E extends ElementType<E>> void requireApart(
      String what, TensorView<?> results, @Nullable DeviceRange<E> parameter) {
    if (parameter != null && TensorView.of(parameter, parameter.length()).overlaps(results)) {
      throw new IllegalArgumentException(
          what + " overlap parameters of the rows; give each its own memory");
    }
  }

  private static void requireOneARow(String what, TensorView<?> view, long rows) {
    if (view.elementCount() != rows || !view.isContiguous()) {
      throw new IllegalArgumentException(
          "there are "
              + rows
              + " rows, so "
              + what
              + " are as many elements side by side, not "
              + view);
    }
  }

  private static void requireOneARow(String what, @Nullable DeviceRange<?> range, long rows) {
    if (range != null && range.length() != rows) {
      throw new IllegalArgumentException(
          "there are " + rows + " rows, but " + range.length() + " " + what + "; give one a row");
    }
  }

  /** {@return the filters and the seed} */
  @Override
  public String toString() {
    return "sampling with temperature "
        + text(parameters.temperature)
        + ", top-k "
        + text(parameters.topK)
        + ", top-p "
        + text(parameters.topP)
        + ", min-p "
        + text(parameters.minP)
        + ", seed "
        + text(parameters.seed);
  }

  private static String text(Parameter<?> parameter) {
    return parameter.ofRows == null ? parameter.ofAll.toString() : "of each row";
  }
}
