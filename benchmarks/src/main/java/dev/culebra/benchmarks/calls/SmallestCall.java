package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
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

/** One pointer in, an int out: the shape of {@code cuCtxGetCurrent}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SmallestCall {
  private static final String CALLEE = "culebra_callee_one";
  private static final FunctionDescriptor LONG = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_one", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle WITH_LONG = NativeCode.CALLEES.link(CALLEE, LONG);
  private static final MethodHandle CRITICAL =
      NativeCode.CALLEES.link(CALLEE, LONG, Linker.Option.critical(false));
  private static final MethodHandle WITH_SEGMENT =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, ADDRESS));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();

  private final Arena confinedArena = Arena.ofConfined();
  private final Arena sharedArena = Arena.ofShared();
  private final MemorySegment confined = confinedArena.allocate(8);
  private final MemorySegment shared = sharedArena.allocate(8);
  private final MemorySegment global = Arena.global().allocate(8);
  private final MemorySegment auto = Arena.ofAuto().allocate(8);
  private final MethodHandle inField = WITH_LONG;
  private long expected;
  private long answer;

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = -2;
  }

  /** That the last call was one. */
  @TearDown(Level.Iteration)
  public void check() {
    Loop.require(expected, answer);
  }

  /** Closes the arenas. */
  @TearDown
  public void close() {
    confinedArena.close();
    sharedArena.close();
  }

  private void called(MemorySegment segment, int answered) {
    expected = (int) segment.address();
    answer = answered;
  }

  private void called(int answered) {
    expected = 7;
    answer = answered;
  }

  /** The loop in C. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, 7L, (long) Loop.CALLS);
    expected = 7L * Loop.CALLS;
  }

  /** The pointer as a long: no segment whose life has to be checked. */
  @Benchmark
  public void asLong() throws Throwable {
    called((int) WITH_LONG.invokeExact(7L));
  }

  /** The same without leaving Java's thread state. */
  @Benchmark
  public void asLongCritical() throws Throwable {
    called((int) CRITICAL.invokeExact(7L));
  }

  /** The same through a handle that is no constant: what a field of an object is. */
  @Benchmark
  public void asLongHandleInField() throws Throwable {
    called((int) inField.invokeExact(7L));
  }

  /** A segment of a confined arena. */
  @Benchmark
  public void confinedSegment() throws Throwable {
    called(confined, (int) WITH_SEGMENT.invokeExact(confined));
  }

  /** A segment of a shared arena: held during the call, by two atomic operations. */
  @Benchmark
  public void sharedSegment() throws Throwable {
    called(shared, (int) WITH_SEGMENT.invokeExact(shared));
  }

  /** A segment of the global arena. */
  @Benchmark
  public void globalSegment() throws Throwable {
    called(global, (int) WITH_SEGMENT.invokeExact(global));
  }

  /** A segment of an arena that the garbage collector closes. */
  @Benchmark
  public void autoSegment() throws Throwable {
    called(auto, (int) WITH_SEGMENT.invokeExact(auto));
  }
}
