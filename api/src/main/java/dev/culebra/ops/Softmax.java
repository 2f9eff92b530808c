package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Softmax along the last axis: {@code out = exp(scale * in - max) / sum(exp(scale * in - max))}, or
 * its logarithm.
 *
 * {@snippet :
 * Softmax softmax = Softmax.of(context);
 * softmax.forward(TensorView.of(logits, 16, 32_000), TensorView.of(probabilities, 16, 32_000), stream);
 * }
 *
 * <p>Element types are F16, BF16, F32 and F64, the same for input and output; statistics are single
 * precision for the first three and double for the last. Results are bitwise repeatable for one
 * shape, algorithm and compute capability. A row with NaN or +inf, or of -inf only, becomes NaN; an
 * entry of -inf beside finite ones becomes 0 (log: -inf).
 *
 * <p>Elements can be masked, see {@link RowMask}: their results are 0 (log: -inf), and they are not
 * even looked at where they lie beyond a row's length. Rows beyond a device's memory, or spread
 * over devices, are for {@link SoftmaxStates}.
 *
 * <p>An object keeps its prepared launches and is confined to the thread that made it, as they are.
 * It needs no closing: what it loads belongs to the context.
 *
 * @see <a href="https://arxiv.org/abs/1805.02867">Milakov, Gimelshein: Online normalizer
 *     calculation for softmax</a>
 */
public final class Softmax {

  /**
   * How the sum is found. All give the same function; they differ in memory accesses and in the
   * inputs they survive.
   */
  public enum Algorithm {
    /**
     * Without subtracting the maximum; 3 accesses an element. Overflows by design: entries whose
     * exponential is beyond the statistics' range, 88 in single precision, become NaN and the rest
     * of their row 0.
     */
    NAIVE,
    /** Maximum, sum and result in three passes; 4 accesses an element. */
    SAFE,
    /** Maximum and sum in one pass by rescaling; 3 accesses an element. */
    ONLINE,
    /**
     * Rows in pieces, which many blocks work on: maximum and sum of each, then the result; 3
     * accesses an element. For few long rows, and those that do not fit on chip.
     */
    SPLIT,
    /**
     * Rows read once and kept on chip, in registers or in the shared memory of a block or (compute
     * capability 9.0) a cluster of blocks; 2 accesses an element. How is looked up in a measured
     * table. A row must fit: on a device of 9.0 at least 524,288 elements of F32.
     */
    FUSED,
    /** FUSED or SPLIT, whichever the measured table has for the shape; takes any row. */
    AUTO;

    String symbol() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** What is asked of the plans, or null for the steps of the ladder, which have none. */
    SoftmaxPlan.@Nullable Wanted wanted() {
      return switch (this) {
        case NAIVE, SAFE, ONLINE -> null;
        case SPLIT -> SoftmaxPlan.Wanted.SPLIT;
        case FUSED -> SoftmaxPlan.Wanted.FUSED;
        case AUTO -> SoftmaxPlan.Wanted.ANY;
      };
    }
  }

  private static final String FAMILY = "softmax";
  private static final String ROW = "CULEBRA_SOFTMAX";
  private static final int THREADS = 2;

  /** A kernel and the arguments that only a softmax has. */
  private record Prepared(RowKernel kernel, int mostThreads, int outRowStride, int scale) {}

  private final KernelFamily family;
  private final Map<ElementType<?>, Prepared> prepared = new HashMap<>();
  private final Algorithm algorithm;
  private final boolean log;
  private final double scale;
  private final boolean emptyIsZero;
  private final MaskedSoftmax masked;
  private final MaskedSoftmax.@Nullable Options options;

  // Made when it is first wanted.
  private @Nullable SoftmaxBackward back;

  private Softmax(
      KernelFamily family,
      MaskedSoftmax masked,
      Algorithm algorithm,
      boolean log,
      double scale,
      boolean emptyIsZero) {
    SoftmaxPlan.Wanted wanted = algorithm.wanted();
    if (emptyIsZero && wanted == null) {
      throw new IllegalArgumentException(
          algorithm + " has no choice of what an empty row gives; use AUTO, FUSED or SPLIT");
    }
    this.family = family;
    this.masked = masked;
    this.algorithm = algorithm;
    this.log = log;
    this.scale = scale;
    this.emptyIsZero = emptyIsZero;
    this.options =
        wanted == null ? null : new MaskedSoftmax.Options(scale, log, emptyIsZero, wanted);
  }

