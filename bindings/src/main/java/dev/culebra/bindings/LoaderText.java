package dev.culebra.bindings;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/**
 * Why a library could not be opened, in the loader's words. {@link SymbolLookup} only says that it
 * could not, so the open is repeated through {@code dlopen}, and {@code dlerror} is asked.
 */
final class LoaderText {
  private static final int RTLD_LAZY = 1;

  private LoaderText() {}

  /**
   * @param otherwise the answer where there is no dlopen (Windows), or it has nothing to say
   */
  static String of(String library, String otherwise) {
    Linker linker = Linker.nativeLinker();
    SymbolLookup system = linker.defaultLookup();
    MemorySegment dlopen = system.find("dlopen").orElse(MemorySegment.NULL);
    MemorySegment dlerror = system.find("dlerror").orElse(MemorySegment.NULL);
    if (dlopen.equals(MemorySegment.NULL) || dlerror.equals(MemorySegment.NULL)) return otherwise;

    // Both are linked before the first call: linking may itself load libraries and reset the error.
    MethodHandle open =
        linker.downcallHandle(dlopen, FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    MethodHandle error = linker.downcallHandle(dlerror, FunctionDescriptor.of(ADDRESS));
    try (Arena arena = Arena.ofConfined()) {
      var handle = (MemorySegment) open.invokeExact(arena.allocateFrom(library), RTLD_LAZY);
      if (!handle.equals(MemorySegment.NULL)) return otherwise;
      var text = (MemorySegment) error.invokeExact();
      return text.equals(MemorySegment.NULL) ? otherwise : NativeText.read(text.address());
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }
}
