package dev.culebra.benchmarks.calls;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** The C side of the benchmarks, which make builds from {@code src/main/c}. */
final class NativeCode {
  /** Names the folder that make builds it into. */
  static final String FOLDER_PROPERTY = "culebra.bench.native";

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

  static Path folder() {
    String folder = System.getProperty(FOLDER_PROPERTY);
    if (folder == null) {
      throw new IllegalStateException(
          "-D" + FOLDER_PROPERTY + " does not name the folder of the C loops: use `make bench`");
    }
    return Path.of(folder);
  }

  MemorySegment find(String symbol) {
    return SymbolLookup.libraryLookup(folder().resolve(file), Arena.global())
        .find(symbol)
        .orElseThrow(() -> new IllegalStateException(file + " has no " + symbol));
  }

  MethodHandle link(String symbol, FunctionDescriptor descriptor, Linker.Option... options) {
    return Linker.nativeLinker().downcallHandle(find(symbol), descriptor, options);
  }
}
