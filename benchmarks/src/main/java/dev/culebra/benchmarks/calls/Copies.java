package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.HostBuffer;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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

/** Copies from host to device and the wait for them, by size and by kind of host memory. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // open() comes first
public class Copies {
  private static final MethodHandle LOOP = DriverLoop.link("culebra_baseline_copy", 7);
  private static final long COPY = cuda_h.cuMemcpyHtoDAsync_v2$address().address();
  private static final long WAIT = cuda_h.cuStreamSynchronize$address().address();

  /** Bytes of a copy. */
  @Param({"4", "65536", "16777216"})
  public int bytes;

  private Context context;
  private Stream stream;
  private DeviceBuffer<ElementType.I32> device;
  private HostBuffer pinned;
  private int[] array;
  private final Arena arena = Arena.ofConfined();
  private MemorySegment segment;
  private MemorySegment mapped;
  private Path file;

  /** Memory of each kind, with a value that changes from iteration to iteration. */
  @Setup
  public void open() throws IOException {
    context = Context.primary(Device.of(0));
    Driver.ctxSetCurrent(context.handle());
    stream = context.newStream();
    device = context.allocate(ElementType.I32, bytes / Integer.BYTES, stream);
    pinned = context.allocateHost(bytes);
    array = new int[bytes / Integer.BYTES];
    segment = arena.allocate(bytes, 64);
    file = Files.createTempFile("culebra-copies", ".bin");
    Files.write(file, new byte[bytes]);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, bytes, arena);
    }
  }

  /** Another value in the last place, and something else where it will go. */
  @Setup(Level.Iteration)
  public void fill() {
    int value = (int) System.nanoTime() | 1;
    array[array.length - 1] = value;
    for (MemorySegment host : new MemorySegment[] {pinned.segment(), segment, mapped}) {
      host.set(JAVA_INT, bytes - 4L, value);
    }
    device.zero(stream);
    stream.synchronize();
  }

  /** That it arrived. */
  @TearDown(Level.Iteration)
  public void check() {
    int[] got = new int[array.length];
    device.copyTo(got);
    Loop.require(array[array.length - 1], got[got.length - 1]);
  }

  /** Gives back. */
  @TearDown
  public void close() throws IOException {
    arena.close();
    Files.delete(file);
    pinned.close();
    device.close();
    stream.close();
    Driver.ctxSetCurrent(0);
    context.close();
  }

  /** Of pinned memory, in C. */
  @Benchmark
  public void pinnedC() throws Throwable {
    Driver.check(
        "cuMemcpyHtoDAsync",
        (int)
            LOOP.invokeExact(
                COPY,
                WAIT,
                device.address(),
                pinned.segment().address(),
                (long) bytes,
                stream.handle(),
                1L));
  }

  /** Of pinned memory. */
  @Benchmark
  public void pinned() {
    device.copyFromAsync(pinned, stream);
    stream.synchronize();
  }

  /** Of an array on the heap. */
  @Benchmark
  public void heapArray() {
    device.copyFrom(array);
  }

  /** Of native memory that is not pinned. */
  @Benchmark
  public void nativeSegment() {
    device.copyFrom(segment);
  }

  /** Of a file that is mapped into memory. */
  @Benchmark
  public void mappedFile() {
    device.copyFrom(mapped);
  }
}
