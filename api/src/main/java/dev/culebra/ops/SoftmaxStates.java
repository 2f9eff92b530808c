package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.Arrays;
import java.util.Objects;

/**
 * A {@link Softmax} of rows that are not all in one place, done in pieces: rows larger than a
 * device's memory, or spread over several devices. Of each piece the state (m, d) of its rows is
 * found, these are merged, and each piece is finished with what they came to.
 *
 * {@snippet :
 * SoftmaxStates softmax = SoftmaxStates.of(context);
 * softmax.states(left, TensorView.of(states.view(0, 2 * rows), rows, 2), stream);
 * softmax.states(right, TensorView.of(states.view(2 * rows, 4 * rows), rows, 2), stream);
 * softmax.merge(TensorView.of(states, 2, rows, 2), whole, stream);
 * softmax.finish(left, whole, left, stream);
 * softmax.finish(right, whole, right, stream);
 * }
 *
 * <p>A state is two numbers side by side, of {@link #stateType}: m, the largest element that counts
 * after multiplication by the sign of the scale, and d, the sum of {@code exp((x - m) * |scale|)}
 * of the others so multiplied. With {@link #withAddends} the elements are what the softmax weighs,
 * {@code scale * in + addend}, and d the sum of {@code exp(x - m)}. A state of no elements is
 * (-inf, 0) and changes nothing that it is merged with; a NaN or +inf among the elements makes d
 * NaN, and what is merged with it. {@link OnlineState} is the same on the host, where states of
 * several devices meet.
 *
 * <p>The result is that of {@code Softmax} within rounding, whatever the pieces. It is bitwise
 * repeatable for the same pieces merged in the same order; of two states the order does not matter;
 * and rows in one piece have the bits of {@link Softmax.Algorithm#SPLIT}.
 *
 * <p>Element types are those of {@code Softmax}. An object keeps its prepared launches and is
 * confined to the thread that made it, as they are. It needs no closing: what it loads belongs to
 * the context.
 *
 * @see <a href="https://arxiv.org/abs/1805.02867">Milakov, Gimelshein: Online normalizer
 *     calculation for softmax</a>
 */
public final class SoftmaxStates {

  // Shared with the variations of this object.
  private final MaskedSoftmax kernels;
  private final StateMerge merge;

  private final MaskedSoftmax.Options options;
  private final boolean adds;

  private SoftmaxStates(
      MaskedSoftmax kernels, StateMerge merge, MaskedSoftmax.Options options, boolean adds) {
    this.kernels = kernels;
    this.merge = merge;
    this.options = options;
    this.adds = adds;
  }

  /**
   * That of a softmax without logarithm and with scale 1.
   *
   * @param context where to run
   * @return the operation
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static SoftmaxStates of(Context context) {
    return new SoftmaxStates(
        new MaskedSoftmax(context),
        new StateMerge(context),
        new MaskedSoftmax.Options(1, false, false, SoftmaxPlan.Wanted.SPLIT),
        false);
  }

  /**
   * The same with or without the logarithm of the result. States are the same for both.
   *
   * @param on whether to give the logarithm
   * @return the operation; it shares prepared launches with this one
   */
  public SoftmaxStates withLog(boolean on) {
    return with(options.scale(), on, options.emptyIsZero());
  }

  /**
   * The same with another factor of the input, as of {@link Softmax#withScale}. All states that are
   * merged are found with one.
   *
   * @param factor a finite number of any sign, at most {@link Softmax#maxScale} of the type it is
   *     used with
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if it is not finite
   */
  public SoftmaxStates withScale(double factor) {
    return with(SoftmaxChecks.requireFinite(factor), options.log(), options.emptyIsZero());
  }

  /**
   * The same with another result of rows without elements: all masked, or nothing but -inf.
   *
   * @param on true for 0 (log: -inf), false for NaN
   * @return the operation; it shares prepared launches with this one
   */
  public SoftmaxStates withZeroForEmptyRows(boolean on) {
    return with(options.scale(), options.log(), on);
  }

  private SoftmaxStates with(double scale, boolean log, boolean emptyIsZero) {
    return new SoftmaxStates(
        kernels,
        merge,
        new MaskedSoftmax.Options(scale, log, emptyIsZero, SoftmaxPlan.Wanted.SPLIT),
        adds);
  }

