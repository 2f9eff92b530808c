package dev.culebra;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.ref.Cleaner;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reports what was never closed: {@code -Dculebra.leaks=report}, or {@code trace} for the place of
 * creation too. Reports go to the {@link System.Logger} {@code dev.culebra}. Nothing is freed here:
 * a cleaner's thread has no context, and the order against streams is not known; the context frees
 * it when it closes.
 */
final class LeakTracker {

  private enum Mode {
    OFF,
    REPORT,
    TRACE
  }

  private static final String PROPERTY = "culebra.leaks";
  private static final Logger LOGGER = System.getLogger("dev.culebra");
  private static final Mode MODE = mode();

  // Only made when somebody asked, so that a thread less runs otherwise.
  private static final @Nullable Cleaner CLEANER = MODE == Mode.OFF ? null : Cleaner.create();

  private LeakTracker() {}

  private static Mode mode() {
    String value = System.getProperty(PROPERTY, "off").toUpperCase(Locale.ROOT);
    for (Mode mode : Mode.values()) {
      if (mode.name().equals(value)) {
        return mode;
      }
    }
    LOGGER.log(
        Level.WARNING,
        "-D"
            + PROPERTY
            + "="
            + value
            + " is not one of off, report, trace; leaks are not reported");
    return Mode.OFF;
  }

  /** The place of creation, if it is to be kept. */
  static @Nullable Throwable creation() {
    return MODE == Mode.TRACE ? new Throwable("created here") : null;
  }

  /** Reports when {@code handle} becomes unreachable while {@code owned} is open. */
  static void track(Object handle, Owned owned) {
    if (CLEANER != null) {
      CLEANER.register(handle, () -> reportIfOpen(owned, "it became unreachable"));
    }
  }

  /** Reports what a context finds open when it closes. */
  static void contextCloses(Owned owned) {
    if (MODE != Mode.OFF && owned.isUsers()) {
      reportIfOpen(owned, "its context closed");
    }
  }

  private static void reportIfOpen(Owned owned, String how) {
    if (owned.isClosed() || !owned.firstReport()) {
      return;
    }
    String message = "leak: " + owned.what() + " was never closed; " + how;
    Throwable createdAt = owned.createdAt();
    if (createdAt == null) {
      LOGGER.log(Level.WARNING, message + "; -D" + PROPERTY + "=trace tells where it was created");
    } else {
      LOGGER.log(Level.WARNING, message, createdAt);
    }
  }
}
