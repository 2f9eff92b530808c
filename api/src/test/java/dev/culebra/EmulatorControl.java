package dev.culebra;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What the emulator offers tests beyond the driver's interface ({@code culebra_emu/control.h}).
 * Closing takes the faults away.
 */
final class EmulatorControl implements AutoCloseable {

  private final SymbolLookup library;

  private EmulatorControl(SymbolLookup library) {
    this.library = library;
  }

  /** Empty where the driver in use is not the emulator. */
  static Optional<EmulatorControl> find() {
    String driver = System.getenv("CULEBRA_DRIVER");
    if (driver == null || !Files.exists(Path.of(driver))) {
      return Optional.empty();
    }
    SymbolLookup library = SymbolLookup.libraryLookup(Path.of(driver), Arena.global());
    return library.find("culebraEmuSetFault").map(found -> new EmulatorControl(library));
  }

  /** Replaces all faults by those of a list of rules. */
  void setFault(String rules) {
    try (Arena arena = Arena.ofConfined()) {
      int result =
          (int)
              function("culebraEmuSetFault", FunctionDescriptor.of(JAVA_INT, ADDRESS))
                  .invokeExact(arena.allocateFrom(rules));
      if (result != 0) {
        throw new IllegalArgumentException("the emulator does not know the fault " + rules);
      }
    } catch (Throwable e) {
      throw asUnchecked(e);
    }
  }

  /** How many objects of a kind are alive. */
  long liveCount(String kind) {
    return count("culebraEmuLiveCount", kind);
  }

  /** How often a function of the driver was called. */
  long callCount(String symbol) {
    return count("culebraEmuCallCount", symbol);
  }

  private long count(String function, String what) {
    try (Arena arena = Arena.ofConfined()) {
      long count =
          (long)
              function(function, FunctionDescriptor.of(JAVA_LONG, ADDRESS))
                  .invokeExact(arena.allocateFrom(what));
      if (count < 0) {
        throw new IllegalArgumentException("the emulator does not count " + what);
      }
      return count;
    } catch (Throwable e) {
      throw asUnchecked(e);
    }
  }

  private MethodHandle function(String name, FunctionDescriptor descriptor) {
    MemorySegment symbol = library.find(name).orElseThrow();
    return Linker.nativeLinker().downcallHandle(symbol, descriptor);
  }

  private static RuntimeException asUnchecked(Throwable e) {
    return e instanceof RuntimeException unchecked ? unchecked : new IllegalStateException(e);
  }

  @Override
  public void close() {
    setFault("");
  }
}
