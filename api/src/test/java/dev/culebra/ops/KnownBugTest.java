package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.I64;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceTier;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.ReductionReference;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The smallest inputs that broke the reductions, softmaxes, top-ks and samplers of others, by the
 * numbers of kernels.md 4; those that take a GPU's memory are in the classes of {@link
 * LargeTensors}.
 */
class KnownBugTest extends DeviceTier {
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final double NAN = Double.NaN;
  private static final List<ElementType<?>> TYPES = List.of(F32, F16, BF16);

  /** What came of a top-k. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Best(double[] values, long[] places) {}

  private <E extends ElementType<E>> Best topK(
      TopK operation, ElementType<E> type, int rows, double... values) {
    int k = operation.k();
    try (DeviceBuffer<E> in = context.allocate(type, values.length, stream);
        DeviceBuffer<E> out = context.allocate(type, (long) rows * k, stream);
        DeviceBuffer<ElementType.I64> places = context.allocate(I64, (long) rows * k, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      Tensors.poison(places, stream);
      operation.forward(
          TensorView.of(in, rows, values.length / rows),
          TensorView.of(out, rows, k),
          TensorView.of(places, rows, k),
          stream);
      return new Best(Tensors.read(out), Tensors.readIntegers(places));
    }
  }

  private <E extends ElementType<E>> double[] softmax(
      Softmax operation, ElementType<E> type, int rows, double... values) {
    try (DeviceBuffer<E> in = context.allocate(type, values.length, stream);
        DeviceBuffer<E> out = context.allocate(type, values.length, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      operation.forward(
          TensorView.of(in, rows, values.length / rows),
          TensorView.of(out, rows, values.length / rows),
          stream);
      return Tensors.read(out);
    }
  }

  private long index(Reduction.Op op, ElementType<?> type, double... values) {
    try (DeviceBuffer<?> in = context.allocate(type, values.length, stream)) {
      Tensors.write(in, values);
      return Reduction.of(context, op).allAsLong(TensorView.of(in, values.length), stream);
    }
  }

  private long[] tokens(Sampling sampling, int rows, double... logits) {
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, logits.length, stream);
        DeviceBuffer<ElementType.I32> out = context.allocate(I32, rows, stream)) {
      Tensors.write(in, logits);
      Tensors.poison(out, stream);
      sampling.forward(
          TensorView.of(in, rows, logits.length / rows), TensorView.of(out, rows), 0, stream);
      return Tensors.readIntegers(out);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Softmax.Algorithm.class,
      names = {"NAIVE", "SAFE", "ONLINE", "FUSED"})
  @DisplayName(
      "16: more rows than a grid's y and z have, of every algorithm in one launch (pytorch#142228)")
  void moreRowsThanAGridIsHigh(Softmax.Algorithm algorithm) {
    manyRows(algorithm, 65_537);
  }

  /** A block a row and more: on the emulator fewer rows. */
  @Test
  @DisplayName("16: the checks of the next, with few rows")
  void fewRowsOfManyBlocks() {
    rowsOfManyBlocks(1003);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("16: the same of softmax in pieces, of sampling and of top-k")
  void moreRowsOfManyBlocks() {
    requireGpu();
    rowsOfManyBlocks(65_537);
  }

  private void rowsOfManyBlocks(int rows) {
    manyRows(Softmax.Algorithm.SPLIT, rows);
    double[] values = HardInput.NORMAL.rows(rows, 4, StorageType.F32, 80);
    long[] places =
        Arrays.stream(ReductionReference.ARGMAX.rows(values, rows, 4))
            .mapToLong(i -> (long) i)
            .toArray();
    assertArrayEquals(
        places, tokens(Sampling.of(context).withTemperature(0), rows, values), "tokens");
    assertArrayEquals(places, topK(TopK.of(context, 1), F32, rows, values).places(), "top-k");
  }

  private void manyRows(Softmax.Algorithm algorithm, int rows) {
    double[] values = HardInput.NORMAL.rows(rows, 3, StorageType.F32, 81);
    Judgement.assertClose(
        SoftmaxReference.rows(values, 3, 1, false),
        softmax(Softmax.of(context, algorithm), F32, rows, values),
        2e-6,
        0x1p-126);
  }

  @Test
  @DisplayName("16: the same of reductions and of columns")
  void moreRowsThanAGridIsHigh() {
    int rows = 65_537;
    double[] values = HardInput.NORMAL.rows(rows, 4, StorageType.F32, 82);
    double[] truth = ReductionReference.ARGMAX.rows(values, rows, 4);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, values.length, stream);
        DeviceBuffer<ElementType.I64> out = context.allocate(I64, rows, stream);
        DeviceBuffer<ElementType.F32> sums = context.allocate(F32, 2L * rows, stream)) {
      Tensors.write(in, values);
      Reduction.of(context, Reduction.Op.ARGMAX)
          .lastAxis(TensorView.of(in, rows, 4), TensorView.of(out, rows), stream);
      assertArrayEquals(truth, Tensors.readAny(out));
      // As many matrices of two rows and two columns.
      Reduction.of(context, Reduction.Op.SUM)
          .along(1, TensorView.of(in, rows, 2, 2), TensorView.of(sums, rows, 2), stream);
      double[] actual = Tensors.read(sums);
      for (int i = 0; i < actual.length; i++) {
        int top = i / 2 * 4 + i % 2;
        assertEquals((float) (values[top] + values[top + 2]), actual[i], 1e-6);
      }
    }
  }

  @Test
  @DisplayName("19: 9 rows of 1017 f64 (pytorch#154634)")
  void oddRowsOfDoubles() {
    double[] values = HardInput.NORMAL.rows(9, 1017, StorageType.F64, 83);
    for (Softmax.Algorithm algorithm : Softmax.Algorithm.values()) {
      Judgement.assertClose(
          SoftmaxReference.rows(values, 1017, 1, false),
          softmax(Softmax.of(context, algorithm), F64, 9, values),
          1e-13,
          1e-300);
    }
  }

  @Test
  @DisplayName("22, 35: no rows launch nothing and leave everything alone (flashinfer#1027)")
  void noRows() {
    try (DeviceBuffer<ElementType.F32> all = context.allocate(F32, 8, stream);
        DeviceBuffer<ElementType.I64> places = context.allocate(I64, 8, stream)) {
      all.fill(7, stream);
      places.as(ElementType.U8).fill(7, stream);
      TensorView<ElementType.F32> none = TensorView.of(all.view(0, 0), 0, 5);
      TensorView<ElementType.F32> noneToo = TensorView.of(all.view(4, 4), 0, 5);
      Softmax.of(context).forward(none, noneToo, stream);
      SoftmaxBackward.of(context).run(none, none, noneToo, stream);
      TopK.of(context, 2)
          .forward(
              none,
              TensorView.of(all.view(4, 4), 0, 2),
              TensorView.of(places.view(0, 0), 0, 2),
              stream);
      Sampling.of(context).forward(none, TensorView.of(places.view(0, 0), 0), 0, stream);
      Reduction.of(context, Reduction.Op.ARGMAX)
          .lastAxis(none, TensorView.of(places.view(0, 0), 0), stream);
      assertArrayEquals(new double[] {7, 7, 7, 7, 7, 7, 7, 7}, Tensors.read(all));
      assertEquals(0x0707070707070707L, Tensors.readIntegers(places)[0]);
    }
  }

  @Test
  @DisplayName("36: NaN of either sign is the largest, the first of them first (pytorch#16762)")
  void nanOfBothSigns() {
    double negativeNan = Double.longBitsToDouble(0xfff8000000000000L);
    for (ElementType<?> type : List.of(F32, F64)) {
      try (DeviceBuffer<?> in = context.allocate(type, 3, stream)) {
        if (type == F32) {
          in.as(I32).copyFrom(new int[] {0x7fc00000, 0x3f800000, 0xffc00000});
        } else {
          in.as(I64)
              .copyFrom(
                  new long[] {
                    Double.doubleToRawLongBits(NAN),
                    Double.doubleToRawLongBits(1),
                    Double.doubleToRawLongBits(negativeNan)
                  });
        }
        TensorView<?> row = TensorView.of(in, 3);
        assertEquals(0, Reduction.of(context, Reduction.Op.ARGMAX).allAsLong(row, stream));
        assertEquals(0, Reduction.of(context, Reduction.Op.ARGMIN).allAsLong(row, stream));
      }
    }
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 3, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 3, stream);
        DeviceBuffer<ElementType.I64> places = context.allocate(I64, 3, stream)) {
      in.as(I32).copyFrom(new int[] {0xffc00000, 0x3f800000, 0x7fc00000});
      for (int k : new int[] {1, 3}) {
        TopK.of(context, k)
            .withContent(TopK.Content.ELEMENTS)
            .forward(
                TensorView.of(in, 1, 3),
                TensorView.of(out.view(0, k), 1, k),
                TensorView.of(places.view(0, k), 1, k),
                stream);
        long[] order = {0, 2, 1};
        assertArrayEquals(
            Arrays.copyOf(order, k), Tensors.readIntegers(places.view(0, k)), "k = " + k);
      }
    }
  }

  @Test
  @DisplayName(
      "38: a one-hot row and a K beyond the vocabulary draw the hot token (flashinfer#384)")
  void oneHotAndHugeK() {
    int length = 1000;
    double[] logits = new double[length];
    Arrays.fill(logits, -INF);
    logits[0] = 0;
    for (int hot : new int[] {0, 617, length - 1}) {
      Arrays.fill(logits, -INF);
      logits[hot] = -3;
      for (int k : new int[] {1, length, 1_000_000}) {
        for (double p : new double[] {1e-6, 0.9, 1}) {
          Sampling sampling = Sampling.of(context).withTopK(k).withTopP(p).withSeed(k);
          assertArrayEquals(new long[] {hot}, tokens(sampling, 1, logits));
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64})
  @DisplayName(
      "73, 76: tokens are within the vocabulary, of tiny probabilities too (flashinfer#769)")
  void tokensWithinTheVocabulary(int rows) {
    int length = 32_000;
    double[] logits = new double[rows * length];
    // All but one of a probability near the smallest normal number.
    Arrays.fill(logits, -87);
    for (int row = 0; row < rows; row++) {
      logits[row * length + (row * 997) % length] = 0;
    }
    for (Sampling sampling :
        List.of(
            Sampling.of(context).withSeed(1),
            Sampling.of(context).withSeed(2).withTopP(0.999),
            Sampling.of(context).withSeed(3).withTopK(50))) {
      long[] drawn = tokens(sampling, rows, logits);
      for (int row = 0; row < rows; row++) {
        assertEquals((row * 997) % length, drawn[row], "the others have 10^-33 of the mass");
      }
    }
    Arrays.fill(logits, -87);
    for (long token : tokens(Sampling.of(context).withSeed(4), rows, logits)) {
      assertTrue(token >= 0 && token < length, () -> token + " of " + length);
    }
  }

  @Test
  @DisplayName("39: argmax of nothing but NaN or -inf is the first place (mlx#4274)")
  void argmaxOfNothingUsual() {
    for (ElementType<?> type : List.of(F32, F16, BF16, F64)) {
      for (int length : new int[] {1, 33, 5000}) {
        for (double all : new double[] {NAN, -INF, INF}) {
          double[] values = new double[length];
          Arrays.fill(values, all);
          assertEquals(0, index(Reduction.Op.ARGMAX, type, values));
          assertEquals(0, index(Reduction.Op.ARGMIN, type, values));
          values[length / 2] = all == -INF ? -1 : NAN;
          long first = Double.isNaN(all) ? 0 : length / 2;
          assertEquals(first, index(Reduction.Op.ARGMAX, type, values));
        }
      }
    }
  }

  @Test
  @DisplayName("41: a row of -inf is NaN, and its largest are the first places (online-softmax)")
  void rowOfNegativeInfinity() {
    for (ElementType<?> type : TYPES) {
      for (int length : new int[] {5, 300, 9000}) {
        double[] row = new double[length];
        Arrays.fill(row, -INF);
        double[] nothing = new double[length];
        Arrays.fill(nothing, NAN);
        for (Softmax.Algorithm algorithm : Softmax.Algorithm.values()) {
          assertArrayEquals(nothing, softmax(Softmax.of(context, algorithm), type, 1, row));
        }
        Best best = topK(TopK.of(context, 5), type, 1, row);
        assertArrayEquals(new long[] {0, 1, 2, 3, 4}, best.places());
        assertArrayEquals(new double[] {NAN, NAN, NAN, NAN, NAN}, best.values());
      }
    }
  }

  @Test
  @DisplayName("42: rows shorter than a warp, by every algorithm (llm.c)")
  void rowsShorterThanAWarp() {
    for (int length = 1; length < 34; length++) {
      double[] values = HardInput.PEAK_LAST.rows(2, length, StorageType.F32, 84);
      double[] truth = SoftmaxReference.rows(values, length, 1, false);
      for (Softmax.Algorithm algorithm : Softmax.Algorithm.values()) {
        if (algorithm != Softmax.Algorithm.NAIVE) { // whose exponentials may overflow
          Judgement.assertClose(
              truth, softmax(Softmax.of(context, algorithm), F32, 2, values), 2e-6, 0x1p-126);
        }
      }
    }
  }

  @Test
  @DisplayName("69 to 82: again and again, the same bits")
  void theSameBits() {
    int count = 60_000;
    double[] values = HardInput.MIXED.row(count, StorageType.F32, 85);
    long[] offsets = IntStream.rangeClosed(0, 60).mapToLong(i -> i * (i + 1L) / 2 * 32).toArray();
    offsets[60] = count;
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, count, stream);
        DeviceBuffer<ElementType.I64> ends = context.allocate(I64, offsets.length, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 600, stream)) {
      Tensors.write(in, values);
      ends.copyFrom(offsets);
      for (Reduction.Op op :
          List.of(Reduction.Op.SUM, Reduction.Op.LOGSUMEXP, Reduction.Op.L2_NORM)) {
        Reduction reduction = Reduction.of(context, op);
        double[] first = null;
        for (int run = 0; run < 5; run++) {
          Tensors.poison(out, stream);
          reduction.all(TensorView.of(in, count), TensorView.of(out.view(0, 1)), stream);
          reduction.lastAxis(
              TensorView.of(in, 3, count / 3), TensorView.of(out.view(1, 4), 3), stream);
          reduction.along(
              0, TensorView.of(in, count / 500, 500), TensorView.of(out.view(4, 504), 500), stream);
          reduction.segments(
              TensorView.of(in, count),
              TensorView.of(ends, offsets.length),
              TensorView.of(out.view(504, 564), 60),
              stream);
          double[] got = Tensors.read(out.view(0, 564));
          first = first == null ? got : first;
          assertArrayEquals(first, got, "run " + run);
        }
      }
    }
  }

  @Test
  @DisplayName("91, 95: of ties the lowest places, whatever K, size and type (pytorch#27542)")
  void tiesAtTheBoundary() {
    for (ElementType<?> type : TYPES) {
      for (int length : new int[] {1024, 5000, 20_000}) {
        for (int k : new int[] {1, 5, 64, 1000}) {
          long[] first = IntStream.range(0, k).asLongStream().toArray();
          assertArrayEquals(first, topK(TopK.of(context, k), type, 1, new double[length]).places());
        }
        double[] tied = new double[length];
        Arrays.fill(tied, -1);
        tied[length - 1] = 5;
        tied[length / 2] = 4;
        for (int at : new int[] {7, 300, length - 2, 9}) {
          tied[at] = 3; // four for the third place
        }
        assertArrayEquals(
            new long[] {length - 1, length / 2, 7},
            topK(TopK.of(context, 3), type, 1, tied).places());
        assertArrayEquals(
            new long[] {length - 1, length / 2, 7, 9, 300},
            topK(TopK.of(context, 5), type, 1, tied).places());
      }
    }
  }
}
