package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Sums, means, extrema and where they are, logsumexp and Euclidean norms: along an axis, of all
 * elements, or of segments.
 *
 * <p>Input types are F16, BF16, F32, F64, I32 and I64; {@link Op#resultType} says what a result is.
 * Results are bitwise repeatable: what is combined with what depends on places and shapes only, not
 * on the grid or the device. ({@link #segments} says what that takes of offsets.)
 *
 * <ul>
 *   <li>Floating sums are compensated: what rounding loses is carried along to the end, also
 *       between the parts of a large input, and the total is rounded to the result's type once.
 *   <li>Sums of integers are exact in I64 and wrap around beyond it, as Java's {@code long} does;
 *       means of integers are exact up to the division.
 *   <li>{@link Op#ARGMAX} and {@link Op#ARGMIN} give the lowest index of equal elements (-0 equals
 *       +0); the first NaN, if there is one.
 *   <li>{@link Op#LOGSUMEXP} and {@link Op#L2_NORM} keep the largest element or magnitude apart, so
 *       that nothing overflows or vanishes that the result can hold.
 * </ul>
 *
 * <p>Of nothing, the sum and the norm are 0, the mean is NaN, the maximum -inf and the minimum
 * +inf, of integers their type's least and greatest number, logsumexp -inf. There is no index of
 * nothing: {@link #along} and {@link #all} refuse it, {@link #segments} writes -1. Otherwise NaN in
 * gives NaN out.
 *
 * <p>An object keeps its prepared launches and is confined to the thread that made it, as they are.
 * It needs no closing: what it loads belongs to the context.
 */
public final class Reduction {

  /** What is computed. */
  public enum Op {
    /** The sum. */
    SUM,
    /** The largest element. */
    MAX,
    /** The smallest element. */
    MIN,
    /** The sum divided by the number of elements. */
    MEAN,
    /** The index of the largest element. */
    ARGMAX,
    /** The index of the smallest element. */
    ARGMIN,
    /** The logarithm of the sum of exp(x); of floating types. */
    LOGSUMEXP,
    /** The Euclidean norm, the square root of the sum of squares; of floating types. */
    L2_NORM;

    /**
     * The type of a result: F32 for F16, BF16 and F32, else the input's own. But I64 for the sum of
     * integers and for indices, and F64 for the mean of integers.
     *
     * @param type the type of the input
     * @return the type of the result
     * @throws IllegalArgumentException if the operation does not take elements of the type
     */
    public ElementType<?> resultType(ElementType<?> type) {
      return ReductionForm.of(this, type).result();
    }

    /**
     * The type of the elements that {@link Reduction#partials} writes.
     *
     * @param type the type of the input
     * @return F32, F64, I32 or I64
     * @throws IllegalArgumentException if the operation does not take elements of the type
     */
    public ElementType<?> partialType(ElementType<?> type) {
      return ReductionForm.of(this, type).state();
    }

    boolean isIndex() {
      return this == ARGMAX || this == ARGMIN;
    }
  }

  private static final String FAMILY = "reduce";
  private static final String COLUMNS_FAMILY = "reduce_columns";
  private static final String SEGMENTS_FAMILY = "reduce_segments";
  private static final String FEW_ROWS = "CULEBRA_REDUCE_FEW_ROWS";
  private static final int THREADS = 2;
  private static final int CHUNK_ELEMENTS = 3;
  private static final int WARP_THREADS = 32;

  /** States that a thread merges at a time: kStatesOnTheirWay of the kernels. */
  private static final int MERGED_AT_ONCE = 8;

  /** What a kernel reads and writes; its rows of the launch table, and its part of the symbol. */
  private enum Role {
    /** Elements to results. */
    RESULTS("CULEBRA_REDUCE", ""),
    /** Elements to states. */
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
      RowKernel kernel, int mostThreads, int pieceLength, int pieces, int divisor) {}

  private final Op op;
  private final KernelFamily family;
  private final Map<ElementType<?>, ReductionForm> forms = new HashMap<>();
  private final Map<ElementType<?>, Long> chunkElements = new HashMap<>();
  private final Map<Role, Map<ElementType<?>, Prepared>> prepared = new EnumMap<>(Role.class);
  private final Map<ElementType<?>, ColumnReduction> columns = new HashMap<>();
  private final Map<ElementType<?>, SegmentReduction> segments = new HashMap<>();
  private int fewRows;
  private @Nullable KernelFamily columnsFamily;
  private @Nullable KernelFamily segmentsFamily;

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
   * Which kernel reads the input along the last axis: that of results, or where few long rows are
   * shared by many blocks that of {@link #partialKernelName}, after which a second one joins the
   * states. For a mean of floating numbers it is that of the sum.
   *
   * @param type the type of the input
   * @param rows how many rows
   * @param length elements of a row
   * @return its symbol
   * @throws IllegalArgumentException if the operation does not take elements of the type, or the
   *     shape is negative
   */
  public String kernelName(ElementType<?> type, long rows, long length) {
    ReductionForm form = form(type);
    if (rows < 0 || length < 0) {
      throw new IllegalArgumentException(
          "a shape is not negative: " + rows + " rows of " + length + " elements");
    }
    return symbol(isCut(form, rows, length) ? partialRole(form) : Role.RESULTS, form);
  }

  /**
   * Which kernel gives the partial results of {@link #partials}, and of the first launch of {@link
   * #all} where there is more than one chunk.
   *
   * @param type the type of the input
   * @return its symbol
   * @throws IllegalArgumentException if the operation does not take elements of the type
   */
  public String partialKernelName(ElementType<?> type) {
    ReductionForm form = form(type);
    return symbol(partialRole(form), form);
  }

  /**
   * Which kernel reads the input of {@link #along} where the axis is not the last.
   *
   * @param type the type of the input
   * @return its symbol
   * @throws IllegalArgumentException if the operation does not take elements of the type
   */
  public String columnKernelName(ElementType<?> type) {
    return ColumnReduction.symbol(form(type));
  }

  /**
   * Which kernel reads the input of {@link #segments}, except segments that are too long for it.
   *
   * @param type the type of the input
   * @return its symbol
   * @throws IllegalArgumentException if the operation does not take elements of the type
   */
  public String segmentKernelName(ElementType<?> type) {
    return SegmentReduction.symbol(form(type));
  }

  /** Where states are results, as those of a maximum are, one kernel does for both. */
  private static Role partialRole(ReductionForm form) {
    return form.statesAreResults() ? Role.RESULTS : Role.STATES;
  }

  private static ElementType<?> typeOf(Role role, ReductionForm form) {
    return role == Role.MERGE ? form.merged() : form.input();
  }

  private static String symbol(Role role, ReductionForm form) {
    return "culebra_reduce_" + form.kernel() + "_" + role.infix + typeOf(role, form).symbol();
  }

  /**
   * Enqueues the reduction of every row of the last axis: {@link #along} that axis. Few long rows
   * are shared by many blocks, in two launches.
   *
   * @param in the input: rows side by side within, at one distance from each other
   * @param out one element a row, contiguous, of the {@link Op#resultType}: the input's shape
   *     without its last axis
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or shape of the output is another, the input cannot be
   *     walked as rows, the two overlap, or indices of nothing are wanted
   */
  public void lastAxis(TensorView<?> in, TensorView<?> out, Stream stream) {
    TensorView.Rows rows = in.rows();
    ReductionForm form = requireResult(in, out);
    requireShapeWithout(in.rank() - 1, in, out);
    requireIndices(rows.length(), rows.count());
    reduceRows(form, in, rows, out.range(), stream);
  }

  /**
   * Enqueues the reduction along an axis. Any axis is read once and in wide accesses, if the
   * elements behind it lie side by side.
   *
   * @param axis the axis that goes away, from 0; a negative one counts from the last, which is -1
   * @param in the input: the axes before {@code axis} at one distance from each other, those behind
   *     it side by side, as in every contiguous tensor; {@code axis} itself may have any stride
   * @param out contiguous, of the {@link Op#resultType}: the input's shape without the axis
   * @param stream where to enqueue
   * @throws IndexOutOfBoundsException if there is no such axis
   * @throws IllegalArgumentException if type or shape of the output is another, the input cannot be
   *     walked so, the two overlap, or indices of nothing are wanted
   */
  public void along(int axis, TensorView<?> in, TensorView<?> out, Stream stream) {
    int place = axis(axis, in);
    TensorView.Columns shape = in.columns(place);
    ReductionForm form = requireResult(in, out);
    requireShapeWithout(place, in, out);
    requireIndices(shape.length(), out.elementCount());
    if (out.elementCount() == 0) {
      return;
    }
    if (isRows(shape)) {
      TensorView.Rows rows =
          new TensorView.Rows(shape.count(), shape.length(), shape.matrixStride());
      reduceRows(form, in, rows, out.range(), stream);
      return;
    }
    ColumnReduction kernel = columns(form);
    ColumnReduction.Plan plan = kernel.plan(shape);
    double divisor = divisor(shape.length());
    if (plan.pieces() == 1) {
      kernel.toResults(in.range(), shape, plan, divisor, out.range(), stream);
      return;
    }
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> states =
        family
            .context()
            .allocate(form.state(), stateElements(form, out.elementCount(), plan), stream)) {
      kernel.toStates(in.range(), shape, plan, states, stream);
      merge(form, states, out.elementCount(), plan.pieces(), divisor, out.range(), stream);
    }
  }

  /**
   * Enqueues the reduction of segments: result {@code s} is that of the elements from offset {@code
   * s} up to, not including, offset {@code s + 1}. Segments may be empty and of very different
   * lengths: long ones are shared by many blocks. An index is that within its segment, -1 of an
   * empty one.
   *
   * <p>The offsets are on the device and nobody looks at them before. Whatever they are, nothing
   * outside of the input is read: an offset below 0 counts as 0, one beyond the input as its end,
   * and a segment whose second offset is below its first is empty.
   *
   * <p>The result of a segment hangs on its elements, on where in the input it begins, and on the
   * numbers of segments and of elements, so of ascending offsets it has the same bits every time.
   * Offsets that do not ascend make segments overlap, and all of them together may be longer than
   * the input. As long as they are not, or a segment is not long enough to be shared by blocks,
   * that holds for them too. Otherwise there can be more pieces of long segments than there is room
   * for, which is made for the input; which of these segments are then left to the lanes of one
   * warp is a race. Their results are right all the same, and extrema, indices and what is computed
   * of integers have the same bits; sums, means, norms and logsumexps of floating numbers may
   * differ in the last.
   *
   * @param in the elements, contiguous, of any rank
   * @param offsets one more than segments, ascending, of I32 or I64, contiguous, of rank 1
   * @param out one element a segment, of the {@link Op#resultType}, contiguous
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or shape of a view is another, or the output overlaps
   *     the others
   */
  public void segments(TensorView<?> in, TensorView<?> offsets, TensorView<?> out, Stream stream) {
    requireContiguous(in);
    requireOffsets(offsets);
    ReductionForm form = requireResult(in, out);
    long count = offsets.elementCount() - 1;
    if (out.elementCount() != count) {
      throw new IllegalArgumentException(
          offsets.elementCount()
              + " offsets make "
              + count
              + " segments, the output has "
              + out.elementCount()
              + ": "
              + out);
    }
    if (offsets.overlaps(out)) {
      throw new IllegalArgumentException("offsets and output overlap");
    }
    if (count > 0) {
      segments(form).launch(in, offsets, out, op == Op.MEAN, stream);
    }
  }

  private static void requireOffsets(TensorView<?> offsets) {
    boolean integers = offsets.type() == ElementType.I32 || offsets.type() == ElementType.I64;
    if (!integers || offsets.rank() != 1 || offsets.elementCount() == 0) {
      throw new IllegalArgumentException(
          "offsets are one more than segments, of I32 or I64 and of rank 1, not " + offsets);
    }
    if (!offsets.isContiguous()) {
      throw new IllegalArgumentException("the offsets have gaps: " + offsets);
    }
  }

  /**
   * Enqueues the reduction of all elements: in one launch where they are few, else chunks of a
   * fixed length first, then their states.
   *
   * @param in the input, contiguous; an index counts its elements in order
   * @param out one element of the {@link Op#resultType}, of any rank
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or shape of the output is another, the input is not
   *     contiguous, the two overlap, or an index of nothing is wanted
   */
  public void all(TensorView<?> in, TensorView<?> out, Stream stream) {
    requireContiguous(in);
    if (out.elementCount() != 1) {
      throw new IllegalArgumentException(
          "the result of all elements is one, the output has " + out.elementCount() + ": " + out);
    }
    ReductionForm form = requireResult(in, out);
    requireIndices(in.elementCount(), 1);
    reduceRows(form, in, oneRow(in), out.range(), stream);
  }

  /**
   * The reduction of all elements, on the host. Waits for the stream.
   *
   * @param in the input, contiguous
   * @param stream where to run
   * @return the result; of F16, BF16 and F32 it has been rounded to F32
   * @throws IllegalArgumentException if the results are integers (see {@link #allAsLong}), or the
   *     input is not contiguous
   */
  public double allAsDouble(TensorView<?> in, Stream stream) {
    ElementType<?> type = form(in.type()).result();
    if (!type.isFloating()) {
      throw new IllegalArgumentException(
          this + " of " + in.type() + " gives " + type + ": ask for it with allAsLong");
    }
    MemorySegment result = allOnHost(in, type, stream);
    return type == ElementType.F64
        ? result.get(HostScalars.DOUBLE, 0)
        : result.get(HostScalars.FLOAT, 0);
  }

  /**
   * The reduction of all elements to an integer or an index, on the host. Waits for the stream.
   *
   * @param in the input, contiguous
   * @param stream where to run
   * @return the result
   * @throws IllegalArgumentException if the results are floating numbers (see {@link
   *     #allAsDouble}), the input is not contiguous, or an index of nothing is wanted
   */
  public long allAsLong(TensorView<?> in, Stream stream) {
    ElementType<?> type = form(in.type()).result();
    if (type.isFloating()) {
      throw new IllegalArgumentException(
          this + " of " + in.type() + " gives " + type + ": ask for it with allAsDouble");
    }
    MemorySegment result = allOnHost(in, type, stream);
    return type == ElementType.I64
        ? result.get(HostScalars.LONG, 0)
        : result.get(HostScalars.INT, 0);
  }

  private MemorySegment allOnHost(TensorView<?> in, ElementType<?> type, Stream stream) {
    MemorySegment host = MemorySegment.ofArray(new byte[type.byteSize()]);
    try (DeviceBuffer<?> out = family.context().allocate(type, 1, stream)) {
      all(in, TensorView.of(out), stream);
      out.copyTo(host);
    }
    return host;
  }

  /**
   * How many elements {@link #partials} writes.
   *
   * @param type the type of the input
   * @param elements how many elements the input has
   * @return one or two for each chunk, by the operation
   */
  public long partialLength(ElementType<?> type, long elements) {
    ReductionForm form = form(type);
    return chunks(form, elements) * form.stateLength();
  }

  /**
   * Enqueues the first half of a reduction of all elements, whose second half {@link
   * ReductionTotal} does on the host: so an input that comes in pieces, or from several devices,
   * has one total that is rounded once. Nothing is launched if there are no elements.
   *
   * @param in the input, contiguous; where a larger one is cut into pieces decides what is added to
   *     what, and so can show in the last bit
   * @param out {@link #partialLength} elements of the {@link Op#partialType}, contiguous
   * @param stream where to enqueue
   * @throws IllegalArgumentException if type or length of the output is another, the input is not
   *     contiguous, or the two overlap
   */
  public void partials(TensorView<?> in, TensorView<?> out, Stream stream) {
    requireContiguous(in);
    ReductionForm form = form(in.type());
    requirePartials(form, in, partialLength(in.type(), in.elementCount()), out);
    if (out.elementCount() > 0) {
      launchPartials(form, in, oneRow(in), out.range(), stream);
    }
  }

  /**
   * How many elements {@link #partialsAlong} writes: for each result those of its states, of which
   * each has the same number.
   *
   * @param axis the axis that goes away
   * @param in the input
   * @return the number; 0 if there are no results
   * @throws IndexOutOfBoundsException if there is no such axis
   * @throws IllegalArgumentException as {@link #along}
   */
  public long partialLengthAlong(int axis, TensorView<?> in) {
    TensorView.Columns shape = in.columns(axis(axis, in));
    ReductionForm form = form(in.type());
    long results = shape.count() * shape.columns();
    return results == 0 ? 0 : stateElements(form, results, columns(form).plan(shape));
  }

  /**
   * Enqueues the first half of a reduction along an axis, for an input that comes in pieces of that
   * axis. The states of a result lie side by side, those of the next behind them; {@link
   * ReductionTotal} joins them with those of other pieces.
   *
   * @param axis the axis that goes away, as of {@link #along}
   * @param in the input, as of {@link #along}
   * @param out {@link #partialLengthAlong} elements of the {@link Op#partialType}, contiguous
   * @param stream where to enqueue
   * @throws IndexOutOfBoundsException if there is no such axis
   * @throws IllegalArgumentException if type or length of the output is another, the input cannot
   *     be walked so, or the two overlap
   */
  public void partialsAlong(int axis, TensorView<?> in, TensorView<?> out, Stream stream) {
    ReductionForm form = form(in.type());
    requirePartials(form, in, partialLengthAlong(axis, in), out);
    if (out.elementCount() > 0) {
      TensorView.Columns shape = in.columns(axis(axis, in));
      ColumnReduction kernel = columns(form);
      kernel.toStates(in.range(), shape, kernel.plan(shape), out.range(), stream);
    }
  }

  private static int axis(int axis, TensorView<?> in) {
    if (axis < -in.rank() || axis >= in.rank()) {
      throw new IndexOutOfBoundsException("there is no axis " + axis + " of " + in);
    }
    return axis < 0 ? axis + in.rank() : axis;
  }

  /** Whether the axis's elements lie side by side, and there are no others behind it. */
  private static boolean isRows(TensorView.Columns shape) {
    return shape.columns() == 1 && (shape.rowStride() == 1 || shape.length() <= 1);
  }

  private static long stateElements(ReductionForm form, long results, ColumnReduction.Plan plan) {
    return Math.multiplyExact(results, plan.pieces()) * form.stateLength();
  }

  private double divisor(long elements) {
    return op == Op.MEAN ? (double) elements : 1;
  }

  /** One launch where there are rows enough, or short ones; else pieces, and then their states. */
  private void reduceRows(
      ReductionForm form,
      TensorView<?> in,
      TensorView.Rows rows,
      DeviceRange<?> out,
      Stream stream) {
    if (rows.count() == 0) {
      return;
    }
    double divisor = divisor(rows.length());
    if (!isCut(form, rows.count(), rows.length())) {
      launch(Role.RESULTS, form, in.range(), rows, rows.length(), 1, divisor, out, stream);
      return;
    }
    long pieces = chunks(form, rows.length());
    long states = Math.multiplyExact(rows.count(), pieces);
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> partials =
        family.context().allocate(form.state(), states * form.stateLength(), stream)) {
      launchPartials(form, in, rows, partials, stream);
      merge(form, partials, rows.count(), pieces, divisor, out, stream);
    }
  }

  /** Whether rows are cut into pieces: by the shape alone, so that the bits hang on it alone. */
  private boolean isCut(ReductionForm form, long rows, long length) {
    return chunks(form, length) > 1 && rows < fewRows();
  }

  private void launchPartials(
      ReductionForm form,
      TensorView<?> in,
      TensorView.Rows rows,
      DeviceRange<?> states,
      Stream stream) {
    long chunk = chunkElements(form);
    long pieces = chunks(form, rows.length());
    launch(partialRole(form), form, in.range(), rows, chunk, pieces, 1, states, stream);
  }

  private static TensorView.Rows oneRow(TensorView<?> in) {
    return new TensorView.Rows(1, in.elementCount(), in.elementCount());
  }

  private int fewRows() {
    if (fewRows == 0) {
      fewRows = family.table().row(FEW_ROWS).number(0);
    }
    return fewRows;
  }

  /** Joins the states of each of {@code results}, which lie side by side. */
  private void merge(
      ReductionForm form,
      DeviceRange<?> states,
      long results,
      long statesOfResult,
      double divisor,
      DeviceRange<?> out,
      Stream stream) {
    TensorView.Rows rows = new TensorView.Rows(results, statesOfResult, statesOfResult);
    launch(Role.MERGE, form, states, rows, statesOfResult, 1, divisor, out, stream);
  }

  private static void requireContiguous(TensorView<?> in) {
    if (!in.isContiguous()) {
      throw new IllegalArgumentException(
          in
              + " has gaps; to reduce all of its elements, reduce the last axis first and then the results");
    }
  }

  private ReductionForm requireResult(TensorView<?> in, TensorView<?> out) {
    ReductionForm form = form(in.type());
    requireOutput("result", form.result(), in, out);
    return form;
  }

  private static void requirePartials(
      ReductionForm form, TensorView<?> in, long length, TensorView<?> out) {
    if (out.elementCount() != length) {
      throw new IllegalArgumentException(
          "the partial results have "
              + length
              + " elements, the output has "
              + out.elementCount()
              + ": "
              + out);
    }
    requireOutput("partial result", form.state(), in, out);
  }

  private static void requireOutput(
      String what, ElementType<?> type, TensorView<?> in, TensorView<?> out) {
    if (out.type() != type) {
      throw new IllegalArgumentException(
          "the "
              + what
              + " of "
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

  private static void requireShapeWithout(int axis, TensorView<?> in, TensorView<?> out) {
    boolean same = out.rank() == in.rank() - 1;
    for (int i = 0; same && i < out.rank(); i++) {
      same = out.length(i) == in.length(i < axis ? i : i + 1);
    }
    if (!same) {
      long[] inner = in.shape();
      long[] shape = Arrays.copyOf(inner, inner.length - 1);
      System.arraycopy(inner, axis + 1, shape, axis, shape.length - axis);
      throw new IllegalArgumentException(
          "the result has shape " + Arrays.toString(shape) + ", the output is " + out);
    }
  }

  private void requireIndices(long length, long results) {
    if (op.isIndex() && length == 0 && results > 0) {
      throw new IllegalArgumentException(
          "there is no index of the "
              + (op == Op.ARGMAX ? "largest" : "smallest")
              + " of 0 elements");
    }
  }

  private long chunks(ReductionForm form, long elements) {
    return Math.ceilDiv(elements, chunkElements(form));
  }

  /** Asked of the table once, so that an operation repeated allocates nothing. */
  private long chunkElements(ReductionForm form) {
    Long known = chunkElements.get(form.input());
    if (known == null) {
      LaunchTable.Row row =
          family.table().row(Role.RESULTS.row, form.kernel(), form.input().symbol());
      known = (long) row.number(CHUNK_ELEMENTS);
      chunkElements.put(form.input(), known);
    }
    return known;
  }

  private ReductionForm form(ElementType<?> type) {
    ReductionForm known = forms.get(type);
    if (known == null) {
      known = ReductionForm.of(op, type);
      forms.put(type, known);
    }
    return known;
  }

  private ColumnReduction columns(ReductionForm form) {
    ColumnReduction known = columns.get(form.input());
    if (known == null) {
      if (columnsFamily == null) {
        columnsFamily = new KernelFamily(family.context(), COLUMNS_FAMILY);
      }
      known = new ColumnReduction(columnsFamily, form);
      columns.put(form.input(), known);
    }
    return known;
  }

  private SegmentReduction segments(ReductionForm form) {
    SegmentReduction known = segments.get(form.input());
    if (known == null) {
      if (segmentsFamily == null) {
        segmentsFamily = new KernelFamily(family.context(), SEGMENTS_FAMILY);
      }
      known = new SegmentReduction(segmentsFamily, form);
      segments.put(form.input(), known);
    }
    return known;
  }

  private Prepared prepared(Role role, ReductionForm form) {
    ElementType<?> type = typeOf(role, form);
    Map<ElementType<?>, Prepared> ofRole = prepared.get(role);
    Prepared known = ofRole == null ? null : ofRole.get(type);
    if (known == null) {
      LaunchTable.Row row = family.table().row(role.row, form.kernel(), type.symbol());
      int threads = row.number(THREADS);
      RowKernel kernel = family.kernel(symbol(role, form), threads);
      known =
          new Prepared(
              kernel,
              threads,
              kernel.slot("piece_length"),
              kernel.slot("pieces"),
              kernel.slot("divisor"));
      prepared.computeIfAbsent(role, absent -> new HashMap<>()).put(type, known);
    }
    return known;
  }

  /** Enqueues a kernel over rows, each of which is cut into so many pieces. */
  private void launch(
      Role role,
      ReductionForm form,
      DeviceRange<?> in,
      TensorView.Rows rows,
      long pieceLength,
      long pieces,
      double divisor,
      DeviceRange<?> out,
      Stream stream) {
    Prepared ready = prepared(role, form);
    ready.kernel.set(ready.pieceLength, pieceLength);
    ready.kernel.set(ready.pieces, pieces);
    ready.kernel.set(ready.divisor, divisor);
    ready.kernel.threads(
        role == Role.MERGE
            ? mergeThreads(rows.length(), ready.mostThreads)
            : RowKernel.threads(
                Math.min(rows.length(), pieceLength), form.input(), ready.mostThreads));
    ready.kernel.launch(in, rows, Math.multiplyExact(rows.count(), pieces), out, stream);
  }

  /** Whole warps, with as many states for each thread as it has on their way at once. */
  private static int mergeThreads(long states, int most) {
    long warps = Math.max(1, Math.ceilDiv(states, (long) MERGED_AT_ONCE * WARP_THREADS));
    return (int) Math.min(most, warps * WARP_THREADS);
  }

  /** {@return the name of the operation} */
  @Override
  public String toString() {
    return "reduction " + op.name().toLowerCase(Locale.ROOT);
  }
}
