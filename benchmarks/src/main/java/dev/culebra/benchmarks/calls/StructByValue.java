package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
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

/** A struct of 64 bytes by value: the shape of {@code cuIpcOpenMemHandle}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StructByValue {
  private static final String CALLEE = "culebra_callee_struct";
  private static final MemoryLayout STRUCT =
      MemoryLayout.structLayout(MemoryLayout.sequenceLayout(64, JAVA_BYTE));
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_struct", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
  private static final MethodHandle HANDLE =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, STRUCT));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();
  private static final MemorySegment VALUE = Arena.global().allocate(STRUCT);

  private long expected;
  private long answer;

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = 9;
    VALUE.set(JAVA_BYTE, 63, (byte) 9);
  }

  /** That the last call was one. */
  @TearDown(Level.Iteration)
  public void check() {
    Loop.require(expected, answer);
  }

  /** The loop in C. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, VALUE, (long) Loop.CALLS);
    expected = 9L * Loop.CALLS;
  }

  /** A segment of the struct's layout; before JDK 25 each call allocates a buffer for it. */
  @Benchmark
  public void segment() throws Throwable {
    answer = (int) HANDLE.invokeExact(VALUE);
  }
}