  /**
   * A softmax by {@link Algorithm#AUTO}, without logarithm and with scale 1.
   *
   * @param context where to run
   * @return the operation
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static Softmax of(Context context) {
    return of(context, Algorithm.AUTO);
  }

  /**
   * A softmax without logarithm and with scale 1.
   *
   * @param context where to run
   * @param algorithm how the sum is found
   * @return the operation
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static Softmax of(Context context, Algorithm algorithm) {
    return new Softmax(
        new KernelFamily(context, FAMILY), new MaskedSoftmax(context), algorithm, false, 1, false);
  }

  /**
   * The same with or without the logarithm of the result, computed as such and so finite where the
   * softmax underflows to 0.
   *
   * @param on whether to give the logarithm
   * @return the operation; it shares prepared launches with this one
   */
  public Softmax withLog(boolean on) {
    return new Softmax(family, masked, algorithm, on, scale, emptyIsZero);
  }

  /**
   * The same with another factor of the input, which single precision types round to single
   * precision.
   *
   * @param factor a finite number of any sign, at most {@link #maxScale} of the type it is used
   *     with
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if it is not finite
   */
  public Softmax withScale(double factor) {
    return new Softmax(
        family, masked, algorithm, log, SoftmaxChecks.requireFinite(factor), emptyIsZero);
  }

  /**
   * The same with another result of rows without elements: all masked, or nothing but -inf.
   *
   * @param on true for 0 (log: -inf), false for NaN
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if the algorithm is NAIVE, SAFE or ONLINE
   */
  public Softmax withZeroForEmptyRows(boolean on) {
    return new Softmax(family, masked, algorithm, log, scale, on);
  }

  /**
   * The largest magnitude of a scale: half the largest value of the type in which the softmax
   * computes. Beyond it the difference of two scaled entries would overflow.
   *
   * @param type the type of the elements
   * @return the magnitude
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public static double maxScale(ElementType<?> type) {
    return AccumulatorType.of(type) == ElementType.F64 ? Double.MAX_VALUE / 2 : Float.MAX_VALUE / 2;
  }

  /** {@return the algorithm} */
  public Algorithm algorithm() {
    return algorithm;
  }

  /** {@return whether the result is the logarithm} */
  public boolean isLog() {
    return log;
  }

  /** {@return the factor of the input} */
  public double scale() {
    return scale;
  }

  /**
   * Which kernel runs.
   *
   * @param type the type of the elements
   * @param rows how many rows there are
   * @param rowLength how many elements each has
   * @return its symbol; of SPLIT that of the first of two
   * @throws IllegalArgumentException if the type is not a floating one, or the algorithm is FUSED
   *     and such a row does not fit
   */
  public String kernelName(ElementType<?> type, long rows, long rowLength) {
    return kernelName(type, rows, rowLength, RowMask.NONE);
  }

  /**
   * Which kernel runs with a mask; addends have kernels of their own.
   *
   * @param type the type of the elements
   * @param rows how many rows there are
   * @param rowLength how many elements each has
   * @param mask a mask such as will be used
   * @return its symbol; in pieces that of the first of two
   * @throws IllegalArgumentException if the type is not a floating one, or the algorithm is FUSED
   *     and such a row does not fit
   */
  public String kernelName(ElementType<?> type, long rows, long rowLength, RowMask mask) {
    AccumulatorType.requireFloating(type);
    MaskedSoftmax.Options masks = options;
    return masks == null
        ? ladderSymbol(type)
        : masked.kernelName(
            type, Math.max(1, rows), Math.max(1, rowLength), masks.wanted(), mask.hasAddends());
  }

  private String ladderSymbol(ElementType<?> type) {
    AccumulatorType.requireFloating(type);
    return "culebra_softmax_" + algorithm.symbol() + (log ? "_log_" : "_") + type.symbol();
  }

