package dev.culebra.bindings;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Assertions about what an exception says. */
final class Messages {
  private Messages() {}

  static void assertSays(Throwable thrown, String part) {
    String message = String.valueOf(thrown.getMessage());
    assertTrue(message.contains(part), () -> "\"" + message + "\" lacks \"" + part + "\"");
  }
}
