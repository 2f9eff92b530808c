package dev.culebra.benchmarks.calls;

import dev.culebra.benchmarks.session.NativeFolder;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** The C side of the benchmarks, which make builds from {@code src/main/c}. */
final class NativeCode {
  /** Functions that do nothing, to be called. */
  static final NativeCode CALLEES = new NativeCode("libculebra-callees.so");

  /** Loops over those. */
  static final NativeCode LOOPS = new NativeCode("libculebra-loops.so");

  /** Loops over the driver's functions. */
  static final NativeCode DRIVER_LOOPS = new NativeCode("libculebra-driver-loops.so");

  private final String file;

  private NativeCode(String file) {
    this.file = file;
  }

  MemorySegment find(String symbol) {
    return SymbolLookup.libraryLookup(NativeFolder.path().resolve(file), Arena.global())
        .find(symbol)
        .orElseThrow(() -> new IllegalStateException(file + " has no " + symbol));
  }

  MethodHandle link(String symbol, FunctionDescriptor descriptor, Linker.Option... options) {
    return Linker.nativeLinker().downcallHandle(find(symbol), descriptor, options);
  }
}
