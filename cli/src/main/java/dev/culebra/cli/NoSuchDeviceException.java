package dev.culebra.cli;

import java.io.Serial;

/** The device that was asked for is not there; the message lists those that are. */
final class NoSuchDeviceException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  NoSuchDeviceException(String message) {
    super(message);
  }
}
