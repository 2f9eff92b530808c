package dev.culebra.benchmarks.calls;

import dev.culebra.Device;
import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.MemorySegment;
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

/**
 * Launches of a kernel with three arguments, with a wait after every {@link
 * LaunchTarget#SYNC_EVERY}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // open() comes first
public class Launches {
  private FillKernel fill;
  private CBaseline baseline;
  private int launched;

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

  /** Prepares. By iteration: threads may change between, and a prepared launch belongs to one. */
  @Setup(Level.Iteration)
  public void open() {
    fill = new FillKernel(Device.of(0));
    baseline = new CBaseline(fill.target());
    fill.poison();
    launched = 0;
  }

  /** That the kernel ran; gives back. */
  @TearDown(Level.Iteration)
  public void close() {
    fill.synchronize();
    baseline.synchronize();
    fill.requireFilled("the benchmark");
    baseline.close();
    fill.close();
  }

  private void launched() {
    if (++launched == LaunchTarget.SYNC_EVERY) {
      launched = 0;
      fill.synchronize();
    }
  }

  /** The loop in C. */
  @Benchmark
  @OperationsPerInvocation(LaunchTarget.SYNC_EVERY)
  public void c() throws Throwable {
    baseline.launch(LaunchTarget.SYNC_EVERY);
  }

  /** The generated class, as a user of it would call it: what C gets, in segments. */
  @Benchmark
  public void generatedClass() {
    Driver.check(
        "cuLaunchKernel",
        cuda_h.cuLaunchKernel(
            baseline.function(),
            1,
            1,
            1,
            LaunchTarget.BLOCK_THREADS,
            1,
            1,
            0,
            baseline.stream(),
            baseline.parameters(),
            MemorySegment.NULL));
    if (++launched == LaunchTarget.SYNC_EVERY) {
      launched = 0;
      baseline.synchronize();
    }
  }

  /** Prepared once: what our operations do. */
  @Benchmark
  public void prepared() {
    fill.launch();
    launched();
  }

  /** Prepared, set and launched each time. */
  @Benchmark
  public void adHoc() {
    fill.launchAdHoc();
    launched();
  }
}
