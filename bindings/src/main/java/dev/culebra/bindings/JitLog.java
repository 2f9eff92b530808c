package dev.culebra.bindings;

import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Where the driver's PTX compiler writes its messages. A library compiles lazily and keeps the
 * addresses, so the log's arena must outlive the library it was given to. One log serves one load.
 */
public final class JitLog {
  private static final int BYTES = 16 << 10;

  private final MemorySegment errors;
  private final MemorySegment options;
  private final MemorySegment values;

  /**
   * @param arena owns the log's memory; confined if all loads are from its thread, else shared
   */
  public JitLog(Arena arena) {
    errors = arena.allocate(BYTES);
    options =
        arena.allocateFrom(
            ValueLayout.JAVA_INT,
            cuda_h.CU_JIT_ERROR_LOG_BUFFER(),
            cuda_h.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES());
    // The size is in and out: the driver writes how much it used.
    values = arena.allocateFrom(ValueLayout.JAVA_LONG, errors.address(), BYTES);
  }

  /** What the compiler complained of; empty if nothing was compiled or all went well. */
  public String errors() {
    return errors.getString(0).strip();
  }

  int optionCount() {
    return 2;
  }

  long options() {
    return options.address();
  }

  long optionValues() {
    return values.address();
  }
}
