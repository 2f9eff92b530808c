package dev.culebra.cli;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;

/**
 * One command, run in this process.
 *
 * @param status what the process would have answered
 * @param stdout what it wrote, as bytes
 * @param err what it said on standard error
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record CommandRun(int status, byte[] stdout, String err) {
  /** Larger than any tensor of the tests: all goes at once. */
  private static final long ONE_CHUNK = 1L << 30;

  static CommandRun of(String... args) {
    return of(ONE_CHUNK, new byte[0], args);
  }

  static CommandRun of(long chunkBytes, byte[] stdin, String... args) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    StringWriter err = new StringWriter();
    Surroundings surroundings =
        Surroundings.of(
            new ByteArrayInputStream(stdin), out, new PrintWriter(err, true), chunkBytes);
    int status = Culebra.run(surroundings, args);
    return new CommandRun(status, out.toByteArray(), err.toString());
  }

  /** Standard output as text. */
  String out() {
    return new String(stdout, StandardCharsets.UTF_8);
  }
}
