package dev.culebra.benchmarks.calls;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.HostBuffer;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** 4 KiB of memory, and back. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // open() comes first
public class Allocations {
  private static final long BYTES = 4096;
  private static final int C_CALLS = 100;
  private static final MethodHandle LOOP = DriverLoop.link("culebra_baseline_allocate", 5);
  private static final long ALLOCATE = cuda_h.cuMemAllocAsync$address().address();
  private static final long FREE = cuda_h.cuMemFreeAsync$address().address();

  private Context context;
  private Stream stream;

  /** A context and a stream. */
  @Setup
  public void open() {
    context = Context.primary(Device.of(0));
    Driver.ctxSetCurrent(context.handle());
    stream = context.newStream();
  }

  /** Gives back. */
  @TearDown
  public void close() {
    stream.close();
    Driver.ctxSetCurrent(0);
    context.close();
  }

  /** Of the driver's pool, in C. */
  @Benchmark
  @OperationsPerInvocation(C_CALLS)
  public void poolC() throws Throwable {
    Driver.check(
        "cuMemAllocAsync",
        (int) LOOP.invokeExact(ALLOCATE, FREE, BYTES, stream.handle(), (long) C_CALLS));
  }

  /** Of the driver's pool, through the typed API. */
  @Benchmark
  public long poolCulebra() {
    try (DeviceBuffer<ElementType.U8> buffer = context.allocate(ElementType.U8, BYTES, stream)) {
      return buffer.address();
    }
  }

  /** At once, for the whole device: {@code cuMemAlloc}. */
  @Benchmark
  public void deviceWide() {
    Driver.memFree(Driver.memAlloc(BYTES));
  }

  /** Host memory that the device reaches, of our pool. */
  @Benchmark
  public byte pinnedHost() {
    try (HostBuffer buffer = context.allocateHost(BYTES)) {
      return buffer.segment().get(ValueLayout.JAVA_BYTE, 0);
    }
  }
}
