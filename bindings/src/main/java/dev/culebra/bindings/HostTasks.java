package dev.culebra.bindings;

import dev.culebra.generated.CUhostFn;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Java tasks that the driver runs. One native function serves them all and is told by a ticket
 * which one is meant, because making a function for each task is slow and its memory could not be
 * freed.
 */
final class HostTasks {
  private static final Map<Long, Runnable> WAITING = new ConcurrentHashMap<>();
  private static final AtomicLong TICKETS = new AtomicLong();

  private HostTasks() {}

  /** Address of the function that runs the task of the ticket it is given. */
  static long trampoline() {
    return Trampoline.ADDRESS;
  }

  static long register(Runnable task) {
    long ticket = TICKETS.incrementAndGet();
    WAITING.put(ticket, task);
    return ticket;
  }

  static void forget(long ticket) {
    WAITING.remove(ticket);
  }

  /** Called by the driver. An exception that left it would end the JVM. */
  @SuppressWarnings("UnusedMethod") // through the trampoline
  private static void run(MemorySegment ticket) {
    try {
      Runnable task = WAITING.remove(ticket.address());
      if (task != null) task.run();
    } catch (Throwable t) {
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, t);
    }
  }

  private static final class Trampoline {
    static final long ADDRESS = make();

    private static long make() {
      try {
        var run =
            MethodHandles.lookup()
                .findStatic(
                    HostTasks.class, "run", MethodType.methodType(void.class, MemorySegment.class));
        return Linker.nativeLinker()
            .upcallStub(run, CUhostFn.descriptor(), Arena.global())
            .address();
      } catch (ReflectiveOperationException e) {
        throw new LinkageError("HostTasks.run", e);
      }
    }
  }
}
