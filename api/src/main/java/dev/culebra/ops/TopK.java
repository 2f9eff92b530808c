package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The K largest of each row of the last axis: their probabilities under the softmax of the row, and
 * their places.
 *
 * {@snippet :
 * TopK topK = TopK.of(context, 5);
 * topK.forward(
 *     TensorView.of(logits, 16, 32_000),
 *     TensorView.of(probabilities, 16, 5),
 *     TensorView.of(indices, 16, 5),
 *     stream);
 * }
 *
 * <p>Element types are F16, BF16 and F32, the same for input and output; places are I32 or I64. The
 * largest comes first, of equal ones that with the lower index. -0 equals +0, and NaN counts as the
 * largest. Of a negative {@linkplain #withScale scale} the smallest elements come first, as their
 * probabilities are the largest.
 *
 * <p>Statistics are single precision. A row with NaN or +inf, or of -inf only, has NaN for all its
 * probabilities, but its K largest have their places. Results are bitwise repeatable.
 *
 * <p>With few rows each is cut into pieces for more blocks to work on; how many depends on the
 * shape alone.
 *
 * <p>An object keeps its prepared launches and is confined to the thread that made it, as they are.
 * It needs no closing: what it loads belongs to the context.
 *
 * @see <a href="https://arxiv.org/abs/1805.02867">Milakov, Gimelshein: Online normalizer
 *     calculation for softmax</a>
 */
public final class TopK {

  /** How softmax and top-k follow each other. */
  public enum Algorithm {
    /** Both in one read of the row; only K results are written. */
    FUSED(null),
    /**
     * The whole softmax, by {@link Softmax.Algorithm#SAFE}, into memory of its own, then its K
     * largest: 5 accesses an element. It chooses among rounded probabilities: elements whose
     * probabilities round to the same number come by their index, and of a row that is all NaN the
     * first K are taken.
     */
    SAFE_UNFUSED(Softmax.Algorithm.SAFE),
    /** The same by {@link Softmax.Algorithm#ONLINE}: 4 accesses an element. */
    ONLINE_UNFUSED(Softmax.Algorithm.ONLINE);

    private final Softmax.@Nullable Algorithm softmax;

    Algorithm(Softmax.@Nullable Algorithm softmax) {
      this.softmax = softmax;
    }
  }

  /** What is given beside the places. */
  public enum Content {
    /** The probabilities. */
    PROBABILITIES(0),
    /** Their logarithms, finite where a probability underflows to 0. */
    LOG_PROBABILITIES(1),
    /** The elements themselves, bit for bit: a top-k without softmax. */
    ELEMENTS(2);

    /** TopKContent of the kernels. */
    final int code;

    Content(int code) {
      this.code = code;
    }
  }

  private static final long MOST_ROW_LENGTH = Integer.MAX_VALUE;

  private final KernelFamily family;

  // Of this K; shared with the variations of this object.
  private final Map<ElementType<?>, TopKKernels> kernels;
  private final int k;
  private final Algorithm algorithm;
  private final Content content;
  private final double scale;
  private @Nullable Softmax first;

  private TopK(
      KernelFamily family,
      Map<ElementType<?>, TopKKernels> kernels,
      int k,
      Algorithm algorithm,
      Content content,
      double scale) {
    if (algorithm != Algorithm.FUSED && content == Content.ELEMENTS) {
      throw new IllegalArgumentException(
          algorithm + " is about a softmax, and " + content + " are without one; use FUSED");
    }
    this.family = family;
    this.kernels = kernels;
    this.k = k;
    this.algorithm = algorithm;
    this.content = content;
    this.scale = scale;
  }

  /**
   * A fused top-k that gives probabilities, with scale 1.
   *
   * @param context where to run
   * @param k how many of each row, from 1 to {@link #mostK}
   * @return the operation
   * @throws IllegalArgumentException if k is out of range
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static TopK of(Context context, int k) {
    KernelFamily family = new KernelFamily(context, TopKKernels.FAMILY);
    int most = TopKKernels.mostK(family.table());
    if (k < 1 || k > most) {
      throw new IllegalArgumentException("k " + k + " is not from 1 to " + most);
    }
    return new TopK(family, new HashMap<>(), k, Algorithm.FUSED, Content.PROBABILITIES, 1);
  }

  /**
   * The same by another algorithm.
   *
   * @param other the algorithm
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if it has a softmax and {@link Content#ELEMENTS} are wanted
   */
  public TopK withAlgorithm(Algorithm other) {
    return new TopK(family, kernels, k, Objects.requireNonNull(other), content, scale);
  }

  /**
   * The same with another result beside the places.
   *
   * @param other what to give
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if elements are wanted, and the algorithm is not {@link
   *     Algorithm#FUSED}
   */
  public TopK withContent(Content other) {
    return new TopK(family, kernels, k, algorithm, Objects.requireNonNull(other), scale);
  }

  /**
   * The same with another factor of the input, rounded to single precision. Of {@link
   * Content#ELEMENTS} only its sign counts: -1 gives the K smallest.
   *
   * @param factor a finite number of any sign, at most {@link Softmax#maxScale} of the type it is
   *     used with
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if it is not finite
   */
  public TopK withScale(double factor) {
    if (!Double.isFinite(factor)) {
      throw new IllegalArgumentException("scale " + factor + " is not finite");
    }
    return new TopK(family, kernels, k, algorithm, content, factor);
  }

  /** {@return how many of each row} */
  public int k() {
    return k;
  }

  /**
   * {@return the largest K that there are kernels for}
   *
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static int mostK() {
    return TopKKernels.mostK(KernelFamily.table(KernelCatalog.open(), TopKKernels.FAMILY));
  }

  /** {@return the algorithm} */
  public Algorithm algorithm() {
    return algorithm;
  }

  /** {@return what is given beside the places} */
  public Content content() {
    return content;
  }

  /** {@return the factor of the input} */
  public double scale() {
    return scale;
  }

  /**
   * Which kernel looks for the K largest where there are many rows.
   *
   * @param type the type of the elements
   * @return its symbol
   * @throws IllegalArgumentException if the type is not F16, BF16 or F32
   */
  public String kernelName(ElementType<?> type) {
    return kernels(type).symbol();
  }

  /**
   * Enqueues the top-k of every row of the last axis. Nothing is launched if there are no rows.
   *
   * @param <E> the type of the elements
   * @param in the input: rows of at least K elements side by side, at one distance from each other
   * @param out the results: the shape of the input, with K for its last axis
   * @param indices the places, from 0 in each row: I32 or I64, of the shape of the results
   * @param stream where to enqueue
   * @throws IllegalArgumentException if a row is shorter than K or longer than 2^31 - 1, types or
   *     shapes do not fit, a view cannot be walked as rows, two views overlap, or the scale is
   *     beyond {@link Softmax#maxScale}
   */
  public <E extends ElementType<E>> void forward(
      TensorView<E> in, TensorView<E> out, TensorView<?> indices, Stream stream) {
    TopKKernels ready = kernels(in.type());
    check(in, out, indices);
    Objects.requireNonNull(stream);
    if (in.rows().count() == 0) {
      return;
    }
    Softmax.Algorithm softmax = algorithm.softmax;
    if (softmax == null) {
      ready.launch(in, out, indices, content, scale, stream);
      return;
    }
    // Freed in stream order: closing does not wait for the second operation.
    try (DeviceBuffer<E> memory = family.context().allocate(in.type(), in.elementCount(), stream)) {
      TensorView<E> probabilities = TensorView.of(memory, in.shape());
      softmax(softmax).forward(in, probabilities, stream);
      ready.launch(probabilities, out, indices, Content.ELEMENTS, 1, stream);
    }
  }

  /** The first operation of two; made once, as it prepares launches. */
  private Softmax softmax(Softmax.Algorithm wanted) {
    Softmax known = first;
    if (known == null) {
      known =
          Softmax.of(family.context(), wanted)
              .withLog(content == Content.LOG_PROBABILITIES)
              .withScale(scale);
      first = known;
    }
    return known;
  }

  private void check(TensorView<?> in, TensorView<?> out, TensorView<?> indices) {
    if (Math.abs(scale) > Softmax.maxScale(in.type())) {
      throw new IllegalArgumentException(
          "scale "
              + scale
              + " is beyond "
              + Softmax.maxScale(in.type())
              + ", the most for "
              + in.type());
    }
    if (indices.type() != ElementType.I32 && indices.type() != ElementType.I64) {
      throw new IllegalArgumentException("places are I32 or I64, not " + indices.type());
    }
    long length = in.rows().length();
    if (length < k) {
      throw new IllegalArgumentException(
          "k is " + k + ", but a row has only " + length + " elements: " + in);
    }
    if (length > MOST_ROW_LENGTH) {
      throw new IllegalArgumentException(
          "a row of " + length + " elements is longer than " + MOST_ROW_LENGTH + ": " + in);
    }
    requireResult("results", out, in);
    requireResult("places", indices, in);
    if (in.overlaps(out) || in.overlaps(indices) || out.overlaps(indices)) {
      throw new IllegalArgumentException("input, results and places overlap; give each its own");
    }
  }

  private void requireResult(String what, TensorView<?> view, TensorView<?> in) {
    int last = in.rank() - 1;
    boolean fits = view.rank() == in.rank() && view.length(last) == k;
    for (int axis = 0; fits && axis < last; axis++) {
      fits = view.length(axis) == in.length(axis);
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "the "
              + what
              + " have the shape of the input with "
              + k
              + " for its last axis, not that of "
              + view
              + "; the input is "
              + in);
    }
    view.rows();
    if (view.mayOverlapItself()) {
      throw new IllegalArgumentException("rows of the " + what + " overlap each other: " + view);
    }
  }

  private TopKKernels kernels(ElementType<?> type) {
    TopKKernels known = kernels.get(type);
    if (known == null) {
      AccumulatorType.requireFloating(type);
      if (type == ElementType.F64) {
        throw new IllegalArgumentException(
            "elements of F64: a top-k takes F16, BF16 and F32; convert them first");
      }
      known = new TopKKernels(family, type, k);
      kernels.put(type, known);
    }
    return known;
  }

  /** {@return K, algorithm and options} */
  @Override
  public String toString() {
    return "top-"
        + k
        + " "
        + algorithm.name().toLowerCase(Locale.ROOT)
        + " "
        + content.name().toLowerCase(Locale.ROOT)
        + (scale == 1 ? "" : " with scale " + scale);
  }
}
