package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceTier;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
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

class SoftmaxTest extends DeviceTier {

  private static final double NAN = Double.NaN;
  private static final double INF = Double.POSITIVE_INFINITY;

  static List<Arguments> algorithmsAndTypes() {
    List<Arguments> all = new ArrayList<>();
    for (Softmax.Algorithm algorithm : Softmax.Algorithm.values()) {
      for (String type : List.of("f16", "bf16", "f32", "f64")) {
        for (boolean log : new boolean[] {false, true}) {
          all.add(Arguments.of(algorithm, type, log));
        }
      }
    }
    return all;
  }

  private <E extends ElementType<E>> double[] run(
      Softmax softmax, ElementType<E> type, double[] values, long... shape) {
    try (DeviceBuffer<E> in = context.allocate(type, values.length, stream);
        DeviceBuffer<E> out = context.allocate(type, values.length, stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      softmax.forward(TensorView.of(in, shape), TensorView.of(out, shape), stream);
      return Tensors.read(out);
    }
  }

  private static void judge(
      StorageType type, double[] values, int length, double scale, boolean log, double[] actual) {
    double[] truth = SoftmaxReference.rows(values, length, scale, log);
    switch (type) {
      case F16, BF16 ->
          Judgement.assertAsGoodAsStraightforward(
              type, truth, SoftmaxReference.rows(values, length, scale, log, type), actual);
      // A result below the smallest normal number may be flushed; a logarithm near 0 has its
      // maximum's rounding.
      case F32 -> Judgement.assertClose(truth, actual, 2e-6, log ? 2e-5 : 1.2e-38);
      case F64 -> Judgement.assertClose(truth, actual, 1e-13, log ? 1e-12 : 2.3e-308);
    }
  }

  @ParameterizedTest(name = "{0} {1} log={2}")
  @MethodSource("algorithmsAndTypes")
  @DisplayName("rows of many lengths equal the float64 truth")
  void equalsTheTruth(Softmax.Algorithm algorithm, String symbol, boolean log) {
    ElementType<?> type = ElementType.of(symbol);
    StorageType storage = Tensors.storage(type);
    Softmax softmax = Softmax.of(context, algorithm).withLog(log);
    for (int length :
        new int[] {
          1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 175, 176, 177, 255, 256,
          257, 1000, 1017, 1023, 1024, 1025, 4099
        }) {
      double[] values = HardInput.NORMAL.rows(3, length, storage, length);
      judge(storage, values, length, 1, log, run(softmax, type, values, 3, length));
    }
  }

  @ParameterizedTest(name = "{0}")
  @EnumSource(value = HardInput.class, mode = EnumSource.Mode.MATCH_ALL, names = ".*")
  @DisplayName("inputs that break implementations")
  void hardInputs(HardInput input) {
    for (String symbol : List.of("f16", "bf16", "f32", "f64")) {
      ElementType<?> type = ElementType.of(symbol);
      StorageType storage = Tensors.storage(type);
      double[] values = input.rows(4, 517, storage, 5);
      for (Softmax.Algorithm algorithm :
          List.of(
              Softmax.Algorithm.SAFE,
              Softmax.Algorithm.ONLINE,
              Softmax.Algorithm.SPLIT,
              Softmax.Algorithm.FUSED)) {
        double[] actual = run(Softmax.of(context, algorithm), type, values, 4, 517);
        judge(storage, values, 517, 1, false, actual);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Softmax.Algorithm.class)
  @DisplayName(
      "contracts: NaN, +inf and all -inf make the row NaN, -inf beside finite is 0, equal entries are 1/n")
  void contracts(Softmax.Algorithm algorithm) {
    // Naive divides by an infinite sum: only the infinite entry becomes NaN.
    double beside = algorithm == Softmax.Algorithm.NAIVE ? 0 : NAN;
    double[] rows = {
      1, 2, NAN, 3, 1, INF, 2, 3, -INF, -INF, -INF, -INF, -INF, 1, 1, -INF, 3, 3, 3, 3
    };
    double[] actual = run(Softmax.of(context, algorithm), F32, rows, 5, 4);
    double[] expected = {
      NAN, NAN, NAN, NAN, beside, NAN, beside, beside, NAN, NAN, NAN, NAN, 0, 0.5, 0.5, 0, 0.25,
      0.25, 0.25, 0.25
    };
    assertArrayEquals(expected, actual);
    double[] logs = run(Softmax.of(context, algorithm).withLog(true), F32, rows, 5, 4);
    for (int i : new int[] {0, 1, 2, 3, 5, 8, 9, 10, 11}) {
      assertTrue(Double.isNaN(logs[i]), "log of element " + i);
    }
    assertEquals(-INF, logs[12]);
    assertEquals(Math.log(0.5), logs[13], 1e-6);
  }

  @Test
  @DisplayName("S1: naive overflows by design where safe and online do not")
  void naiveOverflows() {
    double[] values = {100, 101, 99};
    double[] naive = run(Softmax.of(context, Softmax.Algorithm.NAIVE), F32, values, 1, 3);
    assertTrue(Arrays.stream(naive).anyMatch(Double::isNaN), () -> Arrays.toString(naive));
    double[] online = run(Softmax.of(context, Softmax.Algorithm.ONLINE), F32, values, 1, 3);
    judge(StorageType.F32, values, 3, 1, false, online);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 1, -1, 0.125, 2.5, 1e-3})
  void scales(double scale) {
    double[] values = HardInput.NORMAL.rows(5, 100, StorageType.F32, 3);
    for (Softmax.Algorithm algorithm : Softmax.Algorithm.values()) {
      double[] actual = run(Softmax.of(context, algorithm).withScale(scale), F32, values, 5, 100);
      judge(StorageType.F32, values, 100, (float) scale, false, actual);
    }
  }

  @Test
  void aScaleThatIsNotFiniteIsRefused() {
    Softmax softmax = Softmax.of(context, Softmax.Algorithm.SAFE);
    assertThrows(IllegalArgumentException.class, () -> softmax.withScale(NAN));
    assertThrows(IllegalArgumentException.class, () -> softmax.withScale(INF));
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "bf16", "f32", "f64"})
  @DisplayName("a scale beyond half of the accumulator's range is refused, one within is not")
  void scalesThatOverflow(String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    double most = Softmax.maxScale(type);
    assertEquals((symbol.equals("f64") ? Double.MAX_VALUE : Float.MAX_VALUE) / 2, most);
    double[] values = {0, 1, 0, 1};
    for (Softmax.Algorithm algorithm : List.of(Softmax.Algorithm.SAFE, Softmax.Algorithm.ONLINE)) {
      Softmax softmax = Softmax.of(context, algorithm);
      assertArrayEquals(
          new double[] {0, 1, 0, 1}, run(softmax.withScale(most), type, values, 2, 2));
      for (double beyond : new double[] {Math.nextUp(most), -Math.nextUp(most)}) {
        assertTells(
            assertThrows(
                IllegalArgumentException.class,
                () -> run(softmax.withScale(beyond), type, values, 2, 2)),
            "scale " + beyond,
            type.toString());
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Softmax.Algorithm.class)
  @DisplayName("any rank; strided equals contiguous bit for bit, and the gaps are not touched")
  void stridesAndRanks(Softmax.Algorithm algorithm) {
    Softmax softmax = Softmax.of(context, algorithm);
    double[] values = HardInput.NORMAL.rows(6, 37, StorageType.F32, 9);
    double[] dense = run(softmax, F32, values, 2, 3, 37);
    assertArrayEquals(dense, run(softmax, F32, values, 6, 37));
    double[] padded = new double[6 * 41];
    for (int row = 0; row < 6; row++) {
      System.arraycopy(values, row * 37, padded, row * 41 + 1, 37);
    }
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, padded.length, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 6 * 39, stream)) {
      Tensors.write(in, padded);
      out.fill(-7, stream);
      // Row starts at every alignment, other strides for input and output.
      softmax.forward(
          TensorView.strided(
              in.view(1, in.length()), new long[] {2, 3, 37}, new long[] {123, 41, 1}),
          TensorView.strided(out, new long[] {2, 3, 37}, new long[] {117, 39, 1}),
          stream);
      double[] actual = Tensors.read(out);
      for (int row = 0; row < 6; row++) {
        assertArrayEquals(
            Arrays.copyOfRange(dense, row * 37, row * 37 + 37),
            Arrays.copyOfRange(actual, row * 39, row * 39 + 37));
        assertEquals(-7, actual[row * 39 + 37]);
        assertEquals(-7, actual[row * 39 + 38]);
      }
    }
  }

  @ParameterizedTest(name = "{0} {1} log={2}")
  @MethodSource("algorithmsAndTypes")
  @DisplayName("in place equals out of place bit for bit")
  void inPlace(Softmax.Algorithm algorithm, String symbol, boolean log) {
    inPlace(Softmax.of(context, algorithm).withLog(log), ElementType.of(symbol));
  }

  private <E extends ElementType<E>> void inPlace(Softmax softmax, ElementType<E> type) {
    double[] values = HardInput.NORMAL.rows(3, 700, Tensors.storage(type), 4);
    double[] apart = run(softmax, type, values, 3, 700);
    try (DeviceBuffer<E> buffer = context.allocate(type, values.length, stream)) {
      Tensors.write(buffer, values);
      TensorView<E> view = TensorView.of(buffer, 3, 700);
      softmax.forward(view, view, stream);
      assertArrayEquals(apart, Tensors.read(buffer));
    }
  }

  @ParameterizedTest(name = "first element {0} of an aligned buffer")
  @ValueSource(ints = {1, 2, 3, 4, 5, 7, 8})
  void unalignedRows(int first) {
    for (String symbol : List.of("f16", "bf16", "f32", "f64")) {
      unaligned(ElementType.of(symbol), first);
    }
  }

  private <E extends ElementType<E>> void unaligned(ElementType<E> type, int first) {
    StorageType storage = Tensors.storage(type);
    double[] values = HardInput.NORMAL.rows(3, 131, storage, first);
    Softmax softmax = Softmax.of(context, Softmax.Algorithm.ONLINE);
    double[] aligned = run(softmax, type, values, 3, 131);
    try (DeviceBuffer<E> in = context.allocate(type, 500, stream);
        DeviceBuffer<E> out = context.allocate(type, 500, stream)) {
      DeviceView<E> from = in.view(first, first + values.length);
      DeviceView<E> to = out.view(first + 1, first + 1 + values.length);
      Tensors.write(from, values);
      softmax.forward(TensorView.of(from, 3, 131), TensorView.of(to, 3, 131), stream);
      double[] actual = Tensors.read(to);
      judge(storage, values, 131, 1, false, actual);
      assertArrayEquals(aligned, actual);
    }
  }

  @Test
  void repeatsBitForBit() {
    double[] values = HardInput.NORMAL.rows(7, 3001, StorageType.F32, 8);
    for (Softmax.Algorithm algorithm : Softmax.Algorithm.values()) {
      Softmax softmax = Softmax.of(context, algorithm);
      double[] first = run(softmax, F32, values, 7, 3001);
      for (int i = 0; i < 3; i++) {
        assertArrayEquals(first, run(softmax, F32, values, 7, 3001));
      }
    }
  }

  @Test
  @DisplayName("4.5: on two streams at once, again and again, the bits stay the same")
  void repeatsOnTwoStreamsAtOnce() {
    Softmax softmax = Softmax.of(context);
    try (var other = context.newStream()) {
      // A team of lanes, a block, a cluster, and pieces.
      for (int length : new int[] {100, 3000, 20_000, 300_000}) {
        double[] values = HardInput.NORMAL.row(length, StorageType.F32, 9);
        try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, length, stream);
            DeviceBuffer<ElementType.F32> one = context.allocate(F32, length, stream);
            DeviceBuffer<ElementType.F32> two = context.allocate(F32, length, other)) {
          Tensors.write(in, values);
          TensorView<ElementType.F32> from = TensorView.of(in, 1, length);
          double[] wanted = run(softmax, F32, values, 1, length);
          for (int i = 0; i < 20; i++) {
            Tensors.poison(one, stream);
            Tensors.poison(two, other);
            softmax.forward(from, TensorView.of(one, 1, length), stream);
            softmax.forward(from, TensorView.of(two, 1, length), other);
            assertArrayEquals(wanted, Tensors.read(one));
            assertArrayEquals(wanted, Tensors.read(two));
          }
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = Softmax.Algorithm.class,
      names = {"ONLINE", "FUSED", "AUTO"})
  @DisplayName("a softmax that has run before allocates nothing")
  void allocatesNothing(Softmax.Algorithm algorithm) {
    Softmax softmax = Softmax.of(context, algorithm);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 8, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 16, stream)) {
      in.zero(stream);
      TensorView<ElementType.F32> from = TensorView.of(in, 1, 2, 4);
      TensorView<ElementType.F32> to =
          TensorView.strided(out, new long[] {1, 2, 4}, new long[] {16, 8, 1});
      Allocations.assertNone(
          () -> {
            softmax.forward(from, to, stream);
            stream.synchronize();
          });
      assertEquals(0.25, Tensors.read(out)[8]);
    }
  }