  /**
   * The same for pieces whose masks have addends, or have none. Either all pieces of a row have
   * some or none has, as the states are of other numbers; 0 changes nothing.
   *
   * @param on whether masks have addends
   * @return the operation; it shares prepared launches with this one
   */
  public SoftmaxStates withAddends(boolean on) {
    return new SoftmaxStates(kernels, merge, options, on);
  }

  /**
   * The type of the numbers of a state.
   *
   * @param type the type of the elements
   * @return F64 for F64, F32 for F16, BF16 and F32
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public static ElementType<?> stateType(ElementType<?> type) {
    return AccumulatorType.of(type);
  }

  /**
   * {@return the scale with which {@link OnlineState} merges these states: the magnitude of that of
   * the input, or 1 with addends}
   */
  public double stateScale() {
    return adds ? 1 : Math.abs(options.scale());
  }

  /**
   * Enqueues the states of the rows of a piece.
   *
   * @param <E> the type of the elements
   * @param in the piece: rows side by side within, at one distance from each other
   * @param states contiguous, of {@link #stateType}: the shape of the piece with 2 in place of its
   *     last axis; apart from the piece
   * @param stream where to enqueue
   * @throws IllegalArgumentException if a view is not as told, or the scale is beyond {@link
   *     Softmax#maxScale}
   */
  public <E extends ElementType<E>> void states(
      TensorView<E> in, TensorView<?> states, Stream stream) {
    states(in, RowMask.NONE, states, stream);
  }

  /**
   * The same of the elements that count. A piece without elements has empty states.
   *
   * @param <E> the type of the elements
   * @param in as without a mask
   * @param mask which elements of this piece count; row lengths are of the piece
   * @param states as without a mask; apart from the mask
   * @param stream where to enqueue
   * @throws IllegalArgumentException as without a mask, or if the mask is not of the shape of the
   *     piece, or has addends and this object none, or the other way round
   */
  public <E extends ElementType<E>> void states(
      TensorView<E> in, RowMask mask, TensorView<?> states, Stream stream) {
    SoftmaxChecks.requireScale(options.scale(), in.type());
    TensorView.Rows rows = in.rows();
    requireStates("states", states, in);
    requireApart("the piece and its states", in, states);
    Objects.requireNonNull(stream);
    MaskedSoftmax.Masking masking = masking(mask, in);
    mask.requireApartFrom(states);
    if (rows.count() == 0) {
      return;
    }
    if (rows.length() == 0) {
      // A merge of no states: what is read is not even looked at.
      merge.launch(
          states.range(), new StateMerge.Shape(rows.count(), 0, 0, 0), 1, states.range(), stream);
      return;
    }
    kernels.states(in, masking, options, states.range(), merge, stream);
  }

  /**
   * Enqueues the merge of the states of several pieces.
   *
   * @param <A> the type of their numbers
   * @param states contiguous, of the shape of {@code out} with the number of pieces before it:
   *     [pieces, rows, 2]
   * @param out contiguous: the state of each whole row, [rows, 2]; apart from the states
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the views are not as told
   */
  public <A extends ElementType<A>> void merge(
      TensorView<A> states, TensorView<A> out, Stream stream) {
    if (out.type() != ElementType.F32 && out.type() != ElementType.F64) {
      throw new IllegalArgumentException("states are of F32 or F64, not " + out.type());
    }
    SoftmaxChecks.requireScale(options.scale(), out.type());
    requirePairs("out", out);
    requirePairs("states", states);
    long[] shape = states.shape();
    if (shape.length != out.rank() + 1
        || !Arrays.equals(Arrays.copyOfRange(shape, 1, shape.length), out.shape())) {
      throw new IllegalArgumentException(
          "states have the shape of out with the number of pieces before it, not "
              + states
              + " for "
              + out);
    }
    requireApart("states and out", states, out);
    Objects.requireNonNull(stream);
    long rows = out.elementCount() / MaskedSoftmax.STATE_LENGTH;
    if (rows > 0) {
      merge.launch(
          states.range(),
          new StateMerge.Shape(rows, shape[0], 1, rows),
          stateScale(),
          out.range(),
          stream);
    }
  }

