package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.I64;
import static dev.culebra.ElementType.U8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Masks, states, top-k and sampling of large tensors. */
class LargeRowsTest extends LargeTensors {
  private static final int K = 5;

  @Test
  @DisplayName("the checks themselves, with sizes that fit anywhere")
  void small() {
    masked(SMALL_BLOCK, 30, 1024);
    masked(SMALL_BLOCK, 2, 9001);
    states(SMALL_BLOCK, 3, 20_011);
    states(SMALL_BLOCK, 5, 1001);
    topK(SMALL_BLOCK, 30, 1024);
    topK(SMALL_BLOCK, 2, 40_009);
    sampling(SMALL_BLOCK, 40, 1024);
    sampling(SMALL_BLOCK, 3, 9001);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of 2.1 million masked rows of 1024, with bytes and with addends")
  void manyMaskedRows() {
    requireGpuWith(16);
    masked(LARGE_BLOCK, 2_100_001, 1024);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of 3 masked rows of 2^30 + 3, with bytes and with addends")
  void longMaskedRows() {
    requireGpuWith(24);
    masked(LARGE_BLOCK, 3, (1L << 30) + 3);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("states of the pieces of one row of 3 (2^31 - 1) elements, and its softmax")
  void statesOfALargeRow() {
    requireGpuWith(16);
    states(LARGE_BLOCK, 3, Integer.MAX_VALUE);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("top-k of 2.1 million rows of 1024, and of 3 of 2^31 - 1")
  void topKOfLargeTensors() {
    requireGpuWith(20);
    topK(LARGE_BLOCK, 2_100_001, 1024);
    topK(LARGE_BLOCK, 3, Integer.MAX_VALUE);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("a token of each of 17 001 rows of 131 072, and of 3 of 2^30")
  void samplingOfLargeTensors() {
    requireGpuWith(12);
    sampling(LARGE_BLOCK, 17_001, 131_072);
    sampling(LARGE_BLOCK, 3, 1L << 30);
  }

  /** In place; masked by a byte of 0, or by an addend of -inf where others are added. */
  private void masked(int block, long rows, long length) {
    Pattern pattern = new Pattern(BF16, block, 61, false);
    Pattern addends = new Pattern(BF16, block, 62, false);
    byte[] counts = new byte[block];
    double[] masked = new double[block];
    double[] added = new double[block];
    for (int i = 0; i < block; i++) {
      if (addends.block[i] < 0) {
        addends.block[i] = Double.NEGATIVE_INFINITY;
      } else {
        counts[i] = 1;
        masked[i] = Math.exp(pattern.block[i]);
      }
      added[i] = Math.exp(pattern.block[i] + addends.block[i]);
    }
    long count = rows * length;
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, count, stream)) {
      TensorView<ElementType.BF16> view = TensorView.of(all, rows, length);
      try (DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, count, stream)) {
        pattern.fill(all, stream);
        long first = Math.min(block, count);
        bytes.view(0, first).copyFrom(MemorySegment.ofArray(counts).asSlice(0, first));
        repeat(bytes, first, stream);
        RowMask mask = RowMask.ofElements(TensorView.of(bytes, rows, length));
        Softmax.of(context).forward(view, view, mask, stream);
        checkShares(masked, all, length);
      }
      try (DeviceBuffer<ElementType.BF16> numbers = context.allocate(BF16, count, stream)) {
        pattern.fill(all, stream);
        addends.fill(numbers, stream);
        RowMask mask = RowMask.ofAddends(TensorView.of(numbers, rows, length));
        Softmax.of(context).forward(view, view, mask, stream);
        checkShares(added, all, length);
      }
    }
  }

  /** Whether results are the weights of a block that repeats, each over the sum of its row. */
  private static void checkShares(double[] weights, DeviceBuffer<?> result, long length) {
    Sums sums = new Sums(weights);
    double relative = 2 * relative(Tensors.storage(result.type()));
    double least = Tensors.storage(result.type()).minValue();
    for (long start : samples(result.length())) {
      double[] got = read(result, start);
      for (int i = 0; i < got.length; i++) {
        long at = start + i;
        long row = at / length;
        double truth =
            weights[(int) (at % weights.length)] / sums.between(row * length, (row + 1) * length);
        assertEquals(
            truth, got[i], relative * truth + least, () -> "element " + at + " of row " + row);
      }
    }
  }

  /** Of one row in pieces side by side, each softmax in place. */
  private void states(int block, int pieces, long length) {
    Pattern pattern = new Pattern(BF16, block, 63, false);
    long count = pieces * length;
    SoftmaxStates operation = SoftmaxStates.of(context);
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, count, stream);
        DeviceBuffer<ElementType.F32> memory = context.allocate(F32, 2L * pieces + 2, stream)) {
      pattern.fill(all, stream);
      TensorView<ElementType.F32> whole = TensorView.of(memory.view(0, 2), 1, 2);
      DeviceView<ElementType.F32> parts = memory.view(2, memory.length());
      for (int p = 0; p < pieces; p++) {
        operation.states(
            TensorView.of(all.view(p * length, (p + 1) * length), 1, length),
            TensorView.of(parts.view(2L * p, 2L * p + 2), 1, 2),
            stream);
      }
      operation.merge(TensorView.of(parts, pieces, 1, 2), whole, stream);
      double[] states = Tensors.read(memory);
      assertEquals(pattern.largest, states[0]);
      double d = pattern.weights.between(0, count);
      assertEquals(d, states[1], relative(Tensors.storage(F32)) * d);
      for (int p = 0; p < pieces; p++) {
        double of = pattern.weights.between(p * length, (p + 1) * length);
        // A piece need not have the largest element of the row.
        double weight = Math.exp(states[2 * p + 2] - pattern.largest);
        assertEquals(of, states[2 * p + 3] * weight, relative(Tensors.storage(F32)) * of);
        TensorView<ElementType.BF16> piece =
            TensorView.of(all.view(p * length, (p + 1) * length), 1, length);
        operation.finish(piece, whole, piece, stream);
      }
      checkShares(Arrays.stream(pattern.block).map(Math::exp).toArray(), all, count);
    }
  }

