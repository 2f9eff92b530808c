package dev.culebra.benchmarks.calls;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.culebra.bindings.Driver;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/** Links a loop in C over functions of the driver; all of its arguments are longs. */
final class DriverLoop {
  private DriverLoop() {}

  static MethodHandle link(String symbol, int arguments) {
    Driver.installResolver();
    MemoryLayout[] longs = new MemoryLayout[arguments];
    Arrays.fill(longs, JAVA_LONG);
    return NativeCode.DRIVER_LOOPS.link(symbol, FunctionDescriptor.of(JAVA_INT, longs));
  }
}
