package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
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
        DeviceBuffer<?> out = context.allocate(Reduction.resultType(type), rows, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      reduction.lastAxis(
          TensorView.of(in, shape),
          TensorView.of(out, Arrays.copyOf(shape, shape.length - 1)),
          stream);
      return Tensors.read(out);
    }
  }

  private double all(Reduction reduction, ElementType<?> type, double[] values, long... shape) {
    try (DeviceBuffer<?> in = context.allocate(type, values.length, stream);
        DeviceBuffer<?> out = context.allocate(Reduction.resultType(type), 1, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      reduction.all(TensorView.of(in, shape), TensorView.of(out), stream);
      return Tensors.read(out)[0];
    }
  }

  /** A compensated sum is as good as its rounding to the result, relative to what was added up. */
  private static void judge(Reduction.Op op, ElementType<?> type, double[] values, double actual) {
    double truth = ReductionReference.valueOf(op.name()).of(values);
    double unit = Tensors.storage(Reduction.resultType(type)).unitRoundoff();
    double magnitude = ReductionReference.sumOfMagnitudes(values);
    double allowed =
        switch (op) {
          case SUM -> 4 * unit * magnitude;
          case MEAN -> 4 * unit * magnitude / Math.max(values.length, 1);
          case MAX, MIN -> 0;
        };
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
    assertEquals(NAN, inPieces(op, type, new double[] {1, NAN, 2}, 16384));
    double[] infinite = new double[20_000];
    infinite[17_000] = INF;
    assertEquals(op == Reduction.Op.MIN ? 0 : INF, inPieces(op, type, infinite, 16384));
  }

  private double inPieces(Reduction.Op op, ElementType<?> type, double[] values, int pieceLength) {
    Reduction reduction = Reduction.of(context, op);
    ReductionTotal total = ReductionTotal.of(op);
    for (int from = 0; from == 0 || from < values.length; from += pieceLength) {
      double[] piece =
          Arrays.copyOfRange(values, from, Math.min(values.length, from + pieceLength));
      long length = reduction.partialLength(type, piece.length);
      try (DeviceBuffer<?> in = context.allocate(type, piece.length, stream);
          DeviceBuffer<?> out = context.allocate(Reduction.resultType(type), length, stream)) {
        Tensors.write(in, piece);
        Tensors.poison(out, stream);
        reduction.partials(TensorView.of(in, piece.length), TensorView.of(out, length), stream);
        MemorySegment host = MemorySegment.ofArray(new byte[Math.toIntExact(out.byteSize())]);
        out.copyTo(host);
        total.add(host, out.type());
      }
    }
    return total.value(values.length);
  }

  @Test
  @DisplayName("contracts: of nothing, sum 0, mean NaN, max -inf, min +inf")
  void nothing() {
    for (Reduction.Op op : Reduction.Op.values()) {
      double expected =
          switch (op) {
            case SUM -> 0;
            case MEAN -> NAN;
            case MAX -> -INF;
            case MIN -> INF;
          };
      Reduction reduction = Reduction.of(context, op);
      double[] rows = lastAxis(reduction, F32, new double[0], 2, 0);
      assertArrayEquals(new double[] {expected, expected}, rows, op.name());
      assertEquals(expected, all(reduction, F32, new double[0], 0, 3), op.name());
      assertEquals(0, lastAxis(reduction, F32, new double[0], 0, 3).length);
    }
  }

  @ParameterizedTest
  @EnumSource(Reduction.Op.class)
  @DisplayName("contracts: NaN anywhere gives NaN, infinities stay")
  void specials(Reduction.Op op) {
    Reduction reduction = Reduction.of(context, op);
    for (int place : new int[] {0, 1, 300, 998}) {
      double[] values = new double[999];
      values[place] = NAN;
      assertEquals(NAN, lastAxis(reduction, F32, values, 1, 999)[0]);
      assertEquals(NAN, all(reduction, F32, values, 999));
      values[place] = -INF;
      double expected = op == Reduction.Op.MAX ? 0 : -INF;
      assertEquals(expected, lastAxis(reduction, F32, values, 1, 999)[0]);
      assertEquals(expected, all(reduction, F32, values, 999));
    }
    assertEquals(
        op == Reduction.Op.MAX ? INF : op == Reduction.Op.MIN ? -INF : NAN,
        all(reduction, F32, new double[] {INF, -INF}, 2));
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
        DeviceBuffer<?> out = context.allocate(Reduction.resultType(type), 4, stream)) {
      Tensors.write(in, padded);
      reduction.lastAxis(
          TensorView.strided(
              in.view(3, in.length()), new long[] {2, 2, 33}, new long[] {80, 40, 1}),
          TensorView.of(out, 2, 2),
          stream);
      assertArrayEquals(dense, Tensors.read(out));
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
  void theKernelIsNamed() {
    assertEquals(
        "culebra_reduce_sum_bf16", Reduction.of(context, Reduction.Op.MEAN).kernelName(BF16));
    assertEquals(F32, Reduction.resultType(BF16));
    assertEquals(F64, Reduction.resultType(F64));
    assertThrows(IllegalArgumentException.class, () -> Reduction.resultType(I32));
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
