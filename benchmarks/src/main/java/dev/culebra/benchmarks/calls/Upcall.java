package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
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

/** A call that calls back: down, up, and back again. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Upcall {
  private static final String CALLEE = "culebra_callee_upcall";
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_upcall", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG));
  private static final MethodHandle HANDLE =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();
  private static final MemorySegment INCREMENT = stub();

  private long expected;
  private long answer;

  private static MemorySegment stub() {
    try {
      MethodHandle target =
          MethodHandles.lookup()
              .findStatic(Upcall.class, "increment", MethodType.methodType(int.class, int.class));
      return Linker.nativeLinker()
          .upcallStub(target, FunctionDescriptor.of(JAVA_INT, JAVA_INT), Arena.global());
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(e.getMessage(), e);
    }
  }

  @SuppressWarnings("UnusedMethod") // C calls it
  private static int increment(int value) {
    return value + 1;
  }

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = 6;
  }

  /** That the last call was one. */
  @TearDown(Level.Iteration)
  public void check() {
    Loop.require(expected, answer);
  }

  /** The loop in C, whose callback is in C. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, 5, (long) Loop.CALLS);
    expected = 6L * Loop.CALLS;
  }

  /** The callback in Java; the stub was made once. */
  @Benchmark
  public void java() throws Throwable {
    answer = (int) HANDLE.invokeExact(INCREMENT, 5);
  }
}
