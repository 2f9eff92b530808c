package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.U8;
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
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.function.IntBinaryOperator;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
