package dev.culebra.benchmarks;

import dev.culebra.Device;
import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What one call costs, and whether it makes garbage ({@code -prof gc}). */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CallBenchmarks {
  /** The floor: a C function that returns at once. Linked as every function of the bindings is. */
  private static final class Nothing {
    static final MethodHandle HANDLE =
        Linker.nativeLinker()
            .downcallHandle(
                CBaseline.library(Arena.global()).find("culebra_baseline_nothing").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));

    /** The same, staying in Java's thread state, which only calls that return at once may. */
    static final MethodHandle CRITICAL_HANDLE =
        Linker.nativeLinker()
            .downcallHandle(
                CBaseline.library(Arena.global()).find("culebra_baseline_nothing").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
                Linker.Option.critical(false));
  }

  private static final MemorySegment OUT = Arena.global().allocate(ValueLayout.ADDRESS);

  /** A context is current, as it is in a program. */
  @Setup
  public void open() {
    Driver.installResolver();
    Driver.ctxSetCurrent(Driver.devicePrimaryCtxRetain(Driver.deviceGet(0)));
  }

  /** Gives the context back. */
  @TearDown
  public void close() {
    Driver.devicePrimaryCtxRelease(Driver.deviceGet(0));
  }

  /** A call of a C function that does nothing. */
  @Benchmark
  public int emptyFunction() throws Throwable {
    return (int) Nothing.HANDLE.invokeExact(1L);
  }

  /** The same, linked as critical. */
  @Benchmark
  public int emptyFunctionCritical() throws Throwable {
    return (int) Nothing.CRITICAL_HANDLE.invokeExact(1L);
  }

  /** The result layer: critical, result checked. */
  @Benchmark
  public long ctxGetCurrent() {
    return Driver.ctxGetCurrent();
  }

  /** The generated class, as a user of it would call it. */
  @Benchmark
  public int ctxGetCurrentGenerated() {
    return cuda_h.cuCtxGetCurrent(OUT);
  }

  /** A launch of a 3-argument kernel through the typed API. */
  @Benchmark
  public void preparedLaunch(Launching state) {
    state.fill.launch();
    if (++state.launched == LaunchTarget.SYNC_EVERY) {
      state.launched = 0;
      state.fill.synchronize();
    }
  }

  /** Holds the prepared kernel. */
  @State(Scope.Thread)
  @SuppressWarnings("NullAway.Init") // open() comes first
  public static class Launching {
    private FillKernel fill;
    private int launched;

    /** Prepares. */
    @Setup
    public void open() {
      fill = new FillKernel(Device.of(0));
    }

    /** Waits and gives back. */
    @TearDown
    public void close() {
      fill.synchronize();
      fill.close();
    }
  }
}
