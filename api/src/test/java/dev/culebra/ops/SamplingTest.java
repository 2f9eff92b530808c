package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.I64;
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
import dev.culebra.testkit.PhiloxReference;
import dev.culebra.testkit.SamplingReference;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SamplingTest extends DeviceTier {

  private static final List<String> TYPES = List.of("f16", "bf16", "f32");
  private static final long OFFSET = 5;
  private static final long SEED = 0x0123_4567_89ab_cdefL;

  /** Of masses, from rounding the distance to the largest logit. */
  private static final double SLACK = 1e-5;

  private static final class Result {

    private final long[] tokens;
    private final double[] probabilities;

    Result(long[] tokens, double[] probabilities) {
      this.tokens = tokens;
      this.probabilities = probabilities;
    }

    long[] tokens() {
      return tokens;
    }

    double[] probabilities() {
      return probabilities;
    }
  }

  private <E extends ElementType<E>> Result run(
      Sampling sampling, ElementType<E> type, double[] values, int rows) {
    try (DeviceBuffer<E> in = context.allocate(type, values.length, stream);
        DeviceBuffer<ElementType.I64> tokens = context.allocate(I64, rows, stream);
        DeviceBuffer<ElementType.F32> probabilities = context.allocate(F32, rows, stream)) {
      Tensors.write(in, values);
      Tensors.poison(tokens, stream);
      Tensors.poison(probabilities, stream);
      sampling.forward(
          TensorView.of(in, rows, values.length / rows),
          TensorView.of(tokens, rows),
          TensorView.of(probabilities, rows),
          OFFSET,
          stream);
      long[] places = new long[rows];
      tokens.copyTo(places);
      return new Result(places, Tensors.read(probabilities));
    }
  }

  /** The filters of one case, as the operation and as the truth have them. */
  private record Filters(double temperature, int topK, double topP, double minP) {

    Sampling of(Sampling plain) {
      return plain
          .withTemperature(temperature)
          .withTopK(topK)
          .withTopP(topP)
          .withMinP(minP)
          .withSeed(SEED);
    }

    SamplingReference truth(double[] row) {
      return new SamplingReference(
          row, (float) temperature, topK, (float) topP, (float) minP, SLACK);
    }
  }

  private void judge(Filters filters, ElementType<?> type, double[] values, int rows) {
    int length = values.length / rows;
    Result actual = run(filters.of(Sampling.of(context)), type, values, rows);
    for (int row = 0; row < rows; row++) {
      filters
          .truth(Arrays.copyOfRange(values, row * length, (row + 1) * length))
          .judge(
              PhiloxReference.bits(SEED, OFFSET, row),
              actual.tokens()[row],
              actual.probabilities()[row]);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"f16", "bf16", "f32"})
  @DisplayName("filters in any combination, rows of many lengths: the bits fall on the token")
  void equalsTheTruth(String symbol) {
    ElementType<?> type = ElementType.of(symbol);
    for (int length : new int[] {1, 2, 33, 2100}) {
      double[] values = HardInput.NORMAL.rows(5, length, Tensors.storage(type), length);
      for (double temperature : new double[] {0.1, 1, 40}) {
        for (int topK : new int[] {0, 1, 2, 50, 1025, 5000}) {
          judge(new Filters(temperature, topK, 1, 0), type, values, 5);
          judge(new Filters(temperature, topK, 0.8, 0.01), type, values, 5);
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 20, 65})
  @DisplayName("few long rows, which clusters share, and more of them, which they do not")
  void longRows(int rows) {
    double[] values = HardInput.NORMAL.rows(rows, 33_000, StorageType.F32, rows);
    judge(new Filters(0.5, 0, 0.9, 0), F32, values, rows);
    judge(new Filters(1, 40, 0.95, 0.05), F32, values, rows);
  }

  @Test
  void edgesOfEachFilter() {
    double[] values = HardInput.NORMAL.rows(4, 500, StorageType.F32, 3);
    for (Filters filters :
        List.of(
            new Filters(1, 0, Double.MIN_NORMAL, 0),
            new Filters(1, 0, Math.nextDown(1f), 0),
            new Filters(1, 0, 1, 1),
            new Filters(1, 0, 1, 1e-30),
            new Filters(1, 499, 1, 0),
            new Filters(1, 500, 1, 0),
            new Filters(1, Integer.MAX_VALUE, 0.5, 0.5),
            new Filters(1e-30, 0, 0.5, 0),
            new Filters(Float.MIN_VALUE, 0, 1, 0),
            new Filters(1e30, 0, 0.999, 0))) {
      judge(filters, F32, values, 4);
    }
  }

  @ParameterizedTest
  @EnumSource(HardInput.class)
  @DisplayName("inputs that break implementations; a row without a distribution gives -1 and NaN")
  void hardInputs(HardInput input) {
    boolean none =
        input == HardInput.NAN
            || input == HardInput.POSITIVE_INFINITY
            || input == HardInput.ALL_NEGATIVE_INFINITY;
    for (String symbol : TYPES) {
      ElementType<?> type = ElementType.of(symbol);
      double[] values = input.rows(2, 5000, Tensors.storage(type), 5);
      for (Filters filters :
          List.of(
              new Filters(1, 0, 1, 0),
              new Filters(1, 0, 0.9, 0.001),
              new Filters(1, 30, 0.5, 0),
              new Filters(1, 3000, 1, 0))) {
        if (none) {
          Result result = run(filters.of(Sampling.of(context)), type, values, 2);
          assertArrayEquals(new long[] {-1, -1}, result.tokens());
          assertTrue(Arrays.stream(result.probabilities()).allMatch(Double::isNaN));
        } else {
          judge(filters, type, values, 2);
        }
      }
    }
  }

  @Test
  void temperatureOfZeroTakesTheLargest() {
    double[] values = {1, 3, 2, 3, Double.NEGATIVE_INFINITY, -2, -1, -1, 0, -0.0, -5, 0};
    Result result = run(Sampling.of(context).withTemperature(0).withTopP(0.1), F32, values, 3);
    assertArrayEquals(new long[] {1, 2, 0}, result.tokens());
    assertArrayEquals(new double[] {1, 1, 1}, result.probabilities());
    assertArrayEquals(
        result.tokens(), run(Sampling.of(context).withTopK(1), F32, values, 3).tokens());
  }

  @Test
  @DisplayName("chi-square of many draws from what filters leave, and nothing else is drawn")
  void frequencies() {
    int draws = 2000;
    double[] row = new double[24];
    Arrays.setAll(row, i -> -0.125 * (i * 7 % 24));
    double[] values = new double[draws * row.length];
    for (int i = 0; i < draws; i++) {
      System.arraycopy(row, 0, values, i * row.length, row.length);
    }
    Filters filters = new Filters(0.8, 20, 0.9, 0.12);
    Result result = run(filters.of(Sampling.of(context)), F32, values, draws);
    SamplingReference truth = filters.truth(row);
    double[] counts = new double[row.length];
    for (long token : result.tokens()) {
      counts[(int) token]++;
    }
    double chiSquare = 0;
    for (int i = 0; i < row.length; i++) {
      double expected = truth.probability(i) * draws;
      if (expected == 0) {
        assertEquals(0, counts[i]);
      } else {
        chiSquare += (counts[i] - expected) * (counts[i] - expected) / expected;
      }
    }
    assertEquals(13, truth.left());
    // Of 12 degrees of freedom one in ten thousand is above 39.2; the seed is fixed.
    assertTrue(chiSquare < 39.2, "chi-square " + chiSquare);
  }

  @Test
  @DisplayName("a parameter for each row; with seeds of their own, rows may change places")
  void parametersOfRows() {
    double[] row = HardInput.NORMAL.row(700, StorageType.F32, 8);
    double[] values = new double[3 * row.length];
    for (int i = 0; i < 3; i++) {
      System.arraycopy(row, 0, values, i * row.length, row.length);
    }
    try (DeviceBuffer<ElementType.F32> floats = context.allocate(F32, 9, stream);
        DeviceBuffer<ElementType.I32> ks = context.allocate(I32, 3, stream);
        DeviceBuffer<ElementType.I64> seeds = context.allocate(I64, 3, stream);
        DeviceBuffer<ElementType.I64> offsets = context.allocate(I64, 3, stream)) {
      floats.copyFrom(new float[] {0.5f, 2, 0.5f, 0.9f, 1, 0.9f, 0, 0.1f, 0});
      ks.copyFrom(new int[] {20, 0, 20});
      seeds.copyFrom(new long[] {11, -12, 11});
      offsets.copyFrom(new long[] {100, 200, 100});
      Sampling sampling =
          Sampling.of(context)
              .withTemperature(floats.view(0, 3))
              .withTopP(floats.view(3, 6))
              .withMinP(floats.view(6, 9))
              .withTopK(ks)
              .withSeed(seeds)
              .withOffsets(offsets);
      Result result = run(sampling, F32, values, 3);
      new Filters(0.5, 20, 0.9, 0)
          .truth(row)
          .judge(PhiloxReference.bits(11, 100, 0), result.tokens()[0], result.probabilities()[0]);
      new Filters(2, 0, 1, 0.1)
          .truth(row)
          .judge(PhiloxReference.bits(-12, 200, 0), result.tokens()[1], result.probabilities()[1]);
      assertEquals(result.tokens()[0], result.tokens()[2]);

      floats.copyFrom(new float[] {-1, Float.NaN, 1, 1, 1, Float.NaN, 0, 0, 0});
      result = run(sampling, F32, values, 3);
      assertArrayEquals(new long[] {-1, -1, -1}, result.tokens());
    }
  }

  @Test
  @DisplayName("strided, unaligned and narrow equals dense; without probabilities as well")
  void stridesAndAlignment() {
    double[] values = HardInput.NORMAL.rows(6, 1037, StorageType.F32, 9);
    Sampling sampling = new Filters(1, 0, 0.9, 0).of(Sampling.of(context));
    long[] dense = run(sampling, F32, values, 6).tokens();
    double[] padded = new double[3 + 6 * 1041];
    for (int row = 0; row < 6; row++) {
      System.arraycopy(values, row * 1037, padded, 3 + row * 1041, 1037);
    }
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, padded.length, stream);
        DeviceBuffer<ElementType.I32> tokens = context.allocate(I32, 6, stream)) {
      Tensors.write(in, padded);
      sampling.forward(
          TensorView.strided(
              in.view(3, in.length()), new long[] {2, 3, 1037}, new long[] {3123, 1041, 1}),
          TensorView.of(tokens, 2, 3),
          OFFSET,
          stream);
      int[] places = new int[6];
      tokens.copyTo(places);
      assertArrayEquals(dense, Arrays.stream(places).asLongStream().toArray());
    }
  }

  @Test
  void everyOffsetSeedAndRowDrawsAnew() {
    double[] values = new double[8 * 1000];
    Set<String> seen = new HashSet<>();
    for (long seed : new long[] {0, 1, 1L << 32}) {
      long[] tokens = run(Sampling.of(context).withSeed(seed), F32, values, 8).tokens();
      assertTrue(Arrays.stream(tokens).distinct().count() > 4, Arrays.toString(tokens));
      assertTrue(seen.add(Arrays.toString(tokens)));
      assertArrayEquals(tokens, run(Sampling.of(context).withSeed(seed), F32, values, 8).tokens());
    }
  }

  @Test
  @DisplayName("a draw that has run before allocates nothing")
  void allocatesNothing() {
    Sampling sampling = Sampling.of(context).withTopK(3);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 8, stream);
        DeviceBuffer<ElementType.I32> tokens = context.allocate(I32, 2, stream);
        DeviceBuffer<ElementType.F32> probabilities = context.allocate(F32, 2, stream)) {
      in.zero(stream);
      TensorView<ElementType.F32> from = TensorView.of(in, 2, 4);
      TensorView<ElementType.I32> to = TensorView.of(tokens, 2);
      TensorView<ElementType.F32> shares = TensorView.of(probabilities, 2);
      Allocations.assertNone(() -> sampling.forward(from, to, shares, 0, stream));
      assertEquals(1.0 / 3, Tensors.read(probabilities)[1], 1e-7);
    }
  }

  @Test
  void nothingIsLaunchedForNoRows() {
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 0, stream);
        DeviceBuffer<ElementType.I32> tokens = context.allocate(I32, 0, stream)) {
      Sampling.of(context).forward(TensorView.of(in, 0, 10), TensorView.of(tokens, 0), 0, stream);
    }
  }

  @Test
  void theKernelIsNamed() {
    Sampling sampling = Sampling.of(context).withTopK(7);
    assertEquals("culebra_sampling_block_bf16", sampling.kernelName(ElementType.BF16, 500, 100));
    assertEquals(
        "sampling with temperature 1.0, top-k 7, top-p 1.0, min-p 0.0, seed 0",
        sampling.toString());
  }

  @Test
  void parametersOutOfRangeAreRefused() {
    Sampling plain = Sampling.of(context);
    for (double bad : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY, 1e39}) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> plain.withTemperature(bad)),
          "temperature " + bad);
    }
    assertTells(assertThrows(IllegalArgumentException.class, () -> plain.withTopK(-1)), "top-k -1");
    for (double bad : new double[] {0, -0.1, 1.1, Double.NaN}) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> plain.withTopP(bad)),
          "top-p " + bad,
          "above 0 to 1");
    }
    for (double bad : new double[] {-0.1, 1.1, Double.NaN}) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> plain.withMinP(bad)),
          "min-p " + bad,
          "from 0 to 1");
    }
  }

  @Test
  void viewsThatDoNotFitAreRefused() {
    Sampling plain = Sampling.of(context);
    try (DeviceBuffer<ElementType.F32> floats = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.F32> others = context.allocate(F32, 12, stream);
        DeviceBuffer<ElementType.F64> doubles = context.allocate(ElementType.F64, 10, stream);
        DeviceBuffer<ElementType.I32> ints = context.allocate(I32, 20, stream)) {
      TensorView<ElementType.F32> in = TensorView.of(floats, 10, 10);
      TensorView<?> tokens = TensorView.of(ints.view(0, 10), 10);
      refused(plain, in, TensorView.of(others.view(0, 10), 10), "I32 or I64");
      refused(plain, in, TensorView.of(ints, 20), "10 rows", "tokens");
      refused(
          plain,
          in,
          TensorView.strided(ints, new long[] {10}, new long[] {2}),
          "10 rows",
          "side by side");
      refused(plain, TensorView.of(floats.view(0, 0), 10, 0), tokens, "a row of 0 elements");
      refused(plain, in, TensorView.of(floats.as(I32).view(0, 10), 10), "overlap");
      refused(plain.withTemperature(others), in, tokens, "10 rows", "12 temperatures");
      refused(plain.withTopK(ints.view(9, 19)), in, tokens, "tokens overlap", "parameters");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> plain.forward(TensorView.of(doubles, 1, 10), tokens, 0, stream)),
          "F64");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> plain.forward(in, tokens, TensorView.of(others, 12), 0, stream)),
          "probabilities");
    }
  }

  private void refused(
      Sampling sampling, TensorView<ElementType.F32> in, TensorView<?> tokens, String... told) {
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> sampling.forward(in, tokens, 0, stream)),
        told);
  }
}
