package dev.culebra.benchmarks.session;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another program, which gets so long and no longer. */
public final class Command {
  private Command() {}

  /**
   * What came of it.
   *
   * @param ended whether it ended by itself; else it was ended, and has no status of its own
   * @param status its exit status
   * @param output what it wrote to both of its outputs
   * @param nanos from its start to its end
   */
  public record Outcome(boolean ended, int status, String output, long nanos) {
    /** Whether it ended well. */
    public boolean isGood() {
      return ended && status == 0;
    }
  }

  /**
   * Runs it to its end, or ends it and what it started. Its output goes through a file: whoever
   * reads a pipe to its end waits for as long as any child of the program holds the pipe.
   *
   * @throws IOException if it cannot be started
   */
  public static Outcome run(List<String> command, Duration most)
      throws IOException, InterruptedException {
    Path output = Files.createTempFile("culebra-command", ".txt");
    try {
      long start = System.nanoTime();
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .start();
      boolean ended = false;
      long nanos;
      try {
        ended = process.waitFor(most.toNanos(), TimeUnit.NANOSECONDS);
      } finally {
        nanos = System.nanoTime() - start;
        if (!ended) {
          end(process);
        }
      }
      String said = new String(Files.readAllBytes(output), StandardCharsets.UTF_8);
      return new Outcome(ended, ended ? process.exitValue() : -1, said, nanos);
    } finally {
      Files.delete(output);
    }
  }

  /** Ends a process, if it runs, and what it started. */
  public static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
