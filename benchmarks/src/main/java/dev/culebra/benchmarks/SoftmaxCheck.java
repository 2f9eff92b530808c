package dev.culebra.benchmarks;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.TimedEvent;
import dev.culebra.ops.Softmax;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The softmax at the sizes that count: first that it is right, then how many bytes a second it
 * moves, beside a device-to-device copy of the same bytes in the same queue.
 *
 * <p>Shapes, types, samples and rotation are kept equal to {@code torch_softmax.py}.
 */
final class SoftmaxCheck {
  private record Shape(int rows, int rowLength) {}

  private static final List<Shape> SHAPES = List.of(new Shape(4000, 32000), new Shape(16384, 8192));
  private static final List<Shape> SMOKE_SHAPES = List.of(new Shape(37, 1000), new Shape(64, 128));
  private static final int SAMPLES = 30;
  private static final int SMOKE_SAMPLES = 3;
  private static final int WARM_UPS = 5;
  private static final int CHECKED_ROWS = 64;

  /** Four times the largest L2 cache (60 MB): what was read last time is gone. */
  private static final long ROTATION_BYTES = 4L * (60 << 20);

  /** Elements of the pieces in which tensors go between host and device. */
  private static final int CHUNK = 1 << 22;

  private final Context context;
  private final Stream stream;
  private final Report report;
  private final boolean smoke;

  private SoftmaxCheck(Context context, Stream stream, Report report, boolean smoke) {
    this.context = context;
    this.stream = stream;
    this.report = report;
    this.smoke = smoke;
  }

  /**
   * Measures every shape and type.
   *
   * @throws IllegalStateException if a result is wrong; it then has no speed
   */
  static void measure(Device device, Report report, boolean smoke) throws IOException {
    try (Context context = Context.primary(device);
        Stream stream = context.newStream()) {
      SoftmaxCheck check = new SoftmaxCheck(context, stream, report, smoke);
      for (Shape shape : smoke ? SMOKE_SHAPES : SHAPES) {
        check.measure(shape, F32, StorageType.F32);
        check.measure(shape, BF16, StorageType.BF16);
      }
    }
  }

  private <E extends ElementType<E>> void measure(
      Shape shape, ElementType<E> type, StorageType storage) throws IOException {
    long elements = (long) shape.rows * shape.rowLength;
    long bytes = elements * type.byteSize();
    int buffers = smoke ? 2 : (int) Math.max(2, Math.ceilDiv(ROTATION_BYTES, 2 * bytes));
    Logits logits = new Logits(new SplittableRandom().nextLong());
    Softmax softmax = Softmax.of(context, Softmax.Algorithm.ONLINE);

    List<DeviceBuffer<E>> inputs = new ArrayList<>();
    List<DeviceBuffer<E>> outputs = new ArrayList<>();
    try (DeviceBuffer<E> copies = context.allocate(type, elements, stream)) {
      for (int i = 0; i < buffers; i++) {
        inputs.add(context.allocate(type, elements, stream));
        outputs.add(context.allocate(type, elements, stream));
        fill(inputs.get(i), logits, storage);
        outputs.get(i).fill(Double.NaN, stream);
      }
      for (int i = 0; i < buffers; i++) {
        softmax.forward(tensor(inputs.get(i), shape), tensor(outputs.get(i), shape), stream);
      }
      int[] checked =
          new SplittableRandom(logits.seed())
              .ints(0, shape.rows)
              .distinct()
              .limit(Math.min(CHECKED_ROWS, shape.rows))
              .toArray();
      // The first and the last row are where a wrong bound shows.
      checked[0] = 0;
      checked[checked.length - 1] = shape.rows - 1;
      double allowed = allowedRelativeError(storage);
      double worst = 0;
      for (DeviceBuffer<E> output : outputs) {
        requireNoPoison(output, storage);
        for (int row : checked) {
          worst = Math.max(worst, relativeError(output, row, shape.rowLength, logits, storage));
        }
      }
      if (!(worst <= allowed)) {
        throw new IllegalStateException(
            "softmax of %d x %d %s: relative error %.3g, allowed %.3g"
                .formatted(shape.rows, shape.rowLength, type, worst, allowed));
      }

      int samples = smoke ? SMOKE_SAMPLES : SAMPLES;
      double[] microseconds = new double[samples];
      double[] copyMicroseconds = new double[samples];
      time(softmax, shape, inputs, outputs, copies, microseconds, copyMicroseconds);

      double speed = 2 * bytes / RatioInterval.median(microseconds) / 1e3;
      double copySpeed = 2 * bytes / RatioInterval.median(copyMicroseconds) / 1e3;
      Map<String, Object> entry = new LinkedHashMap<>();
      entry.put("implementation", "Culebra");
      entry.put("kernel", softmax.kernelName(type));
      entry.put("rows", shape.rows);
      entry.put("row_length", shape.rowLength);
      entry.put("type", type.symbol());
      entry.put("seed", logits.seed());
      entry.put("buffers", buffers);
      entry.put("microseconds", microseconds);
      entry.put("gigabytes_per_second", speed);
      entry.put("copy_microseconds", copyMicroseconds);
      entry.put("copy_gigabytes_per_second", copySpeed);
      entry.put("max_relative_error", worst);
      entry.put("allowed_relative_error", allowed);
      entry.put("checked_rows", (long) checked.length * buffers);
      report.add("softmax", entry);
      System.out.printf(
          "softmax %d x %d %-4s  %s: %.0f GB/s, a copy of the same bytes %.0f GB/s; relative error %.2g (allowed %.2g)%n",
          shape.rows,
          shape.rowLength,
          type,
          softmax.kernelName(type),
          speed,
          copySpeed,
          worst,
          allowed);
    } finally {
      inputs.forEach(DeviceBuffer::close);
      outputs.forEach(DeviceBuffer::close);
    }
  }

