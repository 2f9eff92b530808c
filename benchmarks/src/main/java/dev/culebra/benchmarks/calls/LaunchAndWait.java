package dev.culebra.benchmarks.calls;

import dev.culebra.Device;
import dev.culebra.bindings.Driver;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** A launch of a kernel with three arguments, and the wait for its end. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // open() comes first
public class LaunchAndWait {
  private FillKernel fill;
  private CBaseline baseline;

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

  /** Prepares. */
  @Setup(Level.Iteration)
  public void open() {
    fill = new FillKernel(Device.of(0));
    baseline = new CBaseline(fill.target());
    fill.poison();
  }

  /** That the kernel ran; gives back. */
  @TearDown(Level.Iteration)
  public void close() {
    fill.requireFilled("the benchmark");
    baseline.close();
    fill.close();
  }

  /** In C. */
  @Benchmark
  public void c() throws Throwable {
    baseline.launch(1);
  }

  /** Prepared once. */
  @Benchmark
  public void prepared() {
    fill.launch();
    fill.synchronize();
  }
}
