package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Results;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * {@code Paper --out FOLDER RESULTS}: the figures of the online softmax paper from one file of
 * results, each as an SVG that stands alone and, where a browser is, a PNG; and {@code paper.md}
 * with the paper's numbers beside the measured ones. Exit status 2 for a wrong command line or a
 * file that cannot be read or has not the paper's sweeps.
 */
public final class Paper {
  private static final String USAGE = "usage: --out FOLDER RESULTS.json";

  private Paper() {}

  /** Writes and exits. */
  public static void main(String[] arguments) {
    System.exit(run(arguments, Browser.find(), System.out, System.err));
  }

  static int run(String[] arguments, Optional<Browser> browser, PrintStream out, PrintStream err) {
    if (arguments.length != 3 || !arguments[0].equals("--out")) {
      err.println(USAGE);
      return 2;
    }
    try {
      write(Path.of(arguments[1]), Results.read(Path.of(arguments[2])), browser, out);
      return 0;
    } catch (IOException e) {
      err.println(e.getMessage());
      return 2;
    }
  }

  private static void write(
      Path folder, Results results, Optional<Browser> browser, PrintStream out) throws IOException {
    PaperSweeps sweeps = PaperSweeps.of(results);
    PaperFigures figures = new PaperFigures(results, sweeps);
    Map<String, Poster> posters = Map.of("softmax", figures.softmax(), "topk", figures.topK());
    for (Map.Entry<String, Poster> each : posters.entrySet()) {
      Path svg = folder.resolve(each.getKey() + ".svg");
      Report.write(svg, each.getValue().svg());
      out.println(svg);
      if (browser.isPresent()) {
        Path png = folder.resolve(each.getKey() + ".png");
        Files.deleteIfExists(png); // an old one must not pass for this one's
        String problem =
            browser.get().draw(svg, png, each.getValue().width(), each.getValue().height());
        out.println(problem.isEmpty() ? png : "no " + png + ": " + problem);
      }
    }
    if (browser.isEmpty()) {
      out.println("no PNG: none of " + String.join(", ", Browser.NAMES) + " is on PATH");
    }
    Path text = folder.resolve("paper.md");
    Report.write(text, new PaperText(results, sweeps).markdown());
    out.println(text);
  }
}
