package dev.culebra.bindings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Ties what is not host memory to an arena's lifetime. FFM has no public way to register a cleanup
 * action but the restricted {@code reinterpret}, hence a class in this module.
 */
public final class ArenaCleanup {
  private ArenaCleanup() {}

  /**
   * Runs an action when an arena closes, in the thread that closes it, the last action registered
   * first. If actions throw, the others still run and {@link Arena#close} throws the first
   * exception with the others suppressed.
   *
   * @param arena an arena that somebody closes; the global one never runs the action
   * @param action what to run, once
   * @throws IllegalStateException if the arena has been closed
   * @throws WrongThreadException if the arena is confined to another thread
   */
  public static void register(Arena arena, Runnable action) {
    // A segment without bytes: nothing is read or written through it.
    MemorySegment.NULL.reinterpret(arena, ignored -> action.run());
  }
}
