package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.I64;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Places, reductions along an axis and reductions of segments of large tensors. */
class LargeReductionTest extends LargeTensors {

  @Test
  @DisplayName("the checks themselves, with sizes that fit anywhere")
  void small() {
    for (long count : new long[] {2047, 50_000}) {
      places(SMALL_BLOCK, count);
    }
    rows(SMALL_BLOCK, 3, 17_011);
    rows(SMALL_BLOCK, 600, 70);
    columns(SMALL_BLOCK, 1, 70, 1003);
    columns(SMALL_BLOCK, 41, 3, 401);
    columns(SMALL_BLOCK, 1, 20_011, 2);
    segments(SMALL_BLOCK, 50_000);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("argmax and argmin of all of 2^32 + 12345 elements")
  void placesOfAll() {
    requireGpuWith(12);
    places(LARGE_BLOCK, (1L << 32) + 12_345);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("rows of 2^31 + 5 elements, and 3.1 million of 1003")
  void longAndManyRows() {
    requireGpuWith(20);
    rows(LARGE_BLOCK, 3, (1L << 31) + 5);
    rows(LARGE_BLOCK, 3_100_003, 1003);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("columns of 40 009 x 60 013 elements; 810 million columns of 3; 4 of 2^30 + 1")
  void columnsOfLargeMatrices() {
    requireGpuWith(24);
    columns(LARGE_BLOCK, 1, 40_009, 60_013);
    columns(LARGE_BLOCK, 9001, 3, 90_001);
    columns(LARGE_BLOCK, 1, (1L << 30) + 1, 4);
  }

  @Test
  @Tag("gpu-only")
  @DisplayName("segments on both sides of 2^31, and of more than 2^31 elements")
  void segmentsOfLargeTensors() {
    requireGpuWith(16);
    segments(LARGE_BLOCK, (1L << 32) + 2000);
  }

  /** Of a tensor whose largest and smallest elements are its last two, and of equal elements. */
  private void places(int block, long count) {
    Pattern pattern = new Pattern(BF16, block, 51, true);
    Reduction largest = Reduction.of(context, Reduction.Op.ARGMAX);
    Reduction smallest = Reduction.of(context, Reduction.Op.ARGMIN);
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, count, stream)) {
      TensorView<?> view = TensorView.of(all, count);
      pattern.fill(all, stream);
      Tensors.write(all.view(count - 2, count), new double[] {64, -64});
      assertEquals(count - 2, largest.allAsLong(view, stream));
      assertEquals(count - 1, smallest.allAsLong(view, stream));
      all.fill(1, stream);
      assertEquals(0, largest.allAsLong(view, stream), "of equal ones the first");
      Tensors.write(all.view(count - 1, count), new double[] {Double.NaN});
      assertEquals(count - 1, smallest.allAsLong(view, stream), "NaN is the smallest too");
    }
  }

  private void rows(int block, long rows, long length) {
    Pattern pattern = new Pattern(BF16, block, 52, true);
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, rows * length, stream)) {
      pattern.fill(all, stream);
      TensorView<?> view = TensorView.of(all, rows, length);
      for (Reduction.Op op : new Reduction.Op[] {Reduction.Op.SUM, Reduction.Op.ARGMAX}) {
        try (DeviceBuffer<?> out = context.allocate(op.resultType(BF16), rows, stream)) {
          Tensors.poison(out, stream);
          Reduction.of(context, op).lastAxis(view, TensorView.of(out, rows), stream);
          for (long start : samples(rows)) {
            double[] got = readAny(out, start);
            for (int i = 0; i < got.length; i++) {
              long from = (start + i) * length;
              check(op, pattern, from, from + length, got[i]);
            }
          }
        }
      }
    }
  }

  private static void check(Reduction.Op op, Pattern pattern, long from, long to, double actual) {
    String told = op + " of elements " + from + " to " + to;
    if (op == Reduction.Op.ARGMAX) {
      assertEquals((double) pattern.placeOfLargest(from, to), actual, told);
    } else {
      double truth = pattern.sums.between(from, to);
      assertEquals(truth, actual, 0x1p-22 * Math.abs(truth), told);
    }
  }

  private void columns(int block, long matrices, long rows, long columns) {
    Pattern pattern = new Pattern(BF16, block, 53, true);
    long count = matrices * rows * columns;
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, count, stream)) {
      pattern.fill(all, stream);
      // The largest element is the last.
      Tensors.write(all.view(count - 1, count), new double[] {64});
      TensorView<?> view = TensorView.of(all, matrices, rows, columns);
      long results = matrices * columns;
      for (Reduction.Op op : new Reduction.Op[] {Reduction.Op.SUM, Reduction.Op.ARGMAX}) {
        try (DeviceBuffer<?> out = context.allocate(op.resultType(BF16), results, stream)) {
          Tensors.poison(out, stream);
          Reduction.of(context, op).along(1, view, TensorView.of(out, matrices, columns), stream);
          for (long start : samples(results)) {
            double[] got = readAny(out, start);
            for (int i = 0; i < got.length; i++) {
              checkColumn(op, pattern, start + i, rows, columns, start + i == results - 1, got[i]);
            }
          }
        }
      }
    }
  }

  /** Of a column whose elements come again after as many rows as the block is long. */
  private static void checkColumn(
      Reduction.Op op,
      Pattern pattern,
      long result,
      long rows,
      long columns,
      boolean endsWith64,
      double actual) {
    long first = result / columns * rows * columns + result % columns;
    long period = Math.min(rows, pattern.block.length);
    double sum = 0;
    double ofRest = 0;
    long place = 0;
    for (long row = 0; row < period; row++) {
      double x = pattern.at(first + row * columns);
      sum += x;
      ofRest += row < rows % period ? x : 0;
      place = x > pattern.at(first + place * columns) ? row : place;
    }
    long periods = rows / period;
    sum = periods * sum + ofRest;
    double tolerance = 0x1p-22 * Math.abs(sum); // all elements but one have the same sign
    if (endsWith64) {
      place = rows - 1;
      sum += 64 - pattern.at(first + (rows - 1) * columns);
      tolerance += 0x1p-22 * 64;
    }
    String told = op + " of column " + result;
    if (op == Reduction.Op.ARGMAX) {
      assertEquals((double) place, actual, told);
    } else {
      assertEquals(sum, actual, tolerance, told);
    }
  }

  /** Short and long ones, with the middle of the tensor between them. */
  private void segments(int block, long count) {
    Pattern pattern = new Pattern(BF16, block, 54, true);
    long half = count / 2;
    long[] offsets = {0, 5, 5, half - 3, half + 5, half + 1000, count - 7, count, count};
    int segments = offsets.length - 1;
    try (DeviceBuffer<ElementType.BF16> all = context.allocate(BF16, count, stream);
        DeviceBuffer<ElementType.I64> ends = context.allocate(I64, offsets.length, stream)) {
      pattern.fill(all, stream);
      ends.copyFrom(offsets);
      for (Reduction.Op op : new Reduction.Op[] {Reduction.Op.SUM, Reduction.Op.ARGMAX}) {
        try (DeviceBuffer<?> out = context.allocate(op.resultType(BF16), segments, stream)) {
          Tensors.poison(out, stream);
          Reduction.of(context, op)
              .segments(
                  TensorView.of(all, count),
                  TensorView.of(ends, offsets.length),
                  TensorView.of(out, segments),
                  stream);
          double[] got = Tensors.readAny(out);
          for (int s = 0; s < segments; s++) {
            if (offsets[s] == offsets[s + 1]) {
              assertEquals(op == Reduction.Op.ARGMAX ? -1 : 0, got[s], "of nothing");
            } else {
              check(op, pattern, offsets[s], offsets[s + 1], got[s]);
            }
          }
        }
      }
    }
  }
}
