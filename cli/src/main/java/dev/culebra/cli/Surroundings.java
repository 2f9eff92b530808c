package dev.culebra.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;

/**
 * What a command talks to; the tests put buffers in its place.
 *
 * @param stdin where {@code -} reads
 * @param stdout where {@code -} writes, and what {@code out} prints to
 * @param out text for people and, with {@code --json}, for machines
 * @param err what went wrong, and progress
 * @param outIsTerminal whether colours are welcome in {@code out}
 * @param errIsTerminal whether progress is welcome in {@code err}
 * @param chunkBytes how much of a tensor to have on the device at once; at least a row goes there
 */
record Surroundings(
    InputStream stdin,
    OutputStream stdout,
    PrintWriter out,
    PrintWriter err,
    boolean outIsTerminal,
    boolean errIsTerminal,
    long chunkBytes) {

  /** Large enough to keep a device busy, small enough to fit beside what others keep on it. */
  private static final long DEFAULT_CHUNK_BYTES = 128L << 20;

  /**
   * Those of the process. The launcher tells what is a terminal: {@link System#console} would load
   * the JDK's line editor only to be asked that.
   */
  static Surroundings ofProcess() {
    return new Surroundings(
        System.in,
        // Not System.out, which swallows what goes wrong: half a tensor must not look like a whole
        // one.
        new FileOutputStream(FileDescriptor.out),
        new PrintWriter(System.out, true, System.out.charset()),
        new PrintWriter(System.err, true, System.err.charset()),
        Boolean.getBoolean("culebra.terminal.out"),
        Boolean.getBoolean("culebra.terminal.err"),
        DEFAULT_CHUNK_BYTES);
  }

  /** Buffers instead of a terminal. */
  static Surroundings of(InputStream stdin, OutputStream stdout, PrintWriter err, long chunkBytes) {
    PrintWriter out = new PrintWriter(stdout, true, StandardCharsets.UTF_8);
    return new Surroundings(stdin, stdout, out, err, false, false, chunkBytes);
  }
}
