package dev.culebra.cli;

/** What the process answers; 130 is the JVM's own answer to an interrupt. */
final class ExitStatus {
  static final int OK = 0;

  /** A fault in Culebra itself. */
  static final int INTERNAL = 1;

  /** A wrong command line. */
  static final int USAGE = 2;

  /** A file that cannot be read, written or understood. */
  static final int BAD_INPUT = 3;

  /** No usable driver, no such device, or a failure of one. */
  static final int DEVICE = 4;

  private ExitStatus() {}
}
