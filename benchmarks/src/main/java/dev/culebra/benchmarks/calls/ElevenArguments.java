package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
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

/** Eleven arguments, four of them pointers: the shape of {@code cuLaunchKernel}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class ElevenArguments {
  private static final String CALLEE = "culebra_callee_eleven";

  /** What grid, block and shared bytes add up to. */
  private static final int ANSWER = 5 + 1 + 1 + 32 + 1 + 1;

  private static final FunctionDescriptor LONGS = descriptor(JAVA_LONG);
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_eleven",
          FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
  private static final MethodHandle WITH_LONGS = NativeCode.CALLEES.link(CALLEE, LONGS);
  private static final MethodHandle CRITICAL =
      NativeCode.CALLEES.link(CALLEE, LONGS, Linker.Option.critical(false));
  private static final MethodHandle WITH_SEGMENTS =
      NativeCode.CALLEES.link(CALLEE, descriptor(ADDRESS));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();

  private final Arena confinedArena = Arena.ofConfined();
  private final Arena sharedArena = Arena.ofShared();
  private final MemorySegment confined = confinedArena.allocate(8);
  private final MemorySegment shared = sharedArena.allocate(8);
  private final MemorySegment global = Arena.global().allocate(8);
  private final MemorySegment auto = Arena.ofAuto().allocate(8);
  private long expected;
  private long answer;

  private static FunctionDescriptor descriptor(MemoryLayout pointer) {
    return FunctionDescriptor.of(
        JAVA_INT, pointer, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT,
        pointer, pointer, pointer);
  }

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = ANSWER;
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

  private static int call(MemorySegment p) throws Throwable {
    return (int) WITH_SEGMENTS.invokeExact(p, 5, 1, 1, 32, 1, 1, 0, p, p, p);
  }

  /** The loop in C. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, 7L, 5, 32, (long) Loop.CALLS);
    expected = (long) ANSWER * Loop.CALLS;
  }

  /** Pointers as longs. */
  @Benchmark
  public void asLongs() throws Throwable {
    answer = (int) WITH_LONGS.invokeExact(7L, 5, 1, 1, 32, 1, 1, 0, 7L, 7L, 7L);
  }

  /** The same without leaving Java's thread state, which a launch must not be. */
  @Benchmark
  public void asLongsCritical() throws Throwable {
    answer = (int) CRITICAL.invokeExact(7L, 5, 1, 1, 32, 1, 1, 0, 7L, 7L, 7L);
  }

  /** Segments of a confined arena. */
  @Benchmark
  public void confinedSegments() throws Throwable {
    answer = call(confined);
  }

  /** Segments of a shared arena. */
  @Benchmark
  public void sharedSegments() throws Throwable {
    answer = call(shared);
  }

  /** Segments of the global arena. */
  @Benchmark
  public void globalSegments() throws Throwable {
    answer = call(global);
  }

  /** Segments of an arena that the garbage collector closes. */
  @Benchmark
  public void autoSegments() throws Throwable {
    answer = call(auto);
  }
}
