package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Sum, maximum, minimum or mean, along the last axis or of all elements.
 *
 * <p>Input types are F16, BF16, F32 and F64. The result has the type of the accumulator, {@link
 * #resultType}: F32 for the first three, F64 for the last. Sums are compensated: what rounding
 * loses is carried along to the end, also between the parts of a large input, and the total is
 * rounded to the result's type once. Results are bitwise repeatable: what is added to what depends
 * on places only, not on the grid or the device.
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
    SUM("sum", 2),
    /** The largest element. */
    MAX("max", 1),
    /** The smallest element. */
    MIN("min", 1),
    /** The sum divided by the number of elements. */
    MEAN("sum", 2);

    private final String kernel;

    /** Elements of a partial result: of a sum, its value and what rounding lost. */
    private final int stateLength;

    Op(String kernel, int stateLength) {
      this.kernel = kernel;
      this.stateLength = stateLength;
    }
  }

  private static final String FAMILY = "reduce";
  private static final int THREADS = 2;
  private static final int CHUNK_ELEMENTS = 3;

  /** What a kernel reads and writes; its rows of the launch table, and its part of the symbol. */
  private enum Role {
    /** Elements to results. */
    RESULTS("CULEBRA_REDUCE", ""),
    /** Elements to states, of which a sum has two elements: its value and what rounding lost. */
    STATES("CULEBRA_REDUCE_STATES", "states_"),
    /** States to results. */
    MERGE("CULEBRA_REDUCE_MERGE", "merge_");

    private final String row;
    private final String infix;

    Role(String row, String infix) {
      this.row = row;
      this.infix = infix;
    }
  }

  /** A kernel, and the arguments that only a reduction has. */
  private record Prepared(
      Role role, RowKernel kernel, int mostThreads, int elementLimit, int divisor) {}

  private final KernelFamily family;
  private final Map<Role, Map<ElementType<?>, Prepared>> prepared = new EnumMap<>(Role.class);
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
   * Which kernel runs along the last axis; for a mean it is that of the sum.
   *
   * @param type the type of the input
   * @return its symbol
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public String kernelName(ElementType<?> type) {
    return symbol(Role.RESULTS, type);
  }

  /**
   * Which kernel gives the partial results of {@link #partials}, and of the first launch of {@link
   * #all} where there is more than one chunk.
   *
   * @param type the type of the input
   * @return its symbol
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public String partialKernelName(ElementType<?> type) {
    return symbol(partialRole(), type);
  }

  /** The states of a maximum are maxima, so one kernel does for both. */
  private Role partialRole() {
    return op.stateLength == 1 ? Role.RESULTS : Role.STATES;
  }

  private String symbol(Role role, ElementType<?> type) {
    AccumulatorType.requireFloating(type);
    return "culebra_reduce_" + op.kernel + "_" + role.infix + type.symbol();
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
    launch(
        prepared(Role.RESULTS, in.type()),
        in.range(),
        rows,
        elements,
        divisor,
        out.range(),
        stream);
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
    requireContiguous(in);
    if (out.elementCount() != 1) {
      throw new IllegalArgumentException(
          "the result of all elements is one, the output has " + out.elementCount() + ": " + out);
    }
    requireResult(in, out);
    long elements = in.elementCount();
    long divisor = op == Op.MEAN ? elements : 1;
    long chunks = Math.ceilDiv(elements, chunkElements(in.type()));
    if (chunks <= 1) {
      launch(
          prepared(Role.RESULTS, in.type()),
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
        family.context().allocate(out.type(), chunks * op.stateLength, stream)) {
      launchPartials(in, partial, stream);
      launch(
          prepared(Role.MERGE, out.type()),
          partial,
          new TensorView.Rows(1, chunks, chunks),
          chunks,
          divisor,
          out.range(),
          stream);
    }
  }

  /**
   * How many elements {@link #partials} writes.
   *
   * @param type the type of the input
   * @param elements how many elements the input has
   * @return two for each chunk of a sum or mean, one for each chunk of a maximum or minimum
   */
  public long partialLength(ElementType<?> type, long elements) {
    return Math.ceilDiv(elements, chunkElements(type)) * op.stateLength;
  }

  /**
   * Enqueues the first half of a reduction of all elements, whose second half {@link
   * ReductionTotal} does on the host: so an input that comes in pieces, or from several devices,
   * has one total that is rounded once. Nothing is launched if there are no elements.
   *
   * @param in the input, contiguous; where a larger one is cut into pieces decides what is added to
   *     what, and so can show in the last bit
   * @param out {@link #partialLength} elements of the {@link #resultType}, contiguous
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or length of the output is another, the input is not
   *     contiguous, or the two overlap
   */
  public void partials(TensorView<?> in, TensorView<?> out, Stream stream) {
    requireContiguous(in);
    long length = partialLength(in.type(), in.elementCount());
    if (out.elementCount() != length) {
      throw new IllegalArgumentException(
          "the partial results have "
              + length
              + " elements, the output has "
              + out.elementCount()
              + ": "
              + out);
    }
    requireResult(in, out);
    if (length > 0) {
      launchPartials(in, out.range(), stream);
    }
  }

  private void launchPartials(TensorView<?> in, DeviceRange<?> partial, Stream stream) {
    long elements = in.elementCount();
    long chunk = chunkElements(in.type());
    launch(
        prepared(partialRole(), in.type()),
        in.range(),
        new TensorView.Rows(Math.ceilDiv(elements, chunk), chunk, chunk),
        elements,
        1,
        partial,
        stream);
  }

  private static void requireContiguous(TensorView<?> in) {
    if (!in.isContiguous()) {
      throw new IllegalArgumentException(
          in
              + " has gaps; to reduce all of its elements, reduce the last axis first and then the results");
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

  private long chunkElements(ElementType<?> type) {
    AccumulatorType.requireFloating(type);
    return family.table().row(Role.RESULTS.row, op.kernel, type.symbol()).number(CHUNK_ELEMENTS);
  }

  private Prepared prepared(Role role, ElementType<?> type) {
    Map<ElementType<?>, Prepared> ofRole = prepared.get(role);
    Prepared known = ofRole == null ? null : ofRole.get(type);
    if (known == null) {
      String symbol = symbol(role, type);
      LaunchTable.Row row = family.table().row(role.row, op.kernel, type.symbol());
      int threads = row.number(THREADS);
      RowKernel kernel = family.kernel(symbol, threads);
      known =
          new Prepared(role, kernel, threads, kernel.slot("element_limit"), kernel.slot("divisor"));
      prepared.computeIfAbsent(role, absent -> new HashMap<>()).put(type, known);
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
    ready.kernel.threads(
        ready.role == Role.MERGE
            ? ready.mostThreads
            : RowKernel.threads(rows, in.type(), ready.mostThreads));
    ready.kernel.launch(in, rows, out, stream);
  }

  /** {@return the name of the operation} */
  @Override
  public String toString() {
    return "reduction " + op.name().toLowerCase(Locale.ROOT);
  }
}
