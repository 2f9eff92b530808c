package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** What tests ask of messages: that they name the thing. */
public final class Messages {

  private Messages() {}

  /** The message contains each part. */
  public static void assertTells(Throwable error, String... parts) {
    String message = String.valueOf(error.getMessage());
    for (String part : parts) {
      assertTrue(message.contains(part), () -> "'" + part + "' is missing in: " + message);
    }
  }
}
