package dev.culebra.bindings;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.culebra.generated.DriverFunction;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * {@code cuGetProcAddress}: the one way to a driver function. It is asked for a base name and the
 * version of the ABI that our signature has, never for the driver's own version, so a newer driver
 * cannot hand out a function with another signature.
 */
final class ProcAddress {
  /** CU_GET_PROC_ADDRESS_LEGACY_STREAM: not the variants for a per-thread default stream. */
  private static final long LEGACY_STREAM = 1;

  private final MethodHandle handle;

  ProcAddress(MemorySegment cuGetProcAddress) {
    handle =
        Linker.nativeLinker()
            .downcallHandle(
                cuGetProcAddress,
                FunctionDescriptor.of(
                    JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
  }

  /** The function's address; NULL if this driver lacks it. */
  MemorySegment find(DriverFunction function) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocateFrom(function.baseName());
      MemorySegment address = arena.allocate(ADDRESS);
      MemorySegment status = arena.allocate(JAVA_INT);
      int code =
          (int)
              handle.invokeExact(
                  name.address(),
                  address.address(),
                  function.abiVersion(),
                  LEGACY_STREAM,
                  status.address());
      return code == 0 ? address.get(ADDRESS, 0) : MemorySegment.NULL;
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }
}
