package dev.culebra;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets users in until it is closed; the closer waits for those inside. This is what keeps a native
 * object alive while a call that was let in uses it: a check of "closed" before the call alone
 * could be overtaken by the close, and the driver crashes on what is gone.
 *
 * <p>Nothing here belongs to a thread, so virtual threads may park inside. A user inside must not
 * enter again: a close in between would turn it away half way.
 */
final class UseGate {

  private static final int CLOSED = Integer.MIN_VALUE;

  // How many are inside, and the sign when closed.
  private final AtomicInteger state = new AtomicInteger();
  private final CountDownLatch empty = new CountDownLatch(1);

  /** {@return whether the caller is inside now, and has to {@link #leave}} */
  boolean enter() {
    if (state.getAndIncrement() >= 0) {
      return true;
    }
    leave();
    return false;
  }

  void leave() {
    if (state.decrementAndGet() == CLOSED) {
      empty.countDown();
    }
  }

  boolean isClosed() {
    return state.get() < 0;
  }

  /** Lets nobody in any more. Not to be called twice. */
  void close() {
    if (state.getAndAdd(CLOSED) == 0) {
      empty.countDown();
    }
  }

  /** After {@link #close}: waits until all have left. An interrupt is kept for later. */
  void awaitEmpty() {
    boolean interrupted = false;
    while (true) {
      try {
        empty.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
