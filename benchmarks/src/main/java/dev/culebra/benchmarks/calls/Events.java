package dev.culebra.benchmarks.calls;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.Event;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;
import dev.culebra.generated.cuda_h;
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

/** Marks in a stream. */
public class Events {
  private Events() {}

  /** A stream and an event that it has passed. */
  @State(Scope.Thread)
  @SuppressWarnings("NullAway.Init") // open() comes first
  public static class Passed {
    Context context;
    Stream stream;
    Event event;

    /** Makes them. */
    @Setup
    public void open() {
      context = Context.primary(Device.of(0));
      Driver.ctxSetCurrent(context.handle());
      stream = context.newStream();
      event = context.newEvent();
      stream.record(event);
      stream.synchronize();
    }

    /** That the event still works; gives back. */
    @TearDown
    public void close() {
      stream.synchronize();
      if (!event.isDone()) {
        throw new IllegalStateException("an idle stream has not passed its event");
      }
      event.close();
      stream.close();
      Driver.ctxSetCurrent(0);
      context.close();
    }
  }

  /** {@code cuEventRecord}. */
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public static class Mark {
    private static final MethodHandle LOOP = DriverLoop.link("culebra_baseline_event_record", 4);
    private static final long FUNCTION = cuda_h.cuEventRecord$address().address();

    /** The loop in C. */
    @Benchmark
    @OperationsPerInvocation(100)
    public void c(Passed passed) throws Throwable {
      Driver.check(
          "cuEventRecord",
          (int) LOOP.invokeExact(FUNCTION, passed.event.handle(), passed.stream.handle(), 100L));
    }

    /** Through the typed API. */
    @Benchmark
    public void culebra(Passed passed) {
      passed.stream.record(passed.event);
    }
  }

  /** {@code cuEventQuery}. */
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public static class Query {
    private static final MethodHandle LOOP = DriverLoop.link("culebra_baseline_event_query", 3);
    private static final long FUNCTION = cuda_h.cuEventQuery$address().address();

    /** The loop in C. */
    @Benchmark
    @OperationsPerInvocation(Loop.CALLS)
    public void c(Passed passed) throws Throwable {
      Driver.check(
          "cuEventQuery",
          (int) LOOP.invokeExact(FUNCTION, passed.event.handle(), (long) Loop.CALLS));
    }

    /** Through the typed API. */
    @Benchmark
    public boolean culebra(Passed passed) {
      return passed.event.isDone();
    }
  }

  /** A new event, and its close: the context keeps the native ones for the next. */
  @BenchmarkMode(Mode.AverageTime)
  @OutputTimeUnit(TimeUnit.NANOSECONDS)
  public static class OpenAndClose {
    /** Through the typed API. */
    @Benchmark
    public void culebra(Passed passed) {
      passed.context.newEvent().close();
    }
  }
}
