package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Json;
import dev.culebra.benchmarks.results.Results;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Why goals were missed, in the words of who looked into it: {@code missed-goals.json} beside the
 * files of results. For each file it has an object, and in it for each missed goal the reason. A
 * reason belongs to one run: another run may miss the same goal for another one.
 */
final class Reasons {
  /** The file's name. */
  static final String FILE = "missed-goals.json";

  /** By name of the file of results, then by goal. */
  private final Map<Path, Map<String, String>> reasons;

  private Reasons(Map<Path, Map<String, String>> reasons) {
    this.reasons = reasons;
  }

  /**
   * Reads what is beside files of results, where there is something.
   *
   * @throws IOException naming the file that has another form
   */
  static Reasons beside(List<Results> files) throws IOException {
    Map<Path, Map<String, String>> reasons = new LinkedHashMap<>();
    for (Results results : files) {
      Path file = results.file().resolveSibling(FILE);
      if (Files.exists(file)) {
        reasons.put(results.file(), read(file, name(results)));
      }
    }
    return new Reasons(reasons);
  }

  private static Map<String, String> read(Path file, String name) throws IOException {
    Map<String, String> found = new LinkedHashMap<>();
    for (Map.Entry<?, ?> each : object(Json.read(file), file, "the whole").entrySet()) {
      String of = each.getKey().toString();
      for (Map.Entry<?, ?> reason : object(each.getValue(), file, of).entrySet()) {
        if (!(reason.getValue() instanceof String words) || words.isBlank()) {
          throw new IOException(
              "%s: the reason for \"%s\" in %s is no text".formatted(file, reason.getKey(), of));
        }
        if (of.equals(name)) {
          found.put(reason.getKey().toString(), words);
        }
      }
    }
    return found;
  }

  private static Map<?, ?> object(@Nullable Object value, Path file, String what)
      throws IOException {
    if (value instanceof Map<?, ?> map) {
      return map;
    }
    throw new IOException("%s: %s is no JSON object".formatted(file, what));
  }

  private static String name(Results results) {
    return Objects.requireNonNull(results.file().getFileName()).toString();
  }

  /** The reason for a goal, if somebody gave one. */
  Optional<String> find(Results results, String goal) {
    return Optional.ofNullable(reasons.getOrDefault(results.file(), Map.of()).get(goal));
  }

  /** Lines about reasons for what was not missed: they were written for another run or goal. */
  List<String> stale(Results results) {
    Set<String> missed = Goals.missed(results);
    List<String> stale = new ArrayList<>();
    reasons.getOrDefault(results.file(), Map.of()).keySet().stream()
        .filter(goal -> !missed.contains(goal))
        .forEach(
            goal ->
                stale.add(
                    "%s has a reason for \"%s\", which is no missed goal of %s"
                        .formatted(FILE, goal, name(results))));
    return stale;
  }
}
