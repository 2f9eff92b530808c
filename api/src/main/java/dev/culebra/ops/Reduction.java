package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Sum, maximum, minimum or mean, along the last axis or of all elements.
 *
 * <p>Input types are F16, BF16, F32 and F64. The result has the type of the accumulator, {@link
 * #resultType}: F32 for the first three, F64 for the last. Sums are compensated. Results are
 * bitwise repeatable: what is added to what depends on places only, not on the grid or the device.
 *
 * <p>Of nothing, the sum is 0, the mean NaN, the maximum -inf and the minimum +inf. NaN in gives
 * NaN out.
 *
 * <p>An object keeps its prepared launches and is confined to the thread that made it, as they are.
 * It needs no closing: what it loads belongs to the context.
 */
public final class Reduction {

  /** What is computed. */
  public enum Op {
    /** The sum. */
    SUM("sum"),
    /** The largest element. */
    MAX("max"),
    /** The smallest element. */
    MIN("min"),
    /** The sum divided by the number of elements. */
    MEAN("sum");

    private final String kernel;

    Op(String kernel) {
      this.kernel = kernel;
    }
  }

  private static final String FAMILY = "reduce";
  private static final String ROW = "CULEBRA_REDUCE";
  private static final int THREADS = 2;
  private static final int CHUNK_ELEMENTS = 3;

  /** A kernel, the arguments that only a reduction has, and its part of the launch table. */
  private record Prepared(RowKernel kernel, int elementLimit, int divisor, long chunkElements) {}

  private final KernelFamily family;
  private final Map<ElementType<?>, Prepared> prepared = new HashMap<>();
  private final Op op;

  private Reduction(KernelFamily family, Op op) {
    this.family = family;
    this.op = op;
  }

  /**
   * A reduction.
   *
   * @param context where to run
   * @param op what to compute
   * @return the operation
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static Reduction of(Context context, Op op) {
    return new Reduction(new KernelFamily(context, FAMILY), op);
  }

  /** {@return what is computed} */
  public Op op() {
    return op;
  }

  /**
   * Which kernel runs; for a mean it is that of the sum.
   *
   * @param type the type of the input
   * @return its symbol
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public String kernelName(ElementType<?> type) {
    AccumulatorType.requireFloating(type);
    return "culebra_reduce_" + op.kernel + "_" + type.symbol();
  }

  /**
   * The type of the result.
   *
   * @param type the type of the input
   * @return F64 for F64, else F32
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public static ElementType<?> resultType(ElementType<?> type) {
    return AccumulatorType.of(type);
  }

  /**
   * Enqueues the reduction of every row of the last axis. Nothing is launched if there are no rows.
   *
   * @param in the input: rows side by side within, at one distance from each other
   * @param out one element a row, contiguous, of the {@link #resultType}: the input's shape without
   *     its last axis
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or shape of the output is another, the input cannot be
   *     walked as rows, or the two overlap
   */
  public void lastAxis(TensorView<?> in, TensorView<?> out, Stream stream) {
    TensorView.Rows rows = in.rows();
    requireResult(in, out);
    if (!isShapeOfRows(in, out)) {
      throw new IllegalArgumentException(
          "the result has shape "
              + Arrays.toString(Arrays.copyOf(in.shape(), in.rank() - 1))
              + ", the output is "
              + out);
    }
    if (rows.count() == 0) {
      return;
    }
    long divisor = op == Op.MEAN ? rows.length() : 1;
    long elements = rows.length() == 0 ? 0 : (rows.count() - 1) * rows.stride() + rows.length();
    launch(prepared(in.type()), in.range(), rows, elements, divisor, out.range(), stream);
  }

  private static boolean isShapeOfRows(TensorView<?> in, TensorView<?> out) {
    boolean same = out.rank() == in.rank() - 1;
    for (int axis = 0; same && axis < out.rank(); axis++) {
      same = out.length(axis) == in.length(axis);
    }
    return same;
  }

  /**
   * Enqueues the reduction of all elements: chunks of a fixed length first, then their results.
   *
   * @param in the input, contiguous
   * @param out one element of the {@link #resultType}, of any rank
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or shape of the output is another, the input is not
   *     contiguous, or the two overlap
   */
  public void all(TensorView<?> in, TensorView<?> out, Stream stream) {
    if (!in.isContiguous()) {
      throw new IllegalArgumentException(
          in
              + " has gaps; to reduce all of its elements, reduce the last axis first and then the results");
    }
    if (out.elementCount() != 1) {
      throw new IllegalArgumentException(
          "the result of all elements is one, the output has " + out.elementCount() + ": " + out);
    }
    requireResult(in, out);
    long elements = in.elementCount();
    long divisor = op == Op.MEAN ? elements : 1;
    Prepared ready = prepared(in.type());
    long chunk = ready.chunkElements;
    long chunks = Math.ceilDiv(elements, chunk);
    if (chunks <= 1) {
      launch(
          ready,
          in.range(),
          new TensorView.Rows(1, elements, elements),
          elements,
          divisor,
          out.range(),
          stream);
      return;
    }
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> partial =
        family.context().allocate(resultType(in.type()), chunks, stream)) {
      launch(
          ready,
          in.range(),
          new TensorView.Rows(chunks, chunk, chunk),
          elements,
          1,
          partial,
          stream);
      launch(
          prepared(partial.type()),
          partial,
          new TensorView.Rows(1, chunks, chunks),
          chunks,
          divisor,
          out.range(),
          stream);
    }
  }

  private void requireResult(TensorView<?> in, TensorView<?> out) {
    ElementType<?> type = resultType(in.type());
    if (out.type() != type) {
      throw new IllegalArgumentException(
          "the result of "
              + in.type()
              + " is "
              + type
              + ", the output has elements of "
              + out.type());
    }
    if (!out.isContiguous()) {
      throw new IllegalArgumentException("the output has gaps: " + out);
    }
    if (in.overlaps(out)) {
      throw new IllegalArgumentException("input and output overlap");
    }
  }

  private Prepared prepared(ElementType<?> type) {
    Prepared known = prepared.get(type);
    if (known == null) {
      String symbol = kernelName(type);
      LaunchTable.Row row = family.table().row(ROW, op.kernel, type.symbol());
      RowKernel kernel = family.kernel(symbol, row.number(THREADS));
      known =
          new Prepared(
              kernel,
              kernel.slot("element_limit"),
              kernel.slot("divisor"),
              row.number(CHUNK_ELEMENTS));
      prepared.put(type, known);
    }
    return known;
  }

  private static void launch(
      Prepared ready,
      DeviceRange<?> in,
      TensorView.Rows rows,
      long elements,
      long divisor,
      DeviceRange<?> out,
      Stream stream) {
    ready.kernel.set(ready.elementLimit, elements);
    ready.kernel.set(ready.divisor, (double) divisor);
    ready.kernel.launch(in, rows, out, stream);
  }

  /** {@return the name of the operation} */
  @Override
  public String toString() {
    return "reduction " + op.name().toLowerCase(Locale.ROOT);
  }
}
