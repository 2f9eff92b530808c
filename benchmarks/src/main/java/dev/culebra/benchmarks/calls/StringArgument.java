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

/** A name that goes in: the shape of {@code cuModuleGetFunction}. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class StringArgument {
  private static final String CALLEE = "culebra_callee_string";
  private static final String NAME = "culebra_softmax_online_f32";
  private static final MethodHandle LOOP =
      NativeCode.LOOPS.link(
          "culebra_loop_string", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));
  private static final MethodHandle HANDLE =
      NativeCode.CALLEES.link(CALLEE, FunctionDescriptor.of(JAVA_INT, ADDRESS));
  private static final long POINTER = NativeCode.CALLEES.find(CALLEE).address();
  private static final MemorySegment KEPT = Arena.global().allocateFrom(NAME);

  private String name = NAME;
  private long expected;
  private long answer;

  /** Forgets the answer of the last iteration. */
  @Setup(Level.Iteration)
  public void poison() {
    answer = -1;
    expected = NAME.charAt(0);
  }

  /** That the last call was one. */
  @TearDown(Level.Iteration)
  public void check() {
    Loop.require(expected, answer);
  }

  /** The loop in C, which has its strings already. */
  @Benchmark
  @OperationsPerInvocation(Loop.CALLS)
  public void c() throws Throwable {
    answer = (long) LOOP.invokeExact(POINTER, KEPT, (long) Loop.CALLS);
    expected = (long) NAME.charAt(0) * Loop.CALLS;
  }

  /** Converted for the call, into a confined arena. */
  @Benchmark
  public void newConfinedArena() throws Throwable {
    try (Arena arena = Arena.ofConfined()) {
      answer = (int) HANDLE.invokeExact(arena.allocateFrom(name));
    }
  }

  /** Converted once. */
  @Benchmark
  public void keptSegment() throws Throwable {
    answer = (int) HANDLE.invokeExact(KEPT);
  }
}
