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

/** A text that comes out: the shape of {@code cuGetErrorName}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StringResult {
  private static final String CALLEE = "culebra_callee_text";
  private static final String TEXT = "CUDA_ERROR_INVALID_VALUE";
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_text", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
  private static final MethodHandle HANDLE =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, ADDRESS));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();
  private static final MemorySegment OUT = Arena.global().allocate(ADDRESS);

  private long expected;
  private long answer;

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = TEXT.length();
    OUT.set(ADDRESS, 0, MemorySegment.NULL);
  }

  /** That the last call was one. */
  @TearDown(Level.Iteration)
  public void check() {
    Loop.require(expected, answer);
  }

  /** The loop in C, which reads the text where it is. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, (long) Loop.CALLS);
    expected = (long) TEXT.length() * Loop.CALLS;
  }

  /** Made a Java string. */
  @Benchmark
  public void javaString() throws Throwable {
    int result = (int) HANDLE.invokeExact(OUT);
    answer =
        (long) result + OUT.get(ADDRESS, 0).reinterpret(TEXT.length() + 1L).getString(0).length();
  }
}