  /**
   * One rounding of the result into its type, and the fp32 arithmetic before it: the exponential of
   * a difference of up to 20, rounded to fp32, is off by up to 20 half-ulps, and so are the terms
   * of the sum.
   */
  private static double allowedRelativeError(StorageType storage) {
    return storage.unitRoundoff() + 64 * StorageType.F32.unitRoundoff();
  }

  private <E extends ElementType<E>> TensorView<E> tensor(DeviceBuffer<E> buffer, Shape shape) {
    return TensorView.of(buffer, shape.rows, shape.rowLength);
  }

  private static void fill(DeviceBuffer<?> buffer, Logits logits, StorageType storage) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment chunk = arena.allocate((long) CHUNK * storage.bytes());
      for (long from = 0; from < buffer.length(); from += CHUNK) {
        int count = (int) Math.min(CHUNK, buffer.length() - from);
        long first = from;
        IntStream.range(0, count)
            .parallel()
            .forEach(i -> storage.set(chunk, i, logits.at(first + i)));
        buffer.view(from, from + count).copyFrom(chunk.asSlice(0, (long) count * storage.bytes()));
      }
    }
  }

  private static void requireNoPoison(DeviceBuffer<?> buffer, StorageType storage) {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment chunk = arena.allocate((long) CHUNK * storage.bytes());
      for (long from = 0; from < buffer.length(); from += CHUNK) {
        int count = (int) Math.min(CHUNK, buffer.length() - from);
        buffer.view(from, from + count).copyTo(chunk.asSlice(0, (long) count * storage.bytes()));
        long unwritten =
            LongStream.range(0, count)
                .parallel()
                .filter(i -> Double.isNaN(storage.get(chunk, i)))
                .count();
        if (unwritten > 0) {
          throw new IllegalStateException(
              unwritten
                  + " NaN among elements "
                  + from
                  + " to "
                  + (from + count)
                  + " of a softmax of finite rows");
        }
      }
    }
  }

  private static double relativeError(
      DeviceBuffer<?> output, int row, int rowLength, Logits logits, StorageType storage) {
    long first = (long) row * rowLength;
    double[] stored =
        LongStream.range(first, first + rowLength)
            .mapToDouble(i -> storage.round(logits.at(i)))
            .toArray();
    double[] truth = SoftmaxReference.rows(stored, rowLength, 1, false);
    double worst = 0;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment actual = arena.allocate((long) rowLength * storage.bytes());
      output.view(first, first + rowLength).copyTo(actual);
      for (int i = 0; i < rowLength; i++) {
        worst = Math.max(worst, Math.abs(storage.get(actual, i) - truth[i]) / truth[i]);
      }
    }
    return worst;
  }

  /**
   * Softmax and copy in turn. All is queued before the first is waited for: the device then never
   * waits for a launch. Only the stream's own queue could be the limit, and it takes a thousand
   * entries.
   */
  private <E extends ElementType<E>> void time(
      Softmax softmax,
      Shape shape,
      List<DeviceBuffer<E>> inputs,
      List<DeviceBuffer<E>> outputs,
      DeviceBuffer<E> copies,
      double[] microseconds,
      double[] copyMicroseconds) {
    int samples = microseconds.length;
    TimedEvent[][] events = new TimedEvent[samples][3];
    for (TimedEvent[] sample : events) {
      Arrays.setAll(sample, i -> context.newTimedEvent());
    }
    try {
      for (int i = -WARM_UPS; i < samples; i++) {
        int buffer = Math.floorMod(i, inputs.size());
        TensorView<E> in = tensor(inputs.get(buffer), shape);
        TensorView<E> out = tensor(outputs.get(buffer), shape);
        if (i >= 0) {
          stream.record(events[i][0]);
        }
        softmax.forward(in, out, stream);
        if (i >= 0) {
          stream.record(events[i][1]);
        }
        copies.copyFromAsync(inputs.get(buffer), stream);
        if (i >= 0) {
          stream.record(events[i][2]);
        }
      }
      stream.synchronize();
      for (int i = 0; i < samples; i++) {
        microseconds[i] = events[i][1].elapsedSince(events[i][0]).toNanos() / 1e3;
        copyMicroseconds[i] = events[i][2].elapsedSince(events[i][1]).toNanos() / 1e3;
      }
    } finally {
      for (TimedEvent[] sample : events) {
        for (TimedEvent event : sample) {
          event.close();
        }
      }
    }
  }
}
