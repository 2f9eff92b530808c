package dev.culebra.benchmarks.calls;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.Kernel;
import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Launches of a kernel with three arguments, with a wait after every {@link
 * LaunchTarget#SYNC_EVERY}.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@SuppressWarnings("NullAway.Init") // open() comes first
public class Launches {
  /** Benchmarks that do not go through the typed API, by the ends of their names. */
  private static final List<String> IN_C = List.of(".c", ".generatedClass");

  private FillKernel fill;

  /** The same kernel for those of {@link #IN_C}; not there for others: it takes a load. */
  private @Nullable CBaseline baseline;

  private int launched;

  /**
   * What all threads share, loaded before any of them launches: while others keep a device busy, it
   * takes seconds to load or unload a kernel, since that waits for the device. It lives as long as
   * the process: of those that use it nobody knows to be the last.
   */
  @State(Scope.Benchmark)
  public static class Loaded {
    private Context context;
    private Kernel kernel;

    /** Loads. */
    @Setup
    public void open() {
      context = Context.primary(Device.of(0));
      kernel = FillKernel.load(context);
    }
  }

  /** Prepares. By iteration: threads may change between, and a prepared launch belongs to one. */
  @Setup(Level.Iteration)
  public void open(Loaded loaded, BenchmarkParams parameters) {
    fill = new FillKernel(loaded.context, loaded.kernel);
    baseline =
        IN_C.stream().anyMatch(parameters.getBenchmark()::endsWith)
            ? new CBaseline(fill.target())
            : null;
    fill.poison();
    launched = 0;
  }

  /** That the kernel ran; gives back. */
  @TearDown(Level.Iteration)
  public void close() {
    fill.synchronize();
    if (baseline != null) {
      baseline.synchronize();
      baseline.close();
    }
    fill.requireFilled("the benchmark");
    fill.close();
  }

  private void launched() {
    if (++launched == LaunchTarget.SYNC_EVERY) {
      launched = 0;
      fill.synchronize();
    }
  }

  private CBaseline inC() {
    return Objects.requireNonNull(baseline);
  }

  /** The loop in C. */
  @Benchmark
  @OperationsPerInvocation(LaunchTarget.SYNC_EVERY)
  public void c() throws Throwable {
    inC().launch(LaunchTarget.SYNC_EVERY);
  }

  /** The generated class, as a user of it would call it: what C gets, in segments. */
  @Benchmark
  public void generatedClass() {
    CBaseline inC = inC();
    Driver.check(
        "cuLaunchKernel",
        cuda_h.cuLaunchKernel(
            inC.function(),
            1,
            1,
            1,
            LaunchTarget.BLOCK_THREADS,
            1,
            1,
            0,
            inC.stream(),
            inC.parameters(),
            MemorySegment.NULL));
    if (++launched == LaunchTarget.SYNC_EVERY) {
      launched = 0;
      inC.synchronize();
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
