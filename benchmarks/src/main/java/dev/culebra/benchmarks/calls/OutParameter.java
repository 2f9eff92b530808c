package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
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

/** A result that comes in memory: the shape of {@code cuDeviceGetAttribute}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class OutParameter {
  private static final String CALLEE = "culebra_callee_out";
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_out", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle WITH_SEGMENT =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));
  private static final MethodHandle WITH_LONG =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();
  private static final MemorySegment SLAB = Arena.global().allocate(JAVA_LONG);
  private static final long SLAB_ADDRESS = SLAB.address();

  private long expected;
  private long answer;

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = 42;
    SLAB.set(JAVA_LONG, 0, -1);
  }

  /** That the last call was one. */
  @TearDown(Level.Iteration)
  public void check() {
    Loop.require(expected, answer);
  }

  private static void requireZero(int result) {
    if (result != 0) {
      throw new IllegalStateException("result " + result);
    }
  }

  /** The loop in C, with the variable on the stack. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, 42L, (long) Loop.CALLS);
    expected = 42L * Loop.CALLS;
  }

  /** Memory of its own for every call, from a confined arena. */
  @Benchmark
  public void newConfinedArena() throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment out = arena.allocate(JAVA_LONG);
      requireZero((int) WITH_SEGMENT.invokeExact(out, 42L));
      answer = out.get(JAVA_LONG, 0);
    }
  }

  /** Memory that was allocated once, passed as a segment. */
  @Benchmark
  public void reusedSegment() throws Throwable {
    requireZero((int) WITH_SEGMENT.invokeExact(SLAB, 42L));
    answer = SLAB.get(JAVA_LONG, 0);
  }

  /** Memory that was allocated once, passed as a long: what Culebra does. */
  @Benchmark
  public void reusedAddress() throws Throwable {
    requireZero((int) WITH_LONG.invokeExact(SLAB_ADDRESS, 42L));
    answer = SLAB.get(JAVA_LONG, 0);
  }
}
