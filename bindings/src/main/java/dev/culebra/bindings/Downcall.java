package dev.culebra.bindings;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * Makes the handles of {@link Driver} from jextract's descriptors. Every pointer becomes a {@code
 * long}, because a {@code MemorySegment} argument costs a liveness check per call (two atomics if
 * its arena is shared) and handles and device addresses need none. Only host memory that must stay
 * alive during the call remains a segment.
 */
final class Downcall {
  private Downcall() {}

  /**
   * A handle for a function; one that throws the reason if it cannot be had.
   *
   * @param symbol the C symbol with its ABI suffix
   * @param descriptor jextract's descriptor of it
   * @param hostArguments which arguments are host memory, from 0
   */
  static MethodHandle link(String symbol, FunctionDescriptor descriptor, int... hostArguments) {
    return DriverLibrary.opened().downcall(symbol, withLongs(descriptor, hostArguments));
  }

  /**
   * As {@link #link}, without the transition to native state. A safepoint waits for such a call, so
   * this is for functions that return at once in every case, and for nothing else.
   */
  static MethodHandle linkCritical(String symbol, FunctionDescriptor descriptor) {
    return DriverLibrary.opened()
        .downcall(symbol, withLongs(descriptor), Linker.Option.critical(false));
  }

  static FunctionDescriptor withLongs(FunctionDescriptor descriptor, int... hostArguments) {
    MemoryLayout[] arguments = descriptor.argumentLayouts().toArray(MemoryLayout[]::new);
    for (int i = 0; i < arguments.length; i++) {
      int argument = i;
      boolean host = Arrays.stream(hostArguments).anyMatch(index -> index == argument);
      if (arguments[i] instanceof AddressLayout && !host) arguments[i] = ValueLayout.JAVA_LONG;
    }
    return FunctionDescriptor.of(descriptor.returnLayout().orElseThrow(), arguments);
  }

  /**
   * For the {@code catch (Throwable)} that {@code invokeExact} demands: the driver throws nothing.
   */
  static RuntimeException rethrow(Throwable thrown) {
    if (thrown instanceof RuntimeException exception) throw exception;
    if (thrown instanceof Error error) throw error;
    throw new AssertionError("a downcall threw a checked exception", thrown);
  }
}
