package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.U8;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceTier;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntBinaryOperator;
import java.util.function.IntToDoubleFunction;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SoftmaxMaskTest extends DeviceTier {

  private static final int ROWS = 6;
  private static final int LENGTH = 77;
  private static final double INF = Double.POSITIVE_INFINITY;

  private static final double[] LOGITS = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 3);

  /** Masked elements as -inf, which the unmasked truth gives no weight. */
  private static double[] truth(IntBinaryOperator counts, double scale, boolean log) {
    double[] masked = LOGITS.clone();
    for (int i = 0; i < masked.length; i++) {
      if (counts.applyAsInt(i / LENGTH, i % LENGTH) == 0) {
        masked[i] = scale < 0 ? INF : -INF;
      }
    }
    return SoftmaxReference.rows(masked, LENGTH, scale, log);
  }

  private double[] run(Softmax softmax, RowMask mask, long... shape) {
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, LOGITS.length, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, LOGITS.length, stream)) {
      Tensors.write(in, LOGITS);
      Tensors.poison(out, stream);
      softmax.forward(TensorView.of(in, shape), TensorView.of(out, shape), mask, stream);
      return Tensors.read(out);
    }
  }

  private static void judge(double[] truth, double[] actual) {
    Judgement.assertClose(truth, actual, 2e-6, 2e-5);
  }

  @ParameterizedTest
  @EnumSource(
      value = Softmax.Algorithm.class,
      names = {"SPLIT", "FUSED", "AUTO"})
  @DisplayName("row lengths: below 0 is 0, beyond the row is the row; what is beyond is 0")
  void lengths(Softmax.Algorithm algorithm) {
    int[] lengths = {LENGTH, 1, 40, LENGTH + 3, 0, -2};
    try (DeviceBuffer<ElementType.I32> counts = context.allocate(I32, ROWS, stream)) {
      counts.copyFrom(lengths);
      RowMask mask = RowMask.ofLengths(counts);
      for (boolean log : new boolean[] {false, true}) {
        Softmax softmax = Softmax.of(context, algorithm).withLog(log);
        double[] truth = truth((row, i) -> i < lengths[row] ? 1 : 0, 1, log);
        judge(truth, run(softmax, mask, ROWS, LENGTH));
        Arrays.fill(truth, 4 * LENGTH, ROWS * LENGTH, log ? -INF : 0);
        judge(truth, run(softmax.withZeroForEmptyRows(true), mask, ROWS, LENGTH));
      }
    }
  }

  @Test
  @DisplayName("a byte mask, with a negative scale, together with lengths")
  void elements() {
    byte[] bytes = new byte[ROWS * LENGTH];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i % 3 == 0 ? 0 : i);
    }
    int[] lengths = {LENGTH, 5, LENGTH, 60, 9, LENGTH};
    try (DeviceBuffer<ElementType.U8> mask = context.allocate(U8, bytes.length, stream);
        DeviceBuffer<ElementType.I32> counts = context.allocate(I32, ROWS, stream)) {
      mask.copyFrom(bytes);
      counts.copyFrom(lengths);
      RowMask both = RowMask.ofElements(TensorView.of(mask, 2, 3, LENGTH)).withLengths(counts);
      judge(
          truth((row, i) -> i < lengths[row] ? bytes[row * LENGTH + i] : 0, -0.5, false),
          run(Softmax.of(context).withScale(-0.5), both, 2, 3, LENGTH));
    }
  }

  @Test
  @DisplayName("a mask may repeat along any axes before the last")
  void repeated() {
    byte[] bytes = new byte[3 * LENGTH];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i % 5 < 3 ? 1 : 0);
    }
    try (DeviceBuffer<ElementType.U8> mask = context.allocate(U8, bytes.length, stream)) {
      mask.copyFrom(bytes);
      // For each of three, the same for both before: row r has mask r % 3.
      judge(
          truth((row, i) -> bytes[row % 3 * LENGTH + i], 1, false),
          run(
              Softmax.of(context),
              RowMask.ofElements(TensorView.of(mask, 1, 3, LENGTH)),
              2,
              3,
              LENGTH));
      // For each of two, the same for the three within: row r has mask r / 3.
      judge(
          truth((row, i) -> bytes[row / 3 * LENGTH + i], 1, false),
          run(
              Softmax.of(context),
              RowMask.ofElements(TensorView.of(mask.view(0, 2 * LENGTH), 2, 1, LENGTH)),
              2,
              3,
              LENGTH));
      judge(
          truth((row, i) -> bytes[i], 1, false),
          run(
              Softmax.of(context),
              RowMask.ofElements(TensorView.of(mask.view(0, LENGTH), 1, LENGTH)),
              ROWS,
              LENGTH));
    }
  }

  /** As the kernels have it: masked by -inf, whatever the scale is. */
  private static double[] truthOfSums(
      double[] logits, double scale, IntToDoubleFunction addend, boolean log) {
    double[] sums = new double[logits.length];
    for (int i = 0; i < sums.length; i++) {
      double added = addend.applyAsDouble(i);
      sums[i] = added == -INF ? -INF : scale * logits[i] + added;
    }
    return SoftmaxReference.rows(sums, LENGTH, 1, log);
  }

  @ParameterizedTest
  @EnumSource(
      value = Softmax.Algorithm.class,
      names = {"SPLIT", "FUSED", "AUTO"})
  @DisplayName("addends: scale * x + addend, of a row, of all rows, of groups of rows; -inf masks")
  void addends(Softmax.Algorithm algorithm) {
    double[] numbers = HardInput.SOME_NEGATIVE_INFINITY.rows(ROWS, LENGTH, StorageType.F32, 21);
    Softmax softmax = Softmax.of(context, algorithm).withScale(-0.75);
    try (DeviceBuffer<ElementType.F32> addends = context.allocate(F32, numbers.length, stream)) {
      Tensors.write(addends, numbers);
      for (boolean log : new boolean[] {false, true}) {
        Softmax either = softmax.withLog(log);
        judge(
            truthOfSums(LOGITS, -0.75, i -> numbers[i], log),
            run(either, RowMask.ofAddends(TensorView.of(addends, 2, 3, LENGTH)), 2, 3, LENGTH));
        judge(
            truthOfSums(LOGITS, -0.75, i -> numbers[i % LENGTH], log),
            run(
                either,
                RowMask.ofAddends(TensorView.of(addends.view(0, LENGTH), LENGTH)),
                ROWS,
                LENGTH));
        judge(
            truthOfSums(LOGITS, -0.75, i -> numbers[i % (3 * LENGTH)], log),
            run(
                either,
                RowMask.ofAddends(TensorView.of(addends.view(0, 3 * LENGTH), 3, LENGTH)),
                2,
                3,
                LENGTH));
        judge(
            truthOfSums(LOGITS, -0.75, i -> numbers[i / (3 * LENGTH) * LENGTH + i % LENGTH], log),
            run(
                either,
                RowMask.ofAddends(TensorView.of(addends.view(0, 2 * LENGTH), 2, 1, LENGTH)),
                2,
                3,
                LENGTH));
      }
    }
  }

  @ParameterizedTest
  @EnumSource(HardInput.class)
  @DisplayName("addends of hard logits, of every type and of F32, at every length class")
  void addendsOfEveryType(HardInput input) {
    Softmax softmax = Softmax.of(context);
    for (ElementType<?> type : List.of(ElementType.F16, ElementType.BF16, F32, ElementType.F64)) {
      for (ElementType<?> addendType : new ElementType<?>[] {type, F32}) {
        for (int length : new int[] {5, 600, 20_001}) {
          addendsOf(softmax, input, type, addendType, length);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {7, 133, 2051, 17_001})
  @DisplayName("wherever elements, addends and results begin, the bits are those of aligned ones")
  void unalignedAddends(int length) {
    Softmax softmax = Softmax.of(context);
    for (ElementType<?> type : List.of(ElementType.F16, ElementType.BF16, F32)) {
      double[] aligned = withAddendsAt(softmax, type, length, 0, 0, 0);
      // In fours at once, in twos, and with one alone at either end: by the element modulo 4.
      for (int places = 0; places < 4 * 4 * 4; places++) {
        int in = places % 4;
        int addends = places / 4 % 4;
        int out = places / 16;
        if (length > 200
            && (in == 3 || addends == 3 || out == 3 || (in + addends + out) % 3 != 0)) {
          continue;
        }
        assertArrayEquals(
            aligned,
            withAddendsAt(softmax, type, length, in, addends, out),
            () -> type + ", elements " + in + ", " + addends + " and " + out + " of their memory");
      }
    }
  }

  /** Two rows side by side, so that one of an odd length is aligned otherwise. */
  private <E extends ElementType<E>> double[] withAddendsAt(
      Softmax softmax, ElementType<E> type, int length, int in, int addends, int out) {
    int count = 2 * length;
    StorageType storage = Tensors.storage(type);
    try (DeviceBuffer<E> logits = context.allocate(type, in + count, stream);
        DeviceBuffer<E> added = context.allocate(type, addends + count, stream);
        DeviceBuffer<E> results = context.allocate(type, out + count + 4, stream)) {
      Tensors.write(logits.view(in, in + count), HardInput.NORMAL.row(count, storage, 24));
      Tensors.write(added.view(addends, addends + count), HardInput.NORMAL.row(count, storage, 25));
      results.fill(-5, stream);
      softmax.forward(
          TensorView.of(logits.view(in, in + count), 2, length),
          TensorView.of(results.view(out, out + count), 2, length),
          RowMask.ofAddends(TensorView.of(added.view(addends, addends + count), 2, length)),
          stream);
      double[] all = Tensors.read(results);
      for (int i = 0; i < all.length; i++) {
        assertEquals(i < out || i >= out + count, all[i] == -5, "what lies around is left alone");
      }
      return Arrays.copyOfRange(all, out, out + count);
    }
  }

  private <E extends ElementType<E>> void addendsOf(
      Softmax softmax,
      HardInput input,
      ElementType<E> type,
      ElementType<?> addendType,
      int length) {
    StorageType storage = Tensors.storage(type);
    double[] logits = input.row(length, storage, 22);
    double[] numbers = HardInput.NORMAL.row(length, Tensors.storage(addendType), 23);
    double[] sums = new double[length];
    for (int i = 0; i < length; i++) {
      sums[i] = logits[i] + numbers[i];
    }
    try (DeviceBuffer<E> memory = context.allocate(type, length, stream);
        DeviceBuffer<?> addends = context.allocate(addendType, length, stream)) {
      Tensors.write(memory, logits);
      Tensors.write(addends, numbers);
      TensorView<E> row = TensorView.of(memory, length);
      softmax.forward(row, row, RowMask.ofAddends(TensorView.of(addends, length)), stream);
      double[] truth = SoftmaxReference.rows(sums, length, 1, false);
      double[] actual = Tensors.read(memory);
      switch (storage) {
        // A sum of 10^4 is rounded by up to 2^-11; of F64 by 2^-40.
        case F64 -> Judgement.assertClose(truth, actual, 4e-12, 1e-13);
        case F32 -> Judgement.assertClose(truth, actual, 2e-3, 1e-6);
        default ->
            Judgement.assertAsGoodAsStraightforward(
                storage, truth, SoftmaxReference.rows(sums, length, 1, false, storage), actual);
      }
    }
  }

  @Test
  @DisplayName("what an addend of -inf masks may be NaN, and its gradient is 0 whatever dy is")
  void addendsHideWhatTheyMask() {
    double[] numbers = new double[LENGTH];
    double[] logits = LOGITS.clone();
    double[] gradient = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 24);
    for (int i = 0; i < LENGTH; i += 2) {
      numbers[i] = -INF;
      for (int row = 0; row < ROWS; row++) {
        logits[row * LENGTH + i] = i % 4 == 0 ? Double.NaN : INF;
        gradient[row * LENGTH + i] = Double.NaN;
      }
    }
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, logits.length, stream);
        DeviceBuffer<ElementType.F32> dy = context.allocate(F32, logits.length, stream);
        DeviceBuffer<ElementType.F32> addends = context.allocate(F32, LENGTH, stream)) {
      Tensors.write(in, logits);
      Tensors.write(dy, gradient);
      Tensors.write(addends, numbers);
      TensorView<ElementType.F32> rows = TensorView.of(in, ROWS, LENGTH);
      TensorView<ElementType.F32> dyRows = TensorView.of(dy, ROWS, LENGTH);
      Softmax softmax = Softmax.of(context).withScale(0.5);
      softmax.forward(rows, rows, RowMask.ofAddends(TensorView.of(addends, LENGTH)), stream);
      double[] y = Tensors.read(in);
      judge(truthOfSums(logits, 0.5, i -> numbers[i % LENGTH], false), y);
      softmax.backward(rows, dyRows, dyRows, stream);
      double[] dx = Tensors.read(dy);
      for (int row = 0; row < ROWS; row++) {
        double sum = 0;
        for (int i = row * LENGTH; i < (row + 1) * LENGTH; i++) {
          sum += y[i] == 0 ? 0 : y[i] * gradient[i];
        }
        for (int i = row * LENGTH; i < (row + 1) * LENGTH; i++) {
          double wanted = y[i] == 0 ? 0 : 0.5 * y[i] * (gradient[i] - sum);
          assertEquals(wanted, dx[i], 1e-6);
        }
      }
    }
  }

  @Test
  @DisplayName("rows of which addends leave nothing are NaN, or 0 on request; NaN and +inf spread")
  void addendsThatLeaveNothing() {
    double[] numbers = new double[ROWS * LENGTH];
    Arrays.fill(numbers, 0, LENGTH, -INF);
    numbers[LENGTH + 3] = Double.NaN;
    numbers[2 * LENGTH + 3] = INF;
    try (DeviceBuffer<ElementType.F32> addends = context.allocate(F32, numbers.length, stream)) {
      Tensors.write(addends, numbers);
      RowMask mask = RowMask.ofAddends(TensorView.of(addends, ROWS, LENGTH));
      double[] truth = truthOfSums(LOGITS, 1, i -> numbers[i], false);
      assertTrue(Arrays.stream(truth, 0, 3 * LENGTH).allMatch(Double::isNaN));
      judge(truth, run(Softmax.of(context), mask, ROWS, LENGTH));
      Arrays.fill(truth, 0, LENGTH, 0);
      judge(truth, run(Softmax.of(context).withZeroForEmptyRows(true), mask, ROWS, LENGTH));
    }
  }

  @Test
  @DisplayName("4.2: masks of the smallest finite number: data, so a row of them has equal shares")
  void addendsOfTheSmallestFiniteNumber() {
    for (ElementType<?> type : List.of(ElementType.F16, ElementType.BF16, F32)) {
      double least = -Tensors.storage(type).maxValue();
      double[] numbers = new double[2 * LENGTH];
      Arrays.fill(numbers, 0, LENGTH, least);
      Arrays.fill(numbers, LENGTH + 1, 2 * LENGTH, least); // all but the first
      try (DeviceBuffer<?> addends = context.allocate(type, numbers.length, stream)) {
        Tensors.write(addends, numbers);
        addendsOfTheSmallest(type, addends);
      }
    }
  }

  private <E extends ElementType<E>> void addendsOfTheSmallest(
      ElementType<E> type, DeviceBuffer<?> addends) {
    try (DeviceBuffer<E> memory = context.allocate(type, 2 * LENGTH, stream)) {
      memory.fill(2, stream);
      TensorView<E> rows = TensorView.of(memory, 2, LENGTH);
      Softmax.of(context)
          .forward(rows, rows, RowMask.ofAddends(TensorView.of(addends, 2, LENGTH)), stream);
      double[] actual = Tensors.read(memory);
      for (int i = 0; i < LENGTH; i++) {
        assertEquals(1.0 / LENGTH, actual[i], 0x1p-8 / LENGTH);
        assertEquals(i == 0 ? 1 : 0, actual[LENGTH + i]);
      }
    }
  }

  @Test
  void whatDoesNotFitIsRefused() {
    try (DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, ROWS * LENGTH, stream);
        DeviceBuffer<ElementType.I32> counts = context.allocate(I32, ROWS + 1, stream);
        DeviceBuffer<ElementType.F32> in = context.allocate(F32, ROWS * LENGTH, stream)) {
      TensorView<ElementType.F32> rows = TensorView.of(in, ROWS, LENGTH);
      Softmax softmax = Softmax.of(context);
      refused(softmax, rows, RowMask.ofLengths(counts), "7 row lengths", "6 rows");
      refused(
          softmax,
          rows,
          RowMask.ofElements(TensorView.of(bytes, LENGTH, ROWS)),
          "shape of the tensor");
      refused(
          softmax,
          rows,
          RowMask.ofLengths(in.view(0, ROWS).as(I32)),
          "the mask and the output overlap");
      refused(
          Softmax.of(context, Softmax.Algorithm.ONLINE),
          rows,
          RowMask.ofElements(TensorView.of(bytes, ROWS, LENGTH)),
          "ONLINE takes no mask");
      refused(
          softmax,
          rows,
          RowMask.ofAddends(TensorView.of(in.view(0, LENGTH), LENGTH)),
          "the mask and the output overlap");
      try (DeviceBuffer<ElementType.F64> doubles =
          context.allocate(ElementType.F64, LENGTH, stream)) {
        refused(
            softmax,
            rows,
            RowMask.ofAddends(TensorView.of(doubles, LENGTH)),
            "addends",
            "tensor's type or F32");
      }
      assertThrows(
          IllegalArgumentException.class, () -> RowMask.ofAddends(TensorView.of(bytes, 3)));
      assertThrows(IllegalArgumentException.class, () -> RowMask.ofElements(rows));
      assertThrows(
          IllegalArgumentException.class,
          () -> Softmax.of(context, Softmax.Algorithm.SAFE).withZeroForEmptyRows(true));
    }
  }

  private void refused(
      Softmax softmax, TensorView<ElementType.F32> rows, RowMask mask, String... told) {
    assertTells(
        assertThrows(
            IllegalArgumentException.class, () -> softmax.forward(rows, rows, mask, stream)),
        told);
  }

  @Test
  @DisplayName("an unmasked call equals one with a mask that lets everything through, bit for bit")
  void nothingMasked() {
    byte[] ones = new byte[ROWS * LENGTH];
    Arrays.fill(ones, (byte) 1);
    try (DeviceBuffer<ElementType.U8> mask = context.allocate(U8, ones.length, stream)) {
      mask.copyFrom(ones);
      double[] masked =
          run(
              Softmax.of(context),
              RowMask.ofElements(TensorView.of(mask, ROWS, LENGTH)),
              ROWS,
              LENGTH);
      assertArrayEquals(run(Softmax.of(context), RowMask.NONE, ROWS, LENGTH), masked);
      assertEquals(1, Arrays.stream(masked, 0, LENGTH).sum(), 1e-5);
    }
  }
}
