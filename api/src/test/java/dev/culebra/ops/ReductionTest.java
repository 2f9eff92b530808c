package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.I64;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceTier;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.ReductionReference;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ReductionTest extends DeviceTier {

  private static final double NAN = Double.NaN;
  private static final double INF = Double.POSITIVE_INFINITY;

  static List<Arguments> opsAndTypes() {
    List<Arguments> all = new ArrayList<>();
    for (Reduction.Op op : Reduction.Op.values()) {
      for (String type : List.of("f16", "bf16", "f32", "f64")) {
        all.add(Arguments.of(op, type));
      }
    }
    return all;
  }

  private double[] lastAxis(
      Reduction reduction, ElementType<?> type, double[] values, long... shape) {
    long rows = 1;
    for (int axis = 0; axis < shape.length - 1; axis++) {
      rows *= shape[axis];
    }
    try (DeviceBuffer<?> in = context.allocate(type, values.length, stream);
        DeviceBuffer<?> out = context.allocate(reduction.op().resultType(type), rows, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      reduction.lastAxis(
          TensorView.of(in, shape),
          TensorView.of(out, Arrays.copyOf(shape, shape.length - 1)),
          stream);
      return Tensors.readAny(out);
    }
  }

  private double[] along(
      int axis, Reduction reduction, ElementType<?> type, double[] values, long... shape) {
    try (DeviceBuffer<?> in = context.allocate(type, values.length, stream);
        DeviceBuffer<?> out =
            context.allocate(reduction.op().resultType(type), results(axis, shape), stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      reduction.along(
          axis, TensorView.of(in, shape), TensorView.of(out, without(axis, shape)), stream);
      return Tensors.readAny(out);
    }
  }

  private static long[] without(int axis, long... shape) {
    int place = Math.floorMod(axis, shape.length);
    return IntStream.range(0, shape.length)
        .filter(i -> i != place)
        .mapToLong(i -> shape[i])
        .toArray();
  }

  private static long results(int axis, long... shape) {
    return Arrays.stream(without(axis, shape)).reduce(1, (a, b) -> a * b);
  }

  private double[] segments(
      Reduction reduction, ElementType<?> type, double[] values, long... offsets) {
    try (DeviceBuffer<?> in = context.allocate(type, values.length, stream);
        DeviceBuffer<ElementType.I64> ends = context.allocate(I64, offsets.length, stream);
        DeviceBuffer<?> out =
            context.allocate(reduction.op().resultType(type), offsets.length - 1, stream)) {
      Tensors.write(in, values);
      ends.copyFrom(offsets);
      Tensors.poison(out, stream);
      reduction.segments(
          TensorView.of(in, values.length),
          TensorView.of(ends, offsets.length),
          TensorView.of(out, offsets.length - 1),
          stream);
      return Tensors.readAny(out);
    }
  }

  private double all(Reduction reduction, ElementType<?> type, double[] values, long... shape) {
    try (DeviceBuffer<?> in = context.allocate(type, values.length, stream);
        DeviceBuffer<?> out = context.allocate(reduction.op().resultType(type), 1, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      reduction.all(TensorView.of(in, shape), TensorView.of(out), stream);
      return Tensors.readAny(out)[0];
    }
  }

  /** A compensated sum is as good as its rounding to the result, relative to what was added up. */
  static void judge(Reduction.Op op, ElementType<?> type, double[] values, double actual) {
    double truth = ReductionReference.valueOf(op.name()).of(values);
    double unit = type == F64 ? 0x1p-53 : 0x1p-24;
    double magnitude = ReductionReference.sumOfMagnitudes(values);
    double allowed =
        switch (op) {
          case SUM -> 4 * unit * magnitude;
          case MEAN -> 4 * unit * magnitude / Math.max(values.length, 1);
          case MAX, MIN, ARGMAX, ARGMIN -> 0;
          case LOGSUMEXP -> 32 * unit * (1 + Math.abs(truth));
          case L2_NORM -> 8 * unit * truth;
        };
    ElementType<?> resultType = op.resultType(type);
    if (resultType.isFloating()) {
      truth = Tensors.storage(resultType).round(truth); // which may be infinite
    }
    Judgement.assertClose(
        new double[] {truth}, new double[] {actual}, 0, Double.isFinite(allowed) ? allowed : 0);
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("opsAndTypes")
  @DisplayName("the last axis, of many lengths, equals the float64 truth")
  void lastAxisEqualsTheTruth(Reduction.Op op, String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    Reduction reduction = Reduction.of(context, op);
    for (int length : new int[] {1, 2, 31, 32, 33, 255, 256, 257, 1023, 5000}) {
      double[] values = HardInput.NORMAL.rows(3, length, Tensors.storage(type), length);
      double[] actual = lastAxis(reduction, type, values, 3, length);
      for (int row = 0; row < 3; row++) {
        judge(op, type, Arrays.copyOfRange(values, row * length, (row + 1) * length), actual[row]);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Reduction.Op.class)
  @DisplayName("few long rows, in pieces, equal the float64 truth")
  void fewLongRowsEqualTheTruth(Reduction.Op op) {
    int length = 40_001;
    Reduction reduction = Reduction.of(context, op);
    double[] values = HardInput.NORMAL.rows(3, length, StorageType.F32, 6);
    double[] actual = lastAxis(reduction, F32, values, 3, length);
    for (int row = 0; row < 3; row++) {
      judge(op, F32, Arrays.copyOfRange(values, row * length, (row + 1) * length), actual[row]);
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("opsAndTypes")
  @DisplayName("all elements, below, at and above a chunk, equal the float64 truth")
  void allEqualsTheTruth(Reduction.Op op, String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    Reduction reduction = Reduction.of(context, op);
    for (int count : new int[] {1, 1000, 16383, 16384, 16385, 32768, 50_001}) {
      double[] values = HardInput.NORMAL.row(count, Tensors.storage(type), count);
      judge(op, type, values, all(reduction, type, values, count));
    }
  }

  @Test
  void allTakesAnyRankAndRepeatsBitForBit() {
    Reduction sum = Reduction.of(context, Reduction.Op.SUM);
    double[] values = HardInput.NORMAL.row(40_000, StorageType.F32, 2);
    double flat = all(sum, F32, values, 40_000);
    assertEquals(flat, all(sum, F32, values, 2, 200, 100));
    assertEquals(flat, all(sum, F32, values, 40_000, 1));
    for (int i = 0; i < 3; i++) {
      assertEquals(flat, all(sum, F32, values, 40_000));
    }
    assertEquals(5, all(sum, F32, new double[] {5}));
  }

  @Test
  @DisplayName("a mean divides by the number of all elements, not of a chunk")
  void meanOfAll() {
    double[] ones = new double[100_000];
    Arrays.fill(ones, 3);
    assertEquals(3, all(Reduction.of(context, Reduction.Op.MEAN), F32, ones, 1000, 100));
  }

  @Test
  @DisplayName("a sum that loses everything without compensation")
  void sumsAreCompensated() {
    double[] values = new double[30_000];
    Arrays.fill(values, 1);
    values[0] = 1e8;
    values[29_999] = -1e8;
    Reduction sum = Reduction.of(context, Reduction.Op.SUM);
    assertEquals(29_998, lastAxis(sum, F32, values, 1, 30_000)[0]);
    assertEquals(29_998, all(sum, F32, values, 30_000));
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "bf16", "f32", "f64"})
  @DisplayName("what cancels between chunks takes nothing with it")
  void sumsAreCompensatedBetweenChunks(String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    double large = symbol.equals("f64") ? 0x1p53 : symbol.equals("f16") ? 0x1p15 : 0x1p25;
    double little = 0x1p-4;
    int half = 1 << 16;
    double[] values = new double[2 * half + 1];
    Arrays.fill(values, 0, half, large);
    Arrays.fill(values, half + 1, values.length, -large);
    values[half] = little;
    assertEquals(little, all(Reduction.of(context, Reduction.Op.SUM), type, values, values.length));
    assertEquals(
        little / values.length,
        all(Reduction.of(context, Reduction.Op.MEAN), type, values, values.length),
        little / values.length * 0x1p-24);
    for (int pieceLength : new int[] {16384, 1 << 20}) {
      assertEquals(little, inPieces(Reduction.Op.SUM, type, values, pieceLength));
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("opsAndTypes")
  @DisplayName("partial results joined on the host equal the float64 truth")
  void partialsEqualTheTruth(Reduction.Op op, String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    for (int count : new int[] {0, 1, 16384, 16385, 50_001}) {
      double[] values = HardInput.NORMAL.row(count, Tensors.storage(type), count);
      double whole = inPieces(op, type, values, 1 << 20);
      judge(op, type, values, whole);
      assertEquals(whole, inPieces(op, type, values, 2 * 16384), "in pieces");
    }
    assertEquals(op.isIndex() ? 1 : NAN, inPieces(op, type, new double[] {1, NAN, 2}, 16384));
    double[] infinite = new double[40_000];
    infinite[37_000] = INF;
    double expected = ReductionReference.valueOf(op.name()).of(infinite);
    assertEquals(expected, inPieces(op, type, infinite, 32768));
  }

  private double inPieces(Reduction.Op op, ElementType<?> type, double[] values, int pieceLength) {
    Reduction reduction = Reduction.of(context, op);
    ReductionTotal total = ReductionTotal.of(op, type);
    for (int from = 0; from == 0 || from < values.length; from += pieceLength) {
      double[] piece =
          Arrays.copyOfRange(values, from, Math.min(values.length, from + pieceLength));
      long length = reduction.partialLength(type, piece.length);
      try (DeviceBuffer<?> in = context.allocate(type, piece.length, stream);
          DeviceBuffer<?> out = context.allocate(op.partialType(type), length, stream)) {
        Tensors.write(in, piece);
        Tensors.poison(out, stream);
        reduction.partials(TensorView.of(in, piece.length), TensorView.of(out, length), stream);
        MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(out.byteSize())]);
        out.copyTo(host);
        total.add(host, piece.length);
      }
    }
    return op.isIndex()
        ? (double) total.longValue()
        : Tensors.storage(op.resultType(type)).round(total.doubleValue());
  }

  @ParameterizedTest
  @EnumSource(Reduction.Op.class)
  @DisplayName("contracts: of nothing the identity, and no index")
  void nothing(Reduction.Op op) {
    Reduction reduction = Reduction.of(context, op);
    assertEquals(0, lastAxis(reduction, F32, new double[0], 0, 3).length);
    assertEquals(0, lastAxis(reduction, F32, new double[0], 0, 0).length);
    if (op.isIndex()) {
      assertTells(
          assertThrows(
              IllegalArgumentException.class, () -> lastAxis(reduction, F32, new double[0], 2, 0)),
          "no index",
          "0 elements");
      assertThrows(IllegalArgumentException.class, () -> all(reduction, F32, new double[0], 0, 3));
      assertThrows(
          IllegalArgumentException.class, () -> along(0, reduction, F32, new double[0], 0, 3));
      return;
    }
    double expected = ReductionReference.valueOf(op.name()).of();
    double[] rows = lastAxis(reduction, F32, new double[0], 2, 0);
    assertArrayEquals(new double[] {expected, expected}, rows);
    assertArrayEquals(rows, along(0, reduction, F32, new double[0], 0, 2));
    assertEquals(expected, all(reduction, F32, new double[0], 0, 3));
  }

  @ParameterizedTest
  @EnumSource(Reduction.Op.class)
  @DisplayName("contracts: NaN anywhere gives NaN, infinities stay")
  void specials(Reduction.Op op) {
    Reduction reduction = Reduction.of(context, op);
    ReductionReference reference = ReductionReference.valueOf(op.name());
    for (int place : new int[] {0, 1, 300, 998}) {
      for (double special : new double[] {NAN, INF, -INF}) {
        double[] values = new double[999];
        values[place] = special;
        double[] actual = {
          lastAxis(reduction, F32, values, 1, 999)[0],
          all(reduction, F32, values, 999),
          along(0, reduction, F32, values, 999, 1)[0],
          segments(reduction, F32, values, 0, 999)[0]
        };
        for (double one : actual) {
          assertEquals(reference.of(values), one, 1e-6, () -> special + " at " + place);
        }
      }
    }
    assertEquals(reference.of(INF, -INF), all(reduction, F32, new double[] {INF, -INF}, 2));
    assertEquals(reference.of(-INF, -INF), all(reduction, F32, new double[] {-INF, -INF}, 2));
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("opsAndTypes")
  @DisplayName("strided and unaligned rows equal contiguous ones bit for bit")
  void stridedRowsEqualContiguousOnes(Reduction.Op op, String symbol) {
    stridedRows(Reduction.of(context, op), ElementType.of(symbol));
  }

  private <E extends ElementType<E>> void stridedRows(Reduction reduction, ElementType<E> type) {
    double[] values = HardInput.NORMAL.rows(4, 33, Tensors.storage(type), 1);
    double[] dense = lastAxis(reduction, type, values, 2, 2, 33);
    double[] padded = new double[4 * 40 + 3];
    Arrays.fill(padded, NAN);
    for (int row = 0; row < 4; row++) {
      System.arraycopy(values, row * 33, padded, 3 + row * 40, 33);
    }
    try (DeviceBuffer<E> in = context.allocate(type, padded.length, stream);
        DeviceBuffer<?> out = context.allocate(reduction.op().resultType(type), 4, stream)) {
      Tensors.write(in, padded);
      reduction.lastAxis(
          TensorView.strided(
              in.view(3, in.length()), new long[] {2, 2, 33}, new long[] {80, 40, 1}),
          TensorView.of(out, 2, 2),
          stream);
      assertArrayEquals(dense, Tensors.readAny(out));
    }
  }

  /** Outer, the axis, inner; lengths around what a thread, a block and a piece read at once. */
  static List<long[]> shapes() {
    return List.of(
        new long[] {1, 1, 1},
        new long[] {1, 1000, 3},
        new long[] {3, 17, 40},
        new long[] {2, 129, 5},
        new long[] {300, 2, 7},
        new long[] {1, 4099, 8},
        new long[] {1, 5, 2000},
        new long[] {0, 5, 3},
        new long[] {2, 5, 0});
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("opsAndTypes")
  @DisplayName("the middle axis and the first equal the float64 truth of each column")
  void anyAxisEqualsTheTruth(Reduction.Op op, String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    Reduction reduction = Reduction.of(context, op);
    for (long[] shape : shapes()) {
      int outer = (int) shape[0];
      int length = (int) shape[1];
      int columns = (int) shape[2];
      double[] values = HardInput.NORMAL.row(outer * length * columns, Tensors.storage(type), 5);
      double[] actual = along(1, reduction, type, values, shape);
      assertEquals(outer * columns, actual.length);
      for (int o = 0; o < outer; o++) {
        for (int c = 0; c < columns; c++) {
          double[] column = new double[length];
          for (int i = 0; i < length; i++) {
            column[i] = values[(o * length + i) * columns + c];
          }
          judge(op, type, column, actual[o * columns + c]);
        }
      }
      if (outer == 1) {
        assertArrayEquals(actual, along(0, reduction, type, values, length, columns, 1));
        assertArrayEquals(actual, along(-2, reduction, type, values, length, columns));
      }
      if (columns == 1) {
        assertArrayEquals(actual, lastAxis(reduction, type, values, outer, length));
      }
    }
  }

  private static <E extends ElementType<E>> TensorView<E> transposed(
      DeviceBuffer<E> in, long rows, long columns) {
    return TensorView.strided(in, new long[] {columns, rows}, new long[] {1, columns});
  }

  @Test
  @DisplayName("a last axis with gaps is walked, one that cannot be is refused in words")
  void stridesOfAnAxis() {
    Reduction sum = Reduction.of(context, Reduction.Op.SUM);
    double[] values = HardInput.NORMAL.row(6 * 50, StorageType.F32, 9);
    double[] wanted = along(0, sum, F32, values, 6, 50);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, values.length, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 50, stream)) {
      Tensors.write(in, values);
      TensorView<ElementType.F32> view = transposed(in, 6, 50);
      TensorView<ElementType.F32> results = TensorView.of(out, 50);
      sum.along(1, view, results, stream);
      for (int i = 0; i < 50; i++) {
        assertEquals(wanted[i], Tensors.read(out)[i], 1e-5);
      }
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> sum.along(0, view, TensorView.of(out.view(0, 6), 6), stream)),
          "behind axis 0 lie 50 apart",
          "copy them together");
      assertTells(
          assertThrows(IndexOutOfBoundsException.class, () -> sum.along(2, view, results, stream)),
          "no axis 2");
      assertThrows(IndexOutOfBoundsException.class, () -> sum.along(-3, view, results, stream));
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("opsAndTypes")
  @DisplayName("segments of all lengths, empty ones too, equal the float64 truth")
  void segmentsEqualTheTruth(Reduction.Op op, String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    Reduction reduction = Reduction.of(context, op);
    ReductionReference reference = ReductionReference.valueOf(op.name());
    for (long[] offsets :
        List.of(
            new long[] {0},
            new long[] {5},
            new long[] {0, 0, 0},
            new long[] {0, 1, 1, 4, 9, 40, 300, 301},
            new long[] {2, 3, 90_000, 90_000, 90_001, 91_000, 100_003},
            new long[] {0, 100_003, 100_003})) {
      int count = (int) offsets[offsets.length - 1];
      double[] values = HardInput.NORMAL.row(count, Tensors.storage(type), 8);
      double[] actual = segments(reduction, type, values, offsets);
      for (int s = 0; s < actual.length; s++) {
        double[] part = Arrays.copyOfRange(values, (int) offsets[s], (int) offsets[s + 1]);
        if (part.length == 0) {
          assertEquals(reference.of(), actual[s]);
        } else {
          judge(op, type, part, actual[s]);
        }
      }
      assertArrayEquals(actual, segments(reduction, type, values, offsets), "repeats");
    }
  }

  @Test
  @DisplayName("offsets that make no sense are clamped, and I32 serves as well")
  void senselessOffsets() {
    double[] ones = new double[70_000];
    Arrays.fill(ones, 1);
    Reduction sum = Reduction.of(context, Reduction.Op.SUM);
    long[] offsets = {-5, 10, 7, Long.MAX_VALUE, 69_000, 1L << 40, Long.MIN_VALUE};
    double[] expected = {10, 0, 69_993, 0, 1000, 0};
    assertArrayEquals(expected, segments(sum, F32, ones, offsets));
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, ones.length, stream);
        DeviceBuffer<ElementType.I32> ends = context.allocate(I32, 3, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 2, stream)) {
      Tensors.write(in, ones);
      ends.copyFrom(new int[] {-1, 69_999, Integer.MAX_VALUE});
      sum.segments(
          TensorView.of(in, 7, 10_000), TensorView.of(ends, 3), TensorView.of(out, 2), stream);
      assertArrayEquals(new double[] {69_999, 1}, Tensors.read(out));
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = HardInput.class,
      names = {
        "SIGNED_ZEROS",
        "HUGE",
        "TINY",
        "DENORMAL",
        "MIXED",
        "ALTERNATING_SIGNS",
        "ABOVE_1000",
        "ALL_NEGATIVE_INFINITY",
        "LEADING_NEGATIVE_INFINITY",
        "POSITIVE_INFINITY",
        "NAN"
      })
  @DisplayName("hard inputs, by every way to the result")
  void hardInputs(HardInput input) {
    for (Reduction.Op op : Reduction.Op.values()) {
      boolean adds = op == Reduction.Op.SUM || op == Reduction.Op.MEAN;
      if (adds && input == HardInput.HUGE) {
        continue; // sums on the way are infinite
      }
      Reduction reduction = Reduction.of(context, op);
      double[] values = input.row(20_001, StorageType.F32, 4);
      double[] ways = {
        all(reduction, F32, values, values.length),
        lastAxis(reduction, F32, values, 1, values.length)[0],
        along(0, reduction, F32, values, values.length, 1)[0],
        segments(reduction, F32, values, 0, values.length)[0],
        inPieces(op, F32, values, 16384)
      };
      for (double actual : ways) {
        judge(op, F32, values, actual);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"i32", "i64"})
  @DisplayName("integers are exact, sums wrap around beyond 64 bits, means do not")
  void integers(String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    long[] values = new SplittableRandom(3).longs(40_001).toArray();
    if (type == I32) {
      values = Arrays.stream(values).map(x -> (int) x).toArray();
    }
    values[39_000] = values[12_345] = type == I32 ? Integer.MAX_VALUE : Long.MAX_VALUE;
    values[39_001] = values[20_000] = type == I32 ? Integer.MIN_VALUE : Long.MIN_VALUE;
    for (Reduction.Op op : Reduction.Op.values()) {
      Reduction reduction = Reduction.of(context, op);
      if (op == Reduction.Op.LOGSUMEXP || op == Reduction.Op.L2_NORM) {
        assertTells(
            assertThrows(IllegalArgumentException.class, () -> op.resultType(type)),
            "integers",
            op.name());
        continue;
      }
      try (DeviceBuffer<?> in = context.allocate(type, values.length, stream)) {
        Tensors.writeIntegers(in, values);
        TensorView<?> flat = TensorView.of(in, values.length);
        if (op == Reduction.Op.MEAN) {
          double mean = ReductionReference.meanOfIntegers(values);
          assertEquals(mean, reduction.allAsDouble(flat, stream), Math.ulp(mean));
          assertThrows(IllegalArgumentException.class, () -> reduction.allAsLong(flat, stream));
          continue;
        }
        ReductionReference reference = ReductionReference.valueOf(op.name());
        assertEquals(reference.ofIntegers(values), reduction.allAsLong(flat, stream));
        assertThrows(IllegalArgumentException.class, () -> reduction.allAsDouble(flat, stream));
        integerColumns(reduction, type, values, in, reference);
      }
    }
  }

  private void integerColumns(
      Reduction reduction,
      ElementType<?> type,
      long[] values,
      DeviceBuffer<?> in,
      ReductionReference reference) {
    int columns = 13;
    int rows = values.length / columns;
    try (DeviceBuffer<?> out = context.allocate(reduction.op().resultType(type), columns, stream)) {
      reduction.along(0, TensorView.of(in, rows, columns), TensorView.of(out, columns), stream);
      long[] actual = Tensors.readIntegers(out);
      for (int c = 0; c < columns; c++) {
        int column = c;
        long[] of = IntStream.range(0, rows).mapToLong(r -> values[r * columns + column]).toArray();
        assertEquals(reference.ofIntegers(of), actual[c]);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Reduction.Op.class)
  @DisplayName("partial results along an axis, wherever it is cut, join to the whole")
  void partialsAlongAnAxis(Reduction.Op op) {
    int rows = 3001;
    int columns = 5;
    double[] values = HardInput.MIXED.rows(rows, columns, StorageType.F32, 11);
    Reduction reduction = Reduction.of(context, op);
    List<ReductionTotal> totals = new ArrayList<>();
    for (int c = 0; c < columns; c++) {
      totals.add(ReductionTotal.of(op, F32));
    }
    for (int from = 0, next; from < rows; from = next) {
      next = Math.min(rows, from == 0 ? 1 : 3 * from);
      double[] piece = Arrays.copyOfRange(values, from * columns, next * columns);
      try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, piece.length, stream)) {
        Tensors.write(in, piece);
        TensorView<?> view = TensorView.of(in, next - from, columns);
        long length = reduction.partialLengthAlong(0, view);
        try (DeviceBuffer<?> out = context.allocate(op.partialType(F32), length, stream)) {
          reduction.partialsAlong(0, view, TensorView.of(out, length), stream);
          MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(out.byteSize())]);
          out.copyTo(host);
          long bytes = out.byteSize() / columns;
          for (int c = 0; c < columns; c++) {
            totals.get(c).add(host.asSlice(c * bytes, bytes), next - from);
          }
        }
      }
    }
    for (int c = 0; c < columns; c++) {
      double[] column = new double[rows];
      for (int r = 0; r < rows; r++) {
        column[r] = values[r * columns + c];
      }
      ReductionTotal total = totals.get(c);
      assertEquals(rows, total.elements());
      judge(op, F32, column, op.isIndex() ? (double) total.longValue() : total.doubleValue());
    }
  }

  @Test
  @DisplayName("a reduction that has run before allocates nothing")
  void allocatesNothing() {
    Reduction max = Reduction.of(context, Reduction.Op.MAX);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 8, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 2, stream)) {
      in.fill(3, stream);
      TensorView<ElementType.F32> from = TensorView.of(in, 1, 2, 4);
      TensorView<ElementType.F32> to = TensorView.of(out, 1, 2);
      Allocations.assertNone(
          () -> {
            max.lastAxis(from, to, stream);
            stream.synchronize();
          });
      assertEquals(3, Tensors.read(out)[1]);
    }
  }

  @Test
  @DisplayName("the kernel that reads is named, by the shape where few rows are cut into pieces")
  void theKernelIsNamed() {
    Reduction mean = Reduction.of(context, Reduction.Op.MEAN);
    assertEquals("culebra_reduce_sum_bf16", mean.kernelName(BF16, 1, 32_768));
    assertEquals("culebra_reduce_sum_states_bf16", mean.kernelName(BF16, 1, 32_769));
    assertEquals(mean.partialKernelName(BF16), mean.kernelName(BF16, 511, 1 << 20));
    assertEquals("culebra_reduce_sum_bf16", mean.kernelName(BF16, 512, 1 << 20));
    Reduction max = Reduction.of(context, Reduction.Op.MAX);
    assertEquals("culebra_reduce_max_f32", max.kernelName(F32, 1, 1 << 20), "states are results");
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> max.kernelName(F32, -1, 5)), "-1 rows");
  }

  /** As many packs as make the plan take threads from the rows: ColumnPlanTest. */
  @Test
  @DisplayName("short columns of very many matrices equal the float64 truth")
  void shortColumnsOfManyMatrices() {
    int matrices = 262_147;
    int rows = 7;
    int columns = 4;
    double[] block = HardInput.NORMAL.row(1009, StorageType.F32, 18);
    double[] values = new double[matrices * rows * columns];
    Arrays.setAll(values, i -> block[i % block.length]);
    int results = matrices * columns;
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, values.length, stream)) {
      Tensors.write(in, values);
      for (Reduction.Op op : List.of(Reduction.Op.SUM, Reduction.Op.ARGMAX)) {
        try (DeviceBuffer<?> out = context.allocate(op.resultType(F32), results, stream)) {
          Tensors.poison(out, stream);
          Reduction.of(context, op)
              .along(
                  1,
                  TensorView.of(in, matrices, rows, columns),
                  TensorView.of(out, matrices, columns),
                  stream);
          double[] actual = Tensors.readAny(out);
          double[] column = new double[rows];
          for (int i = 0; i < results; i++) {
            for (int row = 0; row < rows; row++) {
              column[row] = values[(i / columns * rows + row) * columns + i % columns];
            }
            judge(op, F32, column, actual[i]);
          }
        }
      }
    }
  }

  @Test
  @DisplayName("offsets that overlap more than there is room for pieces: right, if not to the bit")
  void overlappingLongSegments() {
    int elements = 60_000;
    int segments = 20;
    double[] values = HardInput.NORMAL.row(elements, StorageType.F32, 17);
    // Every other segment is nearly all of the input, those between are empty.
    long[] offsets = new long[2 * segments];
    for (int s = 0; s < segments; s++) {
      offsets[2 * s] = s;
      offsets[2 * s + 1] = (long) elements - s;
    }
    for (Reduction.Op op : List.of(Reduction.Op.SUM, Reduction.Op.ARGMAX, Reduction.Op.MAX)) {
      ElementType<?> result = op.resultType(F32);
      try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, elements, stream);
          DeviceBuffer<ElementType.I64> ends =
              context.allocate(ElementType.I64, offsets.length, stream);
          DeviceBuffer<?> out = context.allocate(result, offsets.length - 1L, stream)) {
        Tensors.write(in, values);
        Tensors.writeIntegers(ends, offsets);
        Reduction.of(context, op)
            .segments(
                TensorView.of(in, elements),
                TensorView.of(ends, offsets.length),
                TensorView.of(out, out.length()),
                stream);
        double[] actual = Tensors.readAny(out);
        for (int s = 0; s < segments; s++) {
          double[] of = Arrays.copyOfRange(values, s, elements - s);
          judge(op, F32, of, actual[2 * s]);
        }
      }
    }
  }

  @Test
  void whatCannotBeIsRefused() {
    Reduction max = Reduction.of(context, Reduction.Op.MAX);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 10, stream);
        DeviceBuffer<ElementType.F64> doubles = context.allocate(F64, 10, stream)) {
      TensorView<ElementType.F32> square = TensorView.of(in, 10, 10);
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> max.lastAxis(square, TensorView.of(doubles, 10), stream)),
          "result of F32 is F32",
          "F64");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> max.lastAxis(square, TensorView.of(out, 2, 5), stream)),
          "shape [10]");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> max.lastAxis(square, TensorView.of(in.view(90, 100), 10), stream)),
          "overlap");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> max.all(square.slice(1, 0, 5), TensorView.of(out.view(0, 1)), stream)),
          "has gaps");
      assertTells(
          assertThrows(
              IllegalArgumentException.class, () -> max.all(square, TensorView.of(out, 2), stream)),
          "is one");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> max.partials(square, TensorView.of(out, 2), stream)),
          "have 1 elements, the output has 2");
    }
  }
}
