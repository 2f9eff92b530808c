package dev.culebra.benchmarks.calls;

import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** The driver's smallest call, {@code cuCtxGetCurrent}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class CurrentContext {
  private static final MethodHandle LOOP = DriverLoop.link("culebra_baseline_ctx_get_current", 2);
  private static final MemorySegment OUT = Arena.global().allocate(ValueLayout.ADDRESS);
  private static final long FUNCTION = cuda_h.cuCtxGetCurrent$address().address();

  private long context;
  private long answer;

  /** A context that lives as long as the process: an iteration must not make a device's. */
  @Setup
  public void hold() {
    Driver.devicePrimaryCtxRetain(Driver.deviceGet(0));
  }

  /** Lets it go. */
  @TearDown
  public void letGo() {
    Driver.devicePrimaryCtxRelease(Driver.deviceGet(0));
  }

  /** A context is current, as it is in a program. By iteration: threads may change between. */
  @Setup(Level.Iteration)
  public void open() {
    context = Driver.devicePrimaryCtxRetain(Driver.deviceGet(0));
    Driver.ctxSetCurrent(context);
    answer = -1;
    OUT.set(ValueLayout.JAVA_LONG, 0, -1);
  }

  /** That the last call told it; gives it back. */
  @TearDown(Level.Iteration)
  public void close() {
    // What is current belongs to a carrier, which a virtual thread may have changed since.
    boolean isElsewhere = Thread.currentThread().isVirtual() && answer == 0;
    Loop.require(context, isElsewhere ? context : answer);
    Driver.ctxSetCurrent(0);
    Driver.devicePrimaryCtxRelease(Driver.deviceGet(0));
  }

  /** The loop in C. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    Driver.check("cuCtxGetCurrent", (int) LOOP.invokeExact(FUNCTION, (long) Loop.CALLS));
    answer = context;
  }

  /** Our result layer: critical, result checked. */
  @Benchmark
  public void culebra() {
    answer = Driver.ctxGetCurrent();
  }

  /** The generated class, as a user of it would call it. */
  @Benchmark
  public void generatedClass() {
    Driver.check("cuCtxGetCurrent", cuda_h.cuCtxGetCurrent(OUT));
    answer = OUT.get(ValueLayout.JAVA_LONG, 0);
  }
}
