package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.HostBuffer;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Copies from device to host and the wait for them. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // open() comes first
public class CopiesBack {
  /** Bytes of a copy. */
  @Param({"4", "65536", "16777216"})
  public int bytes;

  private Context context;
  private Stream stream;
  private DeviceBuffer<ElementType.I32> device;
  private HostBuffer pinned;
  private int[] array;
  private int value;

  /** Memory of each kind. */
  @Setup
  public void open() {
    context = Context.primary(Device.of(0));
    Driver.ctxSetCurrent(context.handle());
    stream = context.newStream();
    device = context.allocate(ElementType.I32, bytes / Integer.BYTES, stream);
    pinned = context.allocateHost(bytes);
    array = new int[bytes / Integer.BYTES];
  }

  /** Another value on the device, and something else where it will go. */
  @Setup(Level.Iteration)
  public void fill() {
    value = (int) System.nanoTime() | 1;
    device.fill((long) value, stream);
    stream.synchronize();
    array[array.length - 1] = 0;
    pinned.segment().set(JAVA_INT, bytes - 4L, 0);
  }

  /** That it arrived where the benchmark copies to. */
  @TearDown(Level.Iteration)
  public void check() {
    int got = array[array.length - 1];
    Loop.require(value, got != 0 ? got : pinned.segment().get(JAVA_INT, bytes - 4L));
  }

  /** Gives back. */
  @TearDown
  public void close() {
    pinned.close();
    device.close();
    stream.close();
    Driver.ctxSetCurrent(0);
    context.close();
  }

  /** Into pinned memory. */
  @Benchmark
  public void pinned() {
    device.copyToAsync(pinned, stream);
    stream.synchronize();
  }

  /** Into an array on the heap. */
  @Benchmark
  public void heapArray() {
    device.copyTo(array);
  }
}