  /**
   * Enqueues the softmax of every row of the last axis. Nothing is launched if there are no
   * elements.
   *
   * @param <E> the type of the elements
   * @param in the input: rows side by side within, at one distance from each other
   * @param out the output, of the same shape; the very same memory and strides as the input, or
   *     memory apart from it
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the shapes differ, a view cannot be walked as rows, input
   *     and output overlap otherwise, or the scale is beyond {@link #maxScale}
   */
  public <E extends ElementType<E>> void forward(
      TensorView<E> in, TensorView<E> out, Stream stream) {
    forward(in, out, RowMask.NONE, stream);
  }

  /**
   * The same of the elements that count. Nothing is launched if there are no elements.
   *
   * @param <E> the type of the elements
   * @param in the input: rows side by side within, at one distance from each other
   * @param out the output, of the same shape; the very same memory and strides as the input, or
   *     memory apart from it
   * @param mask which elements count; its memory is apart from the output
   * @param stream where to enqueue
   * @throws IllegalArgumentException as without a mask, or if the mask is not of that shape,
   *     overlaps the output, or the algorithm is NAIVE, SAFE or ONLINE, which take none
   */
  public <E extends ElementType<E>> void forward(
      TensorView<E> in, TensorView<E> out, RowMask mask, Stream stream) {
    SoftmaxChecks.requireSameShape("input", in, "output", out);
    SoftmaxChecks.requireScale(scale, in.type());
    TensorView.Rows from = in.rows();
    TensorView.Rows to = out.rows();
    SoftmaxChecks.requireApartRows("the output", out);
    SoftmaxChecks.requireSameOrApart("input", in, "output", out);
    Objects.requireNonNull(stream);
    MaskedSoftmax.Options masks = options;
    if (masks == null && mask != RowMask.NONE) {
      throw new IllegalArgumentException(
          algorithm + " takes no mask; use AUTO, FUSED or SPLIT for " + mask);
    }
    MaskedSoftmax.Masking masking = MaskedSoftmax.Masking.of(mask, in);
    mask.requireApartFrom(out);
    if (from.count() == 0 || from.length() == 0) {
      return;
    }
    if (masks != null) {
      masked.launch(in, out, masking, masks, stream);
      return;
    }
    Prepared ready = prepared(in.type());
    ready.kernel.set(ready.outRowStride, to.stride());
    ready.kernel.set(ready.scale, scale);
    ready.kernel.threads(RowKernel.threads(from, in.type(), ready.mostThreads));
    ready.kernel.launch(in.range(), from, out.range(), stream);
  }

  /**
   * Enqueues the way back: the gradient with respect to the input. What was masked needs no mask
   * here, as its results say so. The algorithm does not matter. See {@link SoftmaxBackward}.
   *
   * @param <E> the type of the elements
   * @param y what {@code forward} gave
   * @param dy the gradient with respect to that, of the same shape
   * @param dx the gradient with respect to the input, of the same shape; the very same memory and
   *     strides as {@code y} or {@code dy}, or memory apart from both
   * @param stream where to enqueue
   * @throws IllegalArgumentException as of {@link SoftmaxBackward#run}
   */
  public <E extends ElementType<E>> void backward(
      TensorView<E> y, TensorView<E> dy, TensorView<E> dx, Stream stream) {
    SoftmaxBackward known = back;
    if (known == null) {
      known = SoftmaxBackward.of(family.context()).withLog(log).withScale(scale);
      back = known;
    }
    known.run(y, dy, dx, stream);
  }

  private Prepared prepared(ElementType<?> type) {
    Prepared known = prepared.get(type);
    if (known == null) {
      String symbol = ladderSymbol(type);
      int threads = family.table().row(ROW, algorithm.symbol(), type.symbol()).number(THREADS);
      RowKernel kernel = family.kernel(symbol, threads);
      known = new Prepared(kernel, threads, kernel.slot("out_row_stride"), kernel.slot("scale"));
      prepared.put(type, known);
    }
    return known;
  }

  /** {@return algorithm and options} */
  @Override
  public String toString() {
    return (log ? "log-softmax " : "softmax ")
        + algorithm.symbol()
        + (scale == 1 ? "" : " with scale " + scale)
        + (emptyIsZero ? ", 0 for empty rows" : "");
  }
}
