package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.session.Command;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A browser without a window, which makes a PNG of an SVG.
 *
 * @param program its file
 */
record Browser(Path program) {
  /** Those that take the options used here. */
  static final List<String> NAMES =
      List.of("chromium", "chromium-browser", "google-chrome", "google-chrome-stable");

  private static final Duration MOST = Duration.ofMinutes(1);

  /** The first that is on PATH. */
  static Optional<Browser> find() {
    String path = System.getenv("PATH");
    if (path == null) {
      return Optional.empty();
    }
    return NAMES.stream()
        .flatMap(
            name ->
                Stream.of(path.split(File.pathSeparator, -1))
                    .filter(folder -> !folder.isEmpty())
                    .map(folder -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst()
        .map(Browser::new);
  }

  /**
   * Draws, at twice the size.
   *
   * @return what went wrong; nothing if nothing did
   */
  String draw(Path svg, Path png, int width, int height) throws IOException {
    Path profile = Files.createTempDirectory("culebra-browser");
    try {
      List<String> command =
          new ArrayList<>(
              List.of(
                  program.toString(),
                  "--headless",
                  "--disable-gpu",
                  "--hide-scrollbars",
                  "--force-device-scale-factor=2",
                  "--user-data-dir=" + profile,
                  "--window-size=%d,%d".formatted(width, height),
                  "--screenshot=" + png.toAbsolutePath()));
      if ("root".equals(System.getProperty("user.name"))) {
        command.add("--no-sandbox"); // without which it does not run as root; the file is our own
      }
      command.add(svg.toAbsolutePath().toUri().toString());
      Command.Outcome outcome = Command.run(command, MOST);
      if (!outcome.ended()) {
        return "%s had not ended after %d s, and was ended".formatted(program, MOST.toSeconds());
      }
      return Files.exists(png) && outcome.isGood()
          ? ""
          : "%s ended with status %d: %s"
              .formatted(
                  program,
                  outcome.status(),
                  outcome.output().lines().reduce((first, last) -> last).orElse(""));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    } finally {
      delete(profile);
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
