package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Results;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@code Report [--html FILE] [--markdown FILE] RESULTS...}: a page with plots, and the same tables
 * in Markdown. Exit status 2 for a wrong command line or a file that cannot be read.
 */
public final class Report {
  private static final String USAGE =
      "usage: [--html FILE] [--markdown FILE] RESULTS.json ..., at least one of each";

  private Report() {}

  /** Writes and exits. */
  public static void main(String[] arguments) {
    System.exit(run(arguments, System.out, System.err));
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) {
    Path html = null;
    Path markdown = null;
    List<Path> inputs = new ArrayList<>();
    for (int i = 0; i < arguments.length; i++) {
      boolean hasValue = i + 1 < arguments.length;
      if (arguments[i].equals("--html") && hasValue) {
        html = Path.of(arguments[++i]);
      } else if (arguments[i].equals("--markdown") && hasValue) {
        markdown = Path.of(arguments[++i]);
      } else if (arguments[i].startsWith("--")) {
        err.println(arguments[i] + " is no option, or has no value; " + USAGE);
        return 2;
      } else {
        inputs.add(Path.of(arguments[i]));
      }
    }
    if (inputs.isEmpty() || (html == null && markdown == null)) {
      err.println("what to write, and from what? " + USAGE);
      return 2;
    }
    try {
      List<Results> files = new ArrayList<>();
      for (Path input : inputs) {
        files.add(Results.read(input));
      }
      Reasons reasons = Reasons.beside(files);
      files.forEach(
          results -> reasons.stale(results).forEach(line -> err.println("warning: " + line)));
      write(html, () -> Page.of(files, reasons), out);
      write(markdown, () -> Markdown.of(files, reasons), out);
      return 0;
    } catch (IOException e) {
      err.println(e.getMessage());
      return 2;
    }
  }

  /** Text that a file of results has, but UTF-8 has not, becomes a question mark. */
  static void write(Path file, String text) throws IOException {
    try {
      Files.createDirectories(Objects.requireNonNull(file.toAbsolutePath().getParent()));
      Files.write(file, text.getBytes(StandardCharsets.UTF_8));
    } catch (FileSystemException e) {
      throw new IOException(file + " cannot be written: " + e, e);
    }
  }

  private static void write(@Nullable Path file, Supplier<String> text, PrintStream out)
      throws IOException {
    if (file != null) {
      write(file, text.get());
      out.println(file);
    }
  }
}
