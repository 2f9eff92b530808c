package dev.culebra.benchmarks.results;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A file of results, read. */
public final class Results {
  /** The number of the form that this class knows. */
  static final long SCHEMA = 2;

  /** Of a run: the sections that it was asked for. */
  static final String ASKED = "asked";

  /** Of a run: the sections that it came to the end of. */
  static final String FINISHED = "finished";

  /** Of a run: the sections whose share of the time was used up. */
  static final String CUT = "cut";

  /** Of a run: the seconds that each of its sections took. */
  static final String TOOK = "took_seconds";

  /** The section whose results have a baseline each. */
  public static final String PAIRS = "pairs";

  private final Path file;
  private final String scale;
  private final boolean complete;
  private final List<Map<String, @Nullable Object>> runs;
  private final List<Result> results;

  private Results(
      Path file,
      String scale,
      boolean complete,
      List<Map<String, @Nullable Object>> runs,
      List<Result> results) {
    this.file = file;
    this.scale = scale;
    this.complete = complete;
    this.runs = runs;
    this.results = results;
  }

  /**
   * Reads a file and holds it to the schema.
   *
   * @throws IOException naming the file and what is wrong with it
   */
  @SuppressWarnings("unchecked") // the schema was checked
  public static Results read(Path file) throws IOException {
    Object root = Json.read(file);
    List<String> problems = schema().problems(root);
    if (!problems.isEmpty()) {
      throw new IOException(
          file + " is no file of results: " + String.join("; ", problems.subList(0, 1)));
    }
    Map<String, Object> map = (Map<String, Object>) Objects.requireNonNull(root);
    List<Result> results = new ArrayList<>();
    for (Object result : (List<Object>) Objects.requireNonNull(map.get("results"))) {
      results.add(Result.fromJson((Map<String, @Nullable Object>) result));
    }
    List<Map<String, @Nullable Object>> runs =
        (List<Map<String, @Nullable Object>>) Objects.requireNonNull(map.get("runs"));
    requireWhole(file, runs, results);
    return new Results(
        file,
        (String) Objects.requireNonNull(map.get("scale")),
        (Boolean) Objects.requireNonNull(map.get("complete")),
        runs,
        results);
  }

  /** What a schema cannot say: what belongs together fits together. */
  private static void requireWhole(
      Path file, List<Map<String, @Nullable Object>> runs, List<Result> results)
      throws IOException {
    Set<Result.Key> keys = new HashSet<>();
    for (Result result : results) {
      String problem = "";
      int baselines = result.baseline().length;
      if (!keys.add(result.key())) {
        problem = "is there twice";
      } else if (result.run() >= runs.size()) {
        problem = "is of run %d of %d, counted from 0".formatted(result.run(), runs.size());
      } else if (baselines > 0 && baselines != result.samples().length) {
        problem =
            "has %d samples and %d of its baseline, which are no pairs"
                .formatted(result.samples().length, baselines);
      } else if (baselines == 0
          && result.failure().isEmpty()
          && result.key().section().equals(PAIRS)) {
        problem = "has no samples of its baseline";
      }
      if (!problem.isEmpty()) {
        throw new IOException(
            "%s is no file of results: %s %s".formatted(file, result.key(), problem));
      }
    }
  }

  /** What every file of results is held to. */
  static SchemaCheck schema() {
    try (InputStream in =
        Objects.requireNonNull(Results.class.getResourceAsStream("results.schema.json"))) {
      return new SchemaCheck(Json.read(in));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public Path file() {
    return file;
  }

  /** How much was measured: smoke, short or full. */
  public String scale() {
    return scale;
  }

  /** Whether the run came to its end. */
  public boolean isComplete() {
    return complete;
  }

  /** Where, with what and when; more than one if a run was resumed. */
  public List<Map<String, @Nullable Object>> runs() {
    return runs;
  }

  /** The sections that a run was asked for, or began, and that no run finished. */
  public List<String> unfinished() {
    return unfinished(runs);
  }

  static List<String> unfinished(List<Map<String, @Nullable Object>> runs) {
    Set<String> left = new LinkedHashSet<>();
    for (String field : List.of(ASKED, CUT)) {
      runs.forEach(run -> left.addAll(names(run, field)));
    }
    runs.forEach(run -> left.removeAll(names(run, FINISHED)));
    return List.copyOf(left);
  }

  private static List<String> names(Map<String, @Nullable Object> run, String field) {
    return run.get(field) instanceof List<?> list
        ? list.stream().map(String::valueOf).toList()
        : List.of();
  }

  public List<Result> all() {
    return results;
  }

  /** The results of a section, in the order they were measured. */
  public List<Result> of(String section) {
    return results.stream().filter(result -> result.key().section().equals(section)).toList();
  }

  public Optional<Result> find(Result.Key key) {
    return results.stream().filter(result -> result.key().equals(key)).findFirst();
  }

  /** Something that a run says of itself, as text: {@code about("device", "name")}. */
  public String about(String... path) {
    return text(runs.getFirst(), path);
  }

  static String text(Map<String, @Nullable Object> run, String... path) {
    Object value = run;
    for (String name : path) {
      value = value instanceof Map<?, ?> map ? map.get(name) : null;
    }
    return value == null ? "" : value.toString();
  }

  /** Whether the device was the emulator: its kernel times say nothing. */
  public boolean isEmulated() {
    return Boolean.parseBoolean(about("device", "emulator"));
  }
}