  /**
   * Enqueues the softmax of a piece, given the states of its whole rows. Nothing is launched if
   * there are no elements.
   *
   * @param <E> the type of the elements
   * @param in the piece: rows side by side within, at one distance from each other
   * @param states of the whole rows, as of {@link #states(TensorView, TensorView, Stream)}; apart
   *     from the output
   * @param out the output, of the same shape; the very same memory and strides as the input, or
   *     memory apart from it
   * @param stream where to enqueue
   * @throws IllegalArgumentException if a view is not as told, or the scale is beyond {@link
   *     Softmax#maxScale}
   */
  public <E extends ElementType<E>> void finish(
      TensorView<E> in, TensorView<?> states, TensorView<E> out, Stream stream) {
    finish(in, RowMask.NONE, states, out, stream);
  }

  /**
   * The same of the elements that count.
   *
   * @param <E> the type of the elements
   * @param in as without a mask
   * @param mask that with which the states of this piece were found
   * @param states as without a mask
   * @param out as without a mask; apart from the mask
   * @param stream where to enqueue
   * @throws IllegalArgumentException as without a mask, or if the mask is not of the shape of the
   *     piece, or has addends and this object none, or the other way round
   */
  public <E extends ElementType<E>> void finish(
      TensorView<E> in, RowMask mask, TensorView<?> states, TensorView<E> out, Stream stream) {
    SoftmaxChecks.requireSameShape("input", in, "output", out);
    SoftmaxChecks.requireScale(options.scale(), in.type());
    TensorView.Rows rows = in.rows();
    out.rows();
    requireStates("states", states, in);
    SoftmaxChecks.requireApartRows("the output", out);
    SoftmaxChecks.requireSameOrApart("input", in, "output", out);
    requireApart("the output and the states", out, states);
    Objects.requireNonNull(stream);
    MaskedSoftmax.Masking masking = masking(mask, in);
    mask.requireApartFrom(out);
    if (rows.count() > 0 && rows.length() > 0) {
      kernels.finish(in, out, masking, options, states.range(), stream);
    }
  }

  private MaskedSoftmax.Masking masking(RowMask mask, TensorView<?> in) {
    if (mask.hasAddends() != adds) {
      throw new IllegalArgumentException(
          adds
              ? "the states are of sums with addends, but the mask has none: " + mask
              : "the mask has addends, but the states are of elements without; use"
                  + " withAddends(true) for all pieces: "
                  + mask);
    }
    return MaskedSoftmax.Masking.of(mask, in);
  }

  private static void requireStates(String name, TensorView<?> states, TensorView<?> in) {
    ElementType<?> type = stateType(in.type());
    if (states.type() != type) {
      throw new IllegalArgumentException(
          name + " of elements of " + in.type() + " are of " + type + ", not " + states.type());
    }
    long[] wanted = in.shape();
    wanted[wanted.length - 1] = MaskedSoftmax.STATE_LENGTH;
    if (!Arrays.equals(wanted, states.shape())) {
      throw new IllegalArgumentException(
          name + " of " + in + " have shape " + Arrays.toString(wanted) + ", not " + states);
    }
    requirePairs(name, states);
  }

  private static void requirePairs(String name, TensorView<?> states) {
    if (states.rank() == 0
        || states.length(states.rank() - 1) != MaskedSoftmax.STATE_LENGTH
        || !states.isContiguous()) {
      throw new IllegalArgumentException(
          name + " are pairs side by side, in a contiguous view whose last axis is 2: " + states);
    }
  }

  private static void requireApart(String names, TensorView<?> one, TensorView<?> other) {
    if (one.overlaps(other)) {
      throw new IllegalArgumentException(names + " overlap: " + one + " and " + other);
    }
  }

  /** {@return what it does} */
  @Override
  public String toString() {
    return "pieces of "
        + (options.log() ? "log-softmax" : "softmax")
        + (options.scale() == 1 ? "" : " with scale " + options.scale())
        + (adds ? " and addends" : "")
        + (options.emptyIsZero() ? ", 0 for empty rows" : "");
  }
}
