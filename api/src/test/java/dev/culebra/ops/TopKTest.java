package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
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
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import dev.culebra.testkit.TopKReference;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopKTest extends DeviceTier {

  private static final double NAN = Double.NaN;
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final List<String> TYPES = List.of("f16", "bf16", "f32");

  /** What a top-k gave, row after row. */
  private static final class Result {

    private final double[] values;
    private final int[] indices;

    Result(double[] values, int[] indices) {
      this.values = values;
      this.indices = indices;
    }

    double[] values() {
      return values;
    }

    int[] indices() {
      return indices;
    }
  }

  private <E extends ElementType<E>> Result run(
      TopK topK, ElementType<E> type, double[] values, int rows) {
    int length = values.length / rows;
    try (DeviceBuffer<E> in = context.allocate(type, values.length, stream);
        DeviceBuffer<E> out = context.allocate(type, (long) rows * topK.k(), stream);
        DeviceBuffer<ElementType.I32> indices =
            context.allocate(I32, (long) rows * topK.k(), stream)) {
      Tensors.write(in, values);
      Tensors.poison(out, stream);
      Tensors.poison(indices, stream);
      topK.forward(
          TensorView.of(in, rows, length),
          TensorView.of(out, rows, topK.k()),
          TensorView.of(indices, rows, topK.k()),
          stream);
      int[] places = new int[rows * topK.k()];
      double[] results = Tensors.read(out);
      indices.copyTo(places);
      return new Result(results, places);
    }
  }

  /** Places must be right to the last; probabilities as good as those of a softmax. */
  private static void judge(TopK topK, StorageType type, double[] values, int rows, Result actual) {
    int length = values.length / rows;
    int[] indices = TopKReference.indices(values, length, topK.k(), topK.scale() < 0);
    assertArrayEquals(indices, actual.indices(), () -> topK + " of rows of " + length);
    if (topK.content() == TopK.Content.ELEMENTS) {
      assertArrayEquals(
          TopKReference.pick(values, length, indices, topK.k()), actual.values(), topK.toString());
      return;
    }
    judgeProbabilities(topK, type, values, length, indices, actual.values());
  }

  private static void judgeProbabilities(
      TopK topK, StorageType type, double[] values, int length, int[] indices, double[] actual) {
    boolean log = topK.content() == TopK.Content.LOG_PROBABILITIES;
    double[] truth =
        TopKReference.pick(
            SoftmaxReference.rows(values, length, topK.scale(), log), length, indices, topK.k());
    if (type == StorageType.F32) {
      Judgement.assertClose(truth, actual, 2e-6, log ? 2e-5 : 1.2e-38);
    } else {
      double[] straightforward =
          TopKReference.pick(
              SoftmaxReference.rows(values, length, topK.scale(), log, type),
              length,
              indices,
              topK.k());
      Judgement.assertAsGoodAsStraightforward(type, truth, straightforward, actual);
    }
  }

  static List<Arguments> typesAndContents() {
    List<Arguments> all = new ArrayList<>();
    for (String type : TYPES) {
      for (TopK.Content content : TopK.Content.values()) {
        all.add(Arguments.of(type, content));
      }
    }
    return all;
  }

  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("typesAndContents")
  @DisplayName("rows of many lengths, and every kind of K, equal the float64 truth")
  void equalsTheTruth(String symbol, TopK.Content content) {
    ElementType<?> type = ElementType.of(symbol);
    StorageType storage = Tensors.storage(type);
    for (int k : new int[] {1, 2, 5, 32, 33, 64, 65, 200, 1024}) {
      TopK topK = TopK.of(context, k).withContent(content);
      for (int length : new int[] {1, 2, 3, 31, 33, 127, 257, 1000, 1024, 1025, 4099}) {
        if (length >= k) {
          double[] values = HardInput.NORMAL.rows(3, length, storage, length);
          judge(topK, storage, values, 3, run(topK, type, values, 3));
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(HardInput.class)
  @DisplayName("inputs that break implementations, whole rows and pieces of them")
  void hardInputs(HardInput input) {
    for (String symbol : TYPES) {
      ElementType<?> type = ElementType.of(symbol);
      StorageType storage = Tensors.storage(type);
      for (int k : new int[] {5, 100}) {
        TopK topK = TopK.of(context, k);
        double[] values = input.rows(4, 517, storage, 5);
        judge(topK, storage, values, 4, run(topK, type, values, 4));
        double[] cut = input.rows(1, 9000, storage, 6);
        judge(topK, storage, cut, 1, run(topK, type, cut, 1));
      }
    }
  }

  @Test
  @DisplayName("-0 equals +0, NaN is the largest, and equal ones come by their index")
  void order() {
    TopK topK = TopK.of(context, 4).withContent(TopK.Content.ELEMENTS);
    double[] row = {-0.0, -INF, 0, NAN, 1, INF, NAN, 0};
    Result largest = run(topK, F32, row, 1);
    assertArrayEquals(new int[] {3, 6, 5, 4}, largest.indices());
    assertArrayEquals(new double[] {NAN, NAN, INF, 1}, largest.values());
    Result smallest = run(topK.withScale(-1), F32, row, 1);
    assertArrayEquals(new int[] {3, 6, 1, 0}, smallest.indices());
    // The element itself, with its sign.
    assertArrayEquals(new double[] {NAN, NAN, -INF, -0.0}, smallest.values());

    // pytorch#27542 and its kin
    Result zeros = run(TopK.of(context, 5), F32, new double[1024], 1);
    assertArrayEquals(new int[] {0, 1, 2, 3, 4}, zeros.indices());
    assertArrayEquals(new double[] {0x1p-10, 0x1p-10, 0x1p-10, 0x1p-10, 0x1p-10}, zeros.values());
  }

  @Test
  @DisplayName("few different values: hundreds of ties in every row")
  void ties() {
    SplittableRandom random = new SplittableRandom(17);
    for (int values : new int[] {1, 2, 3, 10}) {
      for (int k : new int[] {5, 50, 300}) {
        double[] rows = new double[3 * 5000];
        Arrays.setAll(rows, i -> random.nextInt(values) - 1);
        TopK topK = TopK.of(context, k);
        judge(topK, StorageType.F32, rows, 3, run(topK, F32, rows, 3));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, 1, -1, 0.125, 2.5, -1e-3})
  void scales(double scale) {
    double[] values = HardInput.NORMAL.rows(5, 100, StorageType.F32, 3);
    double rounded = (float) scale;
    for (TopK.Content content : TopK.Content.values()) {
      TopK topK = TopK.of(context, 7).withContent(content).withScale(rounded);
      judge(topK, StorageType.F32, values, 5, run(topK, F32, values, 5));
    }
  }

  @ParameterizedTest
  @EnumSource(names = ".*UNFUSED", mode = EnumSource.Mode.MATCH_ALL)
  @DisplayName("the unfused forms choose among what the softmax wrote")
  void unfused(TopK.Algorithm algorithm) {
    Softmax.Algorithm softmax =
        algorithm == TopK.Algorithm.SAFE_UNFUSED
            ? Softmax.Algorithm.SAFE
            : Softmax.Algorithm.ONLINE;
    for (String symbol : TYPES) {
      for (TopK.Content content :
          List.of(TopK.Content.PROBABILITIES, TopK.Content.LOG_PROBABILITIES)) {
        for (int length : new int[] {7, 1000, 9000}) {
          unfused(algorithm, softmax, ElementType.of(symbol), content, length);
        }
      }
    }
  }

  private <E extends ElementType<E>> void unfused(
      TopK.Algorithm algorithm,
      Softmax.Algorithm softmax,
      ElementType<E> type,
      TopK.Content content,
      int length) {
    double[] values = HardInput.NORMAL.rows(2, length, Tensors.storage(type), 8);
    double scale = -0.5;
    double[] probabilities;
    try (DeviceBuffer<E> buffer = context.allocate(type, values.length, stream)) {
      Tensors.write(buffer, values);
      TensorView<E> view = TensorView.of(buffer, 2, length);
      Softmax.of(context, softmax)
          .withLog(content == TopK.Content.LOG_PROBABILITIES)
          .withScale(scale)
          .forward(view, view, stream);
      probabilities = Tensors.read(buffer);
    }
    TopK topK = TopK.of(context, 6).withAlgorithm(algorithm).withContent(content).withScale(scale);
    Result actual = run(topK, type, values, 2);
    int[] indices = TopKReference.indices(probabilities, length, 6, false);
    assertArrayEquals(indices, actual.indices());
    assertArrayEquals(TopKReference.pick(probabilities, length, indices, 6), actual.values());
  }

  @ParameterizedTest(name = "first element {0} of an aligned buffer")
  @ValueSource(ints = {0, 1, 2, 3, 5, 8})
  @DisplayName("strided and unaligned equals contiguous bit for bit, and gaps are not touched")
  void stridesAndAlignment(int first) {
    for (String symbol : TYPES) {
      strides(ElementType.of(symbol), first);
    }
  }

  private <E extends ElementType<E>> void strides(ElementType<E> type, int first) {
    double[] values = HardInput.NORMAL.rows(6, 1037, Tensors.storage(type), 9);
    TopK topK = TopK.of(context, 5);
    Result dense = run(topK, type, values, 6);
    double[] padded = new double[first + 6 * 1041];
    for (int row = 0; row < 6; row++) {
      System.arraycopy(values, row * 1037, padded, first + row * 1041, 1037);
    }
    try (DeviceBuffer<E> in = context.allocate(type, padded.length, stream);
        DeviceBuffer<E> out = context.allocate(type, 6 * 7, stream);
        DeviceBuffer<ElementType.I64> indices = context.allocate(I64, 6 * 6, stream)) {
      Tensors.write(in, padded);
      out.fill(-7, stream);
      indices.fill(-7L, stream);
      topK.forward(
          TensorView.strided(
              in.view(first, in.length()), new long[] {2, 3, 1037}, new long[] {3123, 1041, 1}),
          TensorView.strided(out, new long[] {2, 3, 5}, new long[] {21, 7, 1}),
          TensorView.strided(indices, new long[] {2, 3, 5}, new long[] {18, 6, 1}),
          stream);
      double[] results = Tensors.read(out);
      long[] places = new long[36];
      indices.copyTo(places);
      for (int row = 0; row < 6; row++) {
        for (int i = 0; i < 5; i++) {
          assertEquals(dense.values()[row * 5 + i], results[row * 7 + i]);
          assertEquals(dense.indices()[row * 5 + i], places[row * 6 + i]);
        }
        assertEquals(-7, results[row * 7 + 5]);
        assertEquals(-7, results[row * 7 + 6]);
        assertEquals(-7, places[row * 6 + 5]);
      }
    }
  }

  @Test
  @DisplayName("300 rows of the same elements, not cut, and one of them, cut: the same places")
  void cutOrNot() {
    double[] row = HardInput.NORMAL.row(10_000, StorageType.F32, 4);
    double[] rows = new double[300 * row.length];
    for (int i = 0; i < 300; i++) {
      System.arraycopy(row, 0, rows, i * row.length, row.length);
    }
    TopK topK = TopK.of(context, 40);
    Result one = run(topK, F32, row, 1);
    judge(topK, StorageType.F32, row, 1, one);
    Result many = run(topK, F32, rows, 300);
    judge(topK, StorageType.F32, row, 1, one);
    for (int i = 0; i < 300; i++) {
      assertArrayEquals(one.indices(), Arrays.copyOfRange(many.indices(), i * 40, i * 40 + 40));
      assertArrayEquals(
          Arrays.copyOf(many.values(), 40), Arrays.copyOfRange(many.values(), i * 40, i * 40 + 40));
    }
    judgeProbabilities(
        topK, StorageType.F32, row, row.length, one.indices(), Arrays.copyOf(many.values(), 40));
  }

  @Test
  void repeatsBitForBit() {
    double[] values = HardInput.NORMAL.rows(7, 3001, StorageType.F32, 8);
    for (int k : new int[] {5, 500}) {
      TopK topK = TopK.of(context, k);
      Result first = run(topK, F32, values, 7);
      for (int i = 0; i < 3; i++) {
        Result again = run(topK, F32, values, 7);
        assertArrayEquals(first.values(), again.values());
        assertArrayEquals(first.indices(), again.indices());
      }
    }
  }

  @Test
  @DisplayName("a top-k of whole rows that has run before allocates nothing")
  void allocatesNothing() {
    TopK topK = TopK.of(context, 2);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 8, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 4, stream);
        DeviceBuffer<ElementType.I32> indices = context.allocate(I32, 4, stream)) {
      in.zero(stream);
      TensorView<ElementType.F32> from = TensorView.of(in, 2, 4);
      TensorView<ElementType.F32> to = TensorView.of(out, 2, 2);
      TensorView<ElementType.I32> places = TensorView.of(indices, 2, 2);
      Allocations.assertNone(() -> topK.forward(from, to, places, stream));
      assertEquals(0.25, Tensors.read(out)[3]);
    }
  }

  @Test
  void nothingIsLaunchedForNoRows() {
    TopK topK = TopK.of(context, 3);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 0, stream);
        DeviceBuffer<ElementType.I32> indices = context.allocate(I32, 0, stream)) {
      topK.forward(
          TensorView.of(in, 0, 10), TensorView.of(in, 0, 3), TensorView.of(indices, 0, 3), stream);
    }
  }

  @Test
  void theKernelIsNamed() {
    assertEquals("culebra_topk_small_f32", TopK.of(context, 5).kernelName(F32));
    assertEquals("culebra_topk_large_bf16", TopK.of(context, 65).kernelName(ElementType.BF16));
    assertEquals(1024, TopK.mostK());
    assertEquals(
        "top-5 fused log_probabilities with scale 0.5",
        TopK.of(context, 5).withContent(TopK.Content.LOG_PROBABILITIES).withScale(0.5).toString());
  }

  @Test
  void whatCannotBeIsRefused() {
    for (int k : new int[] {0, -1, 1025, Integer.MAX_VALUE}) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> TopK.of(context, k)),
          "k " + k,
          "1 to 1024");
    }
    TopK topK = TopK.of(context, 4);
    assertThrows(IllegalArgumentException.class, () -> topK.withScale(NAN));
    assertThrows(IllegalArgumentException.class, () -> topK.withScale(INF));
    assertTells(
        assertThrows(
            IllegalArgumentException.class,
            () ->
                topK.withContent(TopK.Content.ELEMENTS).withAlgorithm(TopK.Algorithm.SAFE_UNFUSED)),
        "ELEMENTS",
        "FUSED");
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> topK.kernelName(ElementType.F64)),
        "F64");
    assertThrows(IllegalArgumentException.class, () -> topK.kernelName(I32));
  }

  @Test
  void viewsThatDoNotFitAreRefused() {
    TopK topK = TopK.of(context, 4);
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.F32> other = context.allocate(F32, 40, stream);
        DeviceBuffer<ElementType.I32> ints = context.allocate(I32, 40, stream)) {
      TensorView<ElementType.F32> in = TensorView.of(buffer, 10, 10);
      TensorView<ElementType.F32> out = TensorView.of(other, 10, 4);
      TensorView<ElementType.I32> places = TensorView.of(ints, 10, 4);
      refused(topK, TensorView.of(buffer, 33, 3), out, places, "k is 4", "3 elements");
      refused(topK, in, TensorView.of(other, 8, 5), places, "results", "4");
      refused(topK, in, TensorView.of(other, 5, 2, 4), places, "results");
      refused(topK, in, out, TensorView.of(ints, 8, 4), "places");
      refused(topK, in, out, TensorView.of(other, 10, 4), "I32 or I64");
      refused(topK, in, TensorView.of(buffer, 10, 4), places, "overlap");
      refused(
          topK,
          in,
          TensorView.strided(other, new long[] {10, 4}, new long[] {3, 1}),
          places,
          "overlap each other");
      refused(topK, TensorView.of(buffer), out, places, "scalar");
      refused(topK.withScale(1e300), in, out, places, "scale 1.0E300");
      // A row that is repeated by a stride of 0 may be read.
      topK.forward(
          TensorView.strided(buffer, new long[] {10, 10}, new long[] {0, 1}), out, places, stream);
    }
  }

  private void refused(
      TopK topK,
      TensorView<ElementType.F32> in,
      TensorView<ElementType.F32> out,
      TensorView<?> places,
      String... told) {
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> topK.forward(in, out, places, stream)),
        told);
  }
}