  /** Elements and places of the largest of each row. */
  private void topK(int block, long rows, long length) {
    Pattern pattern = new Pattern(F16, block, 64, false);
    try (DeviceBuffer<ElementType.F16> all = context.allocate(F16, rows * length, stream);
        DeviceBuffer<ElementType.F16> best = context.allocate(F16, rows * K, stream);
        DeviceBuffer<ElementType.I64> places = context.allocate(I64, rows * K, stream)) {
      pattern.fill(all, stream);
      Tensors.poison(best, stream);
      Tensors.poison(places, stream);
      TopK.of(context, K)
          .withContent(TopK.Content.ELEMENTS)
          .forward(
              TensorView.of(all, rows, length),
              TensorView.of(best, rows, K),
              TensorView.of(places, rows, K),
              stream);
      for (long start : samples(rows)) {
        long row = start;
        long[] truth = placesOfLargest(pattern, row * length, length);
        assertArrayEquals(
            truth,
            Tensors.readIntegers(places.view(row * K, (row + 1) * K)),
            () -> "places in row " + row);
        double[] values =
            Arrays.stream(truth).mapToDouble(i -> pattern.at(row * length + i)).toArray();
        assertArrayEquals(
            values, Tensors.read(best.view(row * K, (row + 1) * K)), () -> "of row " + row);
      }
    }
  }

  /** The K first of a row in the order of its elements, of equal ones the lower place. */
  private static long[] placesOfLargest(Pattern pattern, long from, long length) {
    // An element that comes again with its block may come before the next smaller one.
    long blocks = Math.min(K, Math.ceilDiv(length, (long) pattern.block.length));
    Comparator<Long> order =
        Comparator.<Long>comparingDouble(i -> -pattern.at(from + i)).thenComparing(i -> i);
    List<Long> candidates =
        new ArrayList<>(
            LongStream.range(0, Math.min(length, pattern.block.length))
                .boxed()
                .sorted(order)
                .limit(K)
                .toList());
    for (int i = candidates.size() - 1; i >= 0; i--) {
      for (long next = 1; next < blocks; next++) {
        long place = candidates.get(i) + next * pattern.block.length;
        if (place < length) {
          candidates.add(place);
        }
      }
    }
    return candidates.stream().sorted(order).limit(K).mapToLong(i -> i).toArray();
  }

  /** The most probable of each row; and of the last rows the same draws as by themselves. */
  private void sampling(int block, long rows, long length) {
    Pattern pattern = new Pattern(BF16, block, 65, false);
    long last = Math.min(2, rows);
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, rows * length, stream);
        DeviceBuffer<ElementType.I64> tokens = context.allocate(I64, rows, stream);
        DeviceBuffer<ElementType.I32> ofLast = context.allocate(I32, last, stream)) {
      pattern.fill(all, stream);
      TensorView<ElementType.BF16> view = TensorView.of(all, rows, length);
      Sampling sampling = Sampling.of(context).withSeed(66);
      Tensors.poison(tokens, stream);
      sampling.withTemperature(0).forward(view, TensorView.of(tokens, rows), 0, stream);
      for (long row : samples(rows)) {
        assertEquals(
            pattern.placeOfLargest(row * length, (row + 1) * length),
            Tensors.readIntegers(tokens.view(row, row + 1))[0],
            () -> "the largest of row " + row);
      }
      sampling.forward(view, TensorView.of(tokens, rows), 3, stream);
      sampling
          .withFirstRow(rows - last)
          .forward(
              TensorView.of(all.view((rows - last) * length, rows * length), last, length),
              TensorView.of(ofLast, last),
              3,
              stream);
      assertArrayEquals(
          Tensors.readIntegers(tokens.view(rows - last, rows)), Tensors.readIntegers(ofLast));
    }
  }
}
