package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Softmax, its gradient and reductions of all elements of large tensors, whose results are all
 * looked at by a maximum and a minimum, which keep the NaN that the memory was filled with.
 */
class LargeTensorTest extends LargeTensors {

  /** The softmax of rows that lie {@code stride} apart; in place, or into memory full of NaN. */
  private <E extends ElementType<E>> void softmax(
      ElementType<E> type, int block, long rows, long length, long stride, boolean inPlace) {
    Pattern pattern = new Pattern(type, block, 41, false);
    long span = (rows - 1) * stride + length;
    long[] shape = {rows, length};
    long[] strides = {stride, 1};
    try (DeviceBuffer<E> in = context.allocate(type, span, stream);
        DeviceBuffer<E> other = context.allocate(type, inPlace ? 1 : span, stream)) {
      DeviceBuffer<E> out = inPlace ? in : other;
      other.fill(Double.NaN, stream);
      pattern.fill(in, stream);
      Softmax.of(context)
          .forward(
              TensorView.strided(in, shape, strides),
              TensorView.strided(out, shape, strides),
              stream);
      double relative = 2 * relative(pattern.storage);
      for (long start : samples(span)) {
        double[] got = read(out, start);
        for (int i = 0; i < got.length; i++) {
          long at = start + i;
          long row = at / stride;
          if (at - row * stride >= length) {
            double untouched = inPlace ? pattern.at(at) : Double.NaN;
            assertEquals(untouched, got[i], "element " + at + " lies between rows");
            continue;
          }
          double sum = pattern.weights.between(row * stride, row * stride + length);
          double truth = Math.exp(pattern.at(at) - pattern.largest) / sum;
          assertEquals(
              truth,
              got[i],
              relative * truth + pattern.storage.minValue(),
              () -> "element " + at + " of row " + row);
        }
      }
      if (stride == length) {
        long times = length / block;
        // Of a row as long as the block, or longer: no result is above that of the largest element.
        double most =
            length < block ? 1 : (1 + relative) / (times * pattern.weights.between(0, block));
        double max = extreme(Reduction.Op.MAX, out);
        assertTrue(max > 0 && max <= most, () -> "the largest result is " + max + " of " + most);
        double min = extreme(Reduction.Op.MIN, out);
        assertTrue(min >= 0 && min < max, () -> "the smallest result is " + min);
      }
    }
  }

  @Test
  @DisplayName("the checks themselves, with sizes that fit anywhere")
  void small() {
    softmax(BF16, SMALL_BLOCK, 3, 20_011, 20_011, true);
    softmax(F16, SMALL_BLOCK, 70, 2050, 2050, false);
    softmax(F16, SMALL_BLOCK, 210, 1024, 1024, false);
    softmax(F32, SMALL_BLOCK, 300, 9, 9, false);
    softmax(F32, SMALL_BLOCK, 3, 1500, 2100, true);
    softmax(F32, SMALL_BLOCK, 3, 1500, 2100, false);
    softmax(F64, SMALL_BLOCK, 9, 1017, 1017, false);
    gradient(SMALL_BLOCK, 1100);
    for (long count : new long[] {2047, 2048, 2049, 50_000}) {
      reductions(SMALL_BLOCK, count);
    }
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of 3 rows of 2^31 - 1 bf16, in place")
  void longestRows() {
    requireGpuWith(16);
    long length = Integer.MAX_VALUE;
    softmax(BF16, LARGE_BLOCK, 3, length, length, true);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of 669 x 128 rows of 50259 f16: beyond 2^32 elements (pytorch#84144)")
  void beyondTwoToThe32() {
    requireGpuWith(20);
    softmax(F16, LARGE_BLOCK, 669 * 128, 50_259, 50_259, false);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of 2.1 million rows of 1024 f16 (onnxruntime#32299)")
  void manyRowsOfWarps() {
    requireGpuWith(12);
    softmax(F16, LARGE_BLOCK, 2_100_001, 1024, 1024, false);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of 2^28 rows of 9 f32 (tensorflow#61639)")
  void moreRowsThanAGridHasBlocks() {
    requireGpuWith(24);
    softmax(F32, LARGE_BLOCK, 1L << 28, 9, 9, false);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("softmax of few rows that lie more than 2^31 elements apart")
  void farApart() {
    requireGpuWith(20);
    softmax(F32, LARGE_BLOCK, 3, 100_003, (1L << 31) + 8, true);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("the gradient of a log-softmax of 1.1e9 rows of 2 (pytorch#52715)")
  void gradientOfManyRows() {
    requireGpuWith(16);
    gradient(LARGE_BLOCK, 1_100_000_000L);
  }

  @ParameterizedTest
  @Tag("gpu-only")
  @ValueSource(longs = {-1, 0, 1, (1L << 31) - 1, 1L << 31, (1L << 31) + 12_345})
  @DisplayName("sums and extremes of 2^31 and 2^32 elements, and some more or less (cub#129)")
  void reductionsOfLargeTensors(long beyond) {
    requireGpuWith(12);
    reductions(LARGE_BLOCK, (1L << 31) + beyond);
  }

  /** dx = dy - exp(y) * sum(dy), of rows of two. */
  private void gradient(int block, long rows) {
    Pattern results = new Pattern(BF16, block, 42, true);
    Pattern gradients = new Pattern(BF16, block, 43, false);
    try (DeviceBuffer<ElementType.BF16> y = context.allocate(BF16, 2 * rows, stream);
        DeviceBuffer<ElementType.BF16> dy = context.allocate(BF16, 2 * rows, stream);
        DeviceBuffer<ElementType.BF16> dx = context.allocate(BF16, 2 * rows, stream)) {
      results.fill(y, stream);
      gradients.fill(dy, stream);
      dx.fill(Double.NaN, stream);
      SoftmaxBackward.of(context)
          .withLog(true)
          .run(
              TensorView.of(y, rows, 2),
              TensorView.of(dy, rows, 2),
              TensorView.of(dx, rows, 2),
              stream);
      for (long start : samples(2 * rows)) {
        double[] got = read(dx, start);
        for (int i = 0; i < got.length; i++) {
          long at = start + i;
          double sum = gradients.at(at) + gradients.at(at ^ 1);
          double truth = gradients.at(at) - Math.exp(results.at(at)) * sum;
          double size = Math.abs(gradients.at(at)) + Math.abs(sum);
          assertEquals(
              truth, got[i], 0x1p-8 * Math.abs(truth) + 1e-5 * size, () -> "element " + at);
        }
      }
      assertTrue(Double.isFinite(extreme(Reduction.Op.MAX, dx)));
    }
  }

  /** Of a tensor whose largest and smallest elements are its last two. */
  private void reductions(int block, long count) {
    Pattern pattern = new Pattern(BF16, block, 44, true);
    double truth = pattern.sums.between(0, count - 2) + 64 - 32;
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, count, stream)) {
      pattern.fill(all, stream);
      Tensors.write(all.view(count - 2, count), new double[] {64, -32});
      assertEquals(64, extreme(Reduction.Op.MAX, all));
      assertEquals(-32, extreme(Reduction.Op.MIN, all));
      assertEquals(truth, extreme(Reduction.Op.SUM, all), 0x1p-22 * Math.abs(truth));
      all.fill(1, stream);
      assertEquals((double) count, extreme(Reduction.Op.SUM, all), Math.ulp((float) count));
      assertEquals(1, extreme(Reduction.Op.MEAN, all), 1e-6);
    }
  }
}