  @Test
  void nothingIsLaunchedForNoElements() {
    Softmax softmax = Softmax.of(context, Softmax.Algorithm.ONLINE);
    assertEquals(0, run(softmax, F32, new double[0], 0, 10).length);
    assertEquals(0, run(softmax, F32, new double[0], 10, 0).length);
    assertEquals(0, run(softmax, F32, new double[0], 3, 0, 4).length);
    assertEquals(0, run(softmax, F32, new double[0], 0).length);
    assertArrayEquals(new double[] {1}, run(softmax, F32, new double[] {42}, 1));
  }

  @Test
  void theKernelIsNamed() {
    Softmax softmax = Softmax.of(context, Softmax.Algorithm.ONLINE);
    assertEquals("culebra_softmax_online_f32", softmax.kernelName(F32, 1, 1));
    assertEquals(
        "culebra_softmax_online_log_bf16",
        softmax.withLog(true).kernelName(ElementType.BF16, 1, 1));
    assertThrows(IllegalArgumentException.class, () -> softmax.kernelName(I32, 1, 1));
  }

  @Test
  void whatCannotBeIsRefused() {
    Softmax softmax = Softmax.of(context, Softmax.Algorithm.ONLINE);
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.F32> other = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.I32> ints = context.allocate(I32, 100, stream)) {
      TensorView<ElementType.F32> square = TensorView.of(buffer, 10, 10);
      TensorView<ElementType.F32> apart = TensorView.of(other, 10, 10);
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> softmax.forward(square, TensorView.of(other, 5, 20), stream)),
          "different shapes");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  softmax.forward(
                      TensorView.of(buffer.view(0, 50), 5, 10),
                      TensorView.of(buffer.view(10, 60), 5, 10),
                      stream)),
          "overlap");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  softmax.forward(
                      TensorView.strided(buffer, new long[] {10, 10}, new long[] {1, 10}),
                      apart,
                      stream)),
          "lie 10 apart");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  softmax.forward(
                      square,
                      TensorView.strided(other, new long[] {10, 10}, new long[] {5, 1}),
                      stream)),
          "overlap each other");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> softmax.forward(TensorView.of(buffer), TensorView.of(other), stream)),
          "scalar");
      assertThrows(
          IllegalArgumentException.class,
          () -> softmax.forward(TensorView.of(ints, 10, 10), TensorView.of(ints, 10, 10), stream));
      // A row repeated by a stride of 0 may be read.
      other.zero(stream);
      softmax.forward(
          TensorView.strided(buffer, new long[] {10, 10}, new long[] {0, 1}), apart, stream);
    }
  }
}
