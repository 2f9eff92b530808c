package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
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
import dev.culebra.testkit.SoftmaxBackwardReference;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class SoftmaxBackwardTest extends DeviceTier {

  private static final double NAN = Double.NaN;
  private static final double INF = Double.POSITIVE_INFINITY;

  /** Rows and bytes of a row that reach every variant. */
  private static final int[][] SHAPES = {
    {3, 8},
    {70, 24},
    {5, 512},
    {9, 1000},
    {3, 3000},
    {40, 8184},
    {3, 20_000},
    {34, 12_000},
    {34, 30_000},
    {3, 60_000},
    {34, 40_000},
    {1, 530_000}
  };

  static List<Arguments> typesAndLog() {
    List<Arguments> all = new ArrayList<>();
    for (String type : List.of("f16", "bf16", "f32", "f64")) {
      for (boolean log : new boolean[] {false, true}) {
        all.add(Arguments.of(type, log));
      }
    }
    return all;
  }

  /** Results of a softmax, exact in the type. */
  private static double[] results(StorageType type, int rows, int length, boolean log) {
    double[] logits = HardInput.NORMAL.rows(rows, length, type, length);
    double[] y = SoftmaxReference.rows(logits, length, 1, log);
    return Arrays.stream(y).map(type::round).toArray();
  }

  private <E extends ElementType<E>> double[] run(
      SoftmaxBackward backward, ElementType<E> type, double[] y, double[] dy, long... shape) {
    try (DeviceBuffer<E> yBuffer = context.allocate(type, y.length, stream);
        DeviceBuffer<E> dyBuffer = context.allocate(type, y.length, stream);
        DeviceBuffer<E> dxBuffer = context.allocate(type, y.length, stream)) {
      Tensors.write(yBuffer, y);
      Tensors.write(dyBuffer, dy);
      Tensors.poison(dxBuffer, stream);
      backward.run(
          TensorView.of(yBuffer, shape),
          TensorView.of(dyBuffer, shape),
          TensorView.of(dxBuffer, shape),
          stream);
      return Tensors.read(dxBuffer);
    }
  }

  private static void judge(
      StorageType type,
      double[] y,
      double[] dy,
      int length,
      double scale,
      boolean log,
      double[] actual) {
    double[] truth = SoftmaxBackwardReference.rows(y, dy, length, scale, log);
    if (type == StorageType.F16 || type == StorageType.BF16) {
      Judgement.assertAsGoodAsStraightforward(
          type, truth, SoftmaxBackwardReference.rows(y, dy, length, scale, log, type), actual);
      return;
    }
    // Two numbers of this size are subtracted: dy and the sum, each times its weight.
    double largest = Arrays.stream(dy).map(Math::abs).filter(Double::isFinite).max().orElse(0);
    double weight = Arrays.stream(y).map(v -> log ? Math.exp(v) : v).max().orElse(0);
    double size = Math.abs(scale) * largest * (log ? 1 + length * weight : weight);
    double roundoff = type.unitRoundoff();
    Judgement.assertClose(truth, actual, 16 * roundoff, 32 * roundoff * size + type.minNormal());
  }

  @ParameterizedTest(name = "{0} log={1}")
  @MethodSource("typesAndLog")
  @DisplayName("rows of every kernel's lengths equal the float64 truth")
  void equalsTheTruth(String symbol, boolean log) {
    ElementType<?> type = ElementType.of(symbol);
    StorageType storage = Tensors.storage(type);
    SoftmaxBackward backward = SoftmaxBackward.of(context).withLog(log);
    Set<String> variants = new TreeSet<>();
    for (int[] shape : SHAPES) {
      int rows = shape[0];
      int length = Math.max(1, shape[1] / type.byteSize() - 1);
      double[] y = results(storage, rows, length, log);
      double[] dy = HardInput.NORMAL.rows(rows, length, storage, 77);
      judge(storage, y, dy, length, 1, log, run(backward, type, y, dy, rows, length));
      String name = backward.kernelName(type, rows, length);
      assertTrue(name.endsWith("_" + symbol), name);
      variants.add(name.substring("culebra_softmax_backward_".length(), name.lastIndexOf('_')));
    }
    Set<String> expected = new TreeSet<>(Set.of("registers2", "sums"));
    if (context.device().computeCapability().major() == 9) {
      expected.addAll(Set.of("shared", "cluster"));
    }
    assertTrue(variants.stream().anyMatch(v -> v.startsWith("lanes")), variants.toString());
    assertTrue(variants.containsAll(expected), variants.toString());
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(HardInput.class)
  @DisplayName("gradients that break implementations")
  void hardGradients(HardInput input) {
    for (String symbol : List.of("f16", "bf16", "f32", "f64")) {
      ElementType<?> type = ElementType.of(symbol);
      StorageType storage = Tensors.storage(type);
      double[] y = results(storage, 4, 517, false);
      double[] dy = input.rows(4, 517, storage, 5);
      SoftmaxBackward backward = SoftmaxBackward.of(context);
      judge(storage, y, dy, 517, 1, false, run(backward, type, y, dy, 4, 517));
      // The sum of a row of the largest numbers is beyond the range of any type but f16.
      if (input != HardInput.HUGE) {
        double[] logs = results(storage, 4, 517, true);
        double[] actual = run(backward.withLog(true), type, logs, dy, 4, 517);
        judge(storage, logs, dy, 517, 1, true, actual);
      }
    }
  }

  @ParameterizedTest(name = "log={0}")
  @ValueSource(booleans = {false, true})
  @DisplayName("it is the derivative of our own softmax, masked entries and scale included")
  void isTheDerivativeOfTheForward(boolean log) {
    double scale = -1.5;
    double[] x = HardInput.NORMAL.rows(1, 12, StorageType.F64, 3);
    x[4] = INF; // masked, as the scale is negative
    double[] dy = HardInput.NORMAL.rows(1, 12, StorageType.F64, 4);
    dy[4] = 0;
    double[] y = forward(x, scale, log);
    SoftmaxBackward backward = SoftmaxBackward.of(context).withLog(log).withScale(scale);
    double[] dx = run(backward, F64, y, dy, 1, 12);
    double step = 0x1p-18;
    for (int i = 0; i < x.length; i++) {
      double slope = 0;
      if (i != 4) {
        double[] up = x.clone();
        up[i] += step;
        double[] down = x.clone();
        down[i] -= step;
        slope =
            (dot(forward(up, scale, log), dy) - dot(forward(down, scale, log), dy)) / (2 * step);
      }
      assertEquals(slope, dx[i], 1e-8, "element " + i);
    }
  }

  @ParameterizedTest(name = "log={0}")
  @ValueSource(booleans = {false, true})
  @DisplayName(
      "behind a mask and a row's end the gradient may be anything; the way back needs neither")
  void masked(boolean log) {
    double[] x = HardInput.NORMAL.rows(3, 6, StorageType.F32, 12);
    double[] dy = HardInput.NORMAL.rows(3, 6, StorageType.F32, 13);
    int[] lengths = {4, 0, 6};
    for (int i = 0; i < dy.length; i++) {
      if (i % 6 >= lengths[i / 6]) {
        dy[i] = NAN;
      }
    }
    Softmax softmax = Softmax.of(context).withLog(log).withScale(0.75).withZeroForEmptyRows(true);
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 18, stream);
        DeviceBuffer<ElementType.F32> gradient = context.allocate(F32, 18, stream);
        DeviceBuffer<ElementType.I32> ofRows = context.allocate(I32, 3, stream)) {
      Tensors.write(buffer, x);
      Tensors.write(gradient, dy);
      ofRows.copyFrom(lengths);
      TensorView<ElementType.F32> rows = TensorView.of(buffer, 3, 6);
      TensorView<ElementType.F32> gradients = TensorView.of(gradient, 3, 6);
      softmax.forward(rows, rows, RowMask.ofLengths(ofRows), stream);
      double[] y = Tensors.read(buffer);
      softmax.backward(rows, gradients, gradients, stream);
      double[] dx = Tensors.read(gradient);
      judge(StorageType.F32, y, dy, 6, 0.75, log, dx);
      for (int i = 0; i < dx.length; i++) {
        assertEquals(i % 6 >= lengths[i / 6], dx[i] == 0, "element " + i);
      }
    }
  }

  private double[] forward(double[] x, double scale, boolean log) {
    try (DeviceBuffer<ElementType.F64> buffer = context.allocate(F64, x.length, stream)) {
      Tensors.write(buffer, x);
      TensorView<ElementType.F64> row = TensorView.of(buffer, 1, x.length);
      Softmax.of(context, Softmax.Algorithm.ONLINE)
          .withLog(log)
          .withScale(scale)
          .forward(row, row, stream);
      return Tensors.read(buffer);
    }
  }

  private static double dot(double[] y, double[] dy) {
    double sum = 0;
    for (int i = 0; i < y.length; i++) {
      sum += dy[i] == 0 ? 0 : y[i] * dy[i];
    }
    return sum;
  }

  @ParameterizedTest(name = "log={0}")
  @ValueSource(booleans = {false, true})
  @DisplayName("contracts: what weighs nothing takes no part; other NaN and infinities spread")
  void contracts(boolean log) {
    double out = log ? -INF : 0;
    double half = log ? (float) Math.log(0.5) : 0.5;
    double[] y = {half, half, out, out, out, out, half, half, out, half, half, out};
    double[] dy = {3, 1, NAN, INF, NAN, -INF, NAN, 1, 1, INF, 1, 1};
    double one = log ? 1 : 0.5;
    double[] expected = {one, -one, 0, 0, 0, 0, NAN, NAN, 0, NAN, -INF, 0};
    double[] actual = run(SoftmaxBackward.of(context).withLog(log), F32, y, dy, 4, 3);
    assertArrayEquals(expected, actual, 1e-6);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -1, 0.125, 1e-3, 1000})
  void scales(double scale) {
    double[] dy = HardInput.NORMAL.rows(5, 100, StorageType.F32, 3);
    for (boolean log : new boolean[] {false, true}) {
      double[] y = results(StorageType.F32, 5, 100, log);
      SoftmaxBackward backward = SoftmaxBackward.of(context).withLog(log).withScale(scale);
      double[] actual = run(backward, F32, y, dy, 5, 100);
      judge(StorageType.F32, y, dy, 100, (float) scale, log, actual);
    }
  }

  @ParameterizedTest(name = "{0} log={1}")
  @MethodSource("typesAndLog")
  @DisplayName("in place of y or dy, strided and unaligned equal apart and dense, bit for bit")
  void placement(String symbol, boolean log) {
    placement(ElementType.of(symbol), log);
  }

  private <E extends ElementType<E>> void placement(ElementType<E> type, boolean log) {
    StorageType storage = Tensors.storage(type);
    SoftmaxBackward backward = SoftmaxBackward.of(context).withLog(log);
    for (int length : new int[] {37, 700, 5001}) {
      double[] y = results(storage, 6, length, log);
      double[] dy = HardInput.NORMAL.rows(6, length, storage, 8);
      double[] dense = run(backward, type, y, dy, 6, length);
      assertArrayEquals(dense, run(backward, type, y, dy, 2, 3, length));
      int gap = 3;
      int stride = length + gap;
      try (DeviceBuffer<E> yBuffer = context.allocate(type, 1 + 6L * stride, stream);
          DeviceBuffer<E> dyBuffer = context.allocate(type, 6L * length, stream)) {
        TensorView<E> yView =
            TensorView.strided(
                yBuffer.view(1, yBuffer.length()), new long[] {6, length}, new long[] {stride, 1});
        TensorView<E> dyView = TensorView.of(dyBuffer, 6, length);
        for (boolean inY : new boolean[] {true, false}) {
          double[] padded = new double[1 + 6 * stride];
          for (int row = 0; row < 6; row++) {
            System.arraycopy(y, row * length, padded, 1 + row * stride, length);
          }
          Tensors.write(yBuffer, padded);
          Tensors.write(dyBuffer, dy);
          backward.run(yView, dyView, inY ? yView : dyView, stream);
          double[] after = Tensors.read(inY ? yBuffer : dyBuffer);
          for (int row = 0; row < 6; row++) {
            int start = inY ? 1 + row * stride : row * length;
            assertArrayEquals(
                Arrays.copyOfRange(dense, row * length, (row + 1) * length),
                Arrays.copyOfRange(after, start, start + length));
          }
          for (int i = 0; inY && i < padded.length; i++) {
            if (i == 0 || (i - 1) % stride >= length) {
              assertEquals(0, after[i], "the gap at " + i);
            }
          }
        }
      }
    }
  }

  @Test
  void repeatsBitForBitInPiecesToo() {
    SoftmaxBackward backward = SoftmaxBackward.of(context);
    for (int length : new int[] {3001, 140_000}) {
      double[] y = results(StorageType.F32, 2, length, false);
      double[] dy = HardInput.NORMAL.rows(2, length, StorageType.F32, 6);
      double[] first = run(backward, F32, y, dy, 2, length);
      for (int i = 0; i < 2; i++) {
        assertArrayEquals(first, run(backward, F32, y, dy, 2, length));
      }
    }
  }

  @Test
  @DisplayName("one that has run before allocates nothing")
  void allocatesNothing() {
    SoftmaxBackward backward = SoftmaxBackward.of(context).withScale(2);
    try (DeviceBuffer<ElementType.F32> y = context.allocate(F32, 8, stream);
        DeviceBuffer<ElementType.F32> dy = context.allocate(F32, 8, stream)) {
      y.fill(0.25f, stream);
      Tensors.write(dy, new double[] {1, 0, 0, 0, 4, 4, 4, 4});
      TensorView<ElementType.F32> from = TensorView.of(y, 2, 4);
      TensorView<ElementType.F32> gradient = TensorView.of(dy, 2, 4);
      try (DeviceBuffer<ElementType.F32> dx = context.allocate(F32, 8, stream)) {
        TensorView<ElementType.F32> to = TensorView.of(dx, 2, 4);
        Allocations.assertNone(
            () -> {
              backward.run(from, gradient, to, stream);
              stream.synchronize();
            });
        assertArrayEquals(
            new double[] {0.375, -0.125, -0.125, -0.125, 0, 0, 0, 0}, Tensors.read(dx));
      }
    }
  }

  @Test
  void nothingIsLaunchedForNoElements() {
    SoftmaxBackward backward = SoftmaxBackward.of(context);
    double[] none = new double[0];
    assertEquals(0, run(backward, F32, none, none, 0, 10).length);
    assertEquals(0, run(backward, F32, none, none, 10, 0).length);
  }

  @Test
  void theKernelIsNamed() {
    SoftmaxBackward backward = SoftmaxBackward.of(context);
    assertEquals("culebra_softmax_backward_lanes1_f32", backward.kernelName(F32, 1000, 10));
    assertThrows(IllegalArgumentException.class, () -> backward.kernelName(I32, 1, 1));
    assertThrows(IllegalArgumentException.class, () -> backward.kernelName(F32, 0, 1));
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> backward.kernelName(F32, 1, 1L << 31)),
        "2147483648",
        "2147483647");
  }

  @Test
  void whatCannotBeIsRefused() {
    SoftmaxBackward backward = SoftmaxBackward.of(context);
    assertThrows(IllegalArgumentException.class, () -> backward.withScale(NAN));
    assertThrows(IllegalArgumentException.class, () -> backward.withScale(INF));
    try (DeviceBuffer<ElementType.F32> a = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.F32> b = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.I32> ints = context.allocate(I32, 100, stream)) {
      TensorView<ElementType.F32> y = TensorView.of(a, 10, 10);
      TensorView<ElementType.F32> dy = TensorView.of(b, 10, 10);
      TensorView<ElementType.F32> wide = TensorView.of(b, 5, 20);
      TensorView<ElementType.F32> half = TensorView.of(a.view(0, 50), 5, 10);
      TensorView<ElementType.F32> shifted = TensorView.of(a.view(10, 60), 5, 10);
      TensorView<ElementType.F32> apart = TensorView.of(b.view(0, 50), 5, 10);
      TensorView<ElementType.I32> whole = TensorView.of(ints, 10, 10);
      refused(() -> backward.run(y, wide, y, stream), "y and dy have different shapes");
      refused(() -> backward.run(y, dy, wide, stream), "y and dx have different shapes");
      refused(() -> backward.run(half, apart, shifted, stream), "dx and y overlap");
      refused(() -> backward.run(apart, half, shifted, stream), "dx and dy overlap");
      refused(
          () ->
              backward.run(
                  y, y, TensorView.strided(b, new long[] {10, 10}, new long[] {5, 1}), stream),
          "rows of dx overlap each other");
      refused(() -> backward.run(whole, whole, whole, stream), "I32");
      refused(
          () -> backward.withScale(1e39).run(y, dy, dy, stream), "scale 1.0E39 is beyond", "F32");
      // The same memory may be both inputs, and one row repeated.
      a.fill(0.1f, stream);
      backward.run(y, y, dy, stream);
      backward.run(TensorView.strided(a, new long[] {10, 10}, new long[] {0, 1}), y, dy, stream);
    }
  }

  private static void refused(Runnable call, String... told) {
    assertTells(assertThrows(IllegalArgumentException.class, call::run), told);
  }
}
