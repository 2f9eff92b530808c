package dev.culebra.benchmarks.results;

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
 * The results of a run while it goes on. The file is replaced after every result, so that a run
 * that is cut short leaves what it had, and the next one goes on from there.
 */
public final class ResultsFile {
  /** What may differ between a run and the one that goes on with it. */
  private static final Set<String> PASSING =
      Set.of(
          "date",
          "clocks",
          "spin_ns",
          "load",
          Results.ASKED,
          Results.FINISHED,
          Results.CUT,
          Results.TOOK);

  private final Path file;
  private final String scale;
  private final List<Map<String, @Nullable Object>> runs = new ArrayList<>();
  private final Map<Result.Key, Result> results = new LinkedHashMap<>();
  private boolean complete;

  private ResultsFile(Path file, String scale) {
    this.file = file;
    this.scale = scale;
  }

  /**
   * Opens a file to write. One that a run of the same things left incomplete is gone on with;
   * another one is moved aside, under its date.
   *
   * @param scale smoke, short or full
   * @param run where, with what and when
   */
  public static ResultsFile open(
      Path file, String scale, Map<String, ? extends @Nullable Object> run) throws IOException {
    ResultsFile opened = new ResultsFile(file, scale);
    if (Files.exists(file)) {
      Optional<Results> earlier = readable(file);
      if (earlier.isPresent() && canContinue(earlier.get(), scale, run)) {
        opened.runs.addAll(earlier.get().runs());
        earlier.get().all().forEach(result -> opened.results.put(result.key(), result));
      } else {
        String date = earlier.map(results -> results.about("date")).orElse("unreadable");
        Files.move(file, aside(file, date.replace(":", "")));
      }
    } else {
      Files.createDirectories(Objects.requireNonNull(file.toAbsolutePath().getParent()));
    }
    opened.runs.add(new LinkedHashMap<>(run));
    opened.write();
    return opened;
  }

  private static Optional<Results> readable(Path file) {
    try {
      return Optional.of(Results.read(file));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** A changed working tree has no name, so its results cannot be told from others'. */
  private static boolean canContinue(
      Results earlier, String scale, Map<String, ? extends @Nullable Object> run) {
    String commit = earlier.about("commit");
    return !earlier.isComplete()
        && earlier.scale().equals(scale)
        && !commit.endsWith("-dirty")
        && !commit.equals("unknown")
        && earlier.runs().stream().allMatch(other -> lasting(other).equals(lasting(run)));
  }

  /** Compared as text: numbers read back are of other types than those written. */
  private static String lasting(Map<String, ? extends @Nullable Object> run) {
    Map<String, @Nullable Object> rest = new LinkedHashMap<>(run);
    rest.keySet().removeAll(PASSING);
    return Json.text(rest);
  }

  private static Path aside(Path file, String name) {
    String base =
        Objects.requireNonNull(file.getFileName()).toString().replaceFirst("\\.json$", "");
    Path target = file.resolveSibling(base + "-" + name + ".json");
    for (int i = 2; Files.exists(target); i++) {
      target = file.resolveSibling(base + "-" + name + "-" + i + ".json");
    }
    return target;
  }

  public Path file() {
    return file;
  }

  /** Whether this run goes on with another. */
  public boolean isContinued() {
    return runs.size() > 1;
  }

  /** What is there for a key, from this run or the one it goes on with. */
  public Optional<Result> find(Result.Key key) {
    return Optional.ofNullable(results.get(key));
  }

  /**
   * Adds a result, or replaces the one of its key, and writes the file. A result that does not fit
   * the schema, such as one whose time is not a number, becomes a failure: nobody could read the
   * file any more.
   *
   * @return what was added
   */
  public Result put(Result result) throws IOException {
    Result added = fitting(result.inRun(runs.size() - 1));
    results.put(added.key(), added);
    write();
    return added;
  }

  private static Result fitting(Result result) {
    String kind = result.failure().isPresent() ? "failed" : "measured";
    List<String> problems = Results.schema().problems(kind, Json.parse(Json.text(result.toJson())));
    return problems.isEmpty()
        ? result
        : Result.failed(
                result.key(), result.unit(), "no result: " + problems.getFirst().substring(2))
            .inRun(result.run());
  }

  /** Notes something about this run that was not known when it began. */
  public void note(String name, @Nullable Object value) throws IOException {
    runs.getLast().put(name, value);
    write();
  }

  /** Notes what this run is asked for. */
  public void asked(List<String> sections) throws IOException {
    note(Results.ASKED, sections);
  }

  /** Notes that a section came to its end. */
  public void finished(String section) throws IOException {
    List<Object> finished = new ArrayList<>();
    if (runs.getLast().get(Results.FINISHED) instanceof List<?> before) {
      finished.addAll(before);
    }
    finished.add(section);
    note(Results.FINISHED, finished);
  }

  /** Notes how long a section took, to its end or to where it was cut. */
  public void took(String section, double seconds) throws IOException {
    Map<String, Object> took = new LinkedHashMap<>();
    if (runs.getLast().get(Results.TOOK) instanceof Map<?, ?> before) {
      before.forEach((name, of) -> took.put(String.valueOf(name), Objects.requireNonNull(of)));
    }
    took.put(section, seconds);
    note(Results.TOOK, took);
  }

  /** Notes that the share of some sections was used up before they came to their end. */
  public void cut(List<String> sections) throws IOException {
    note(Results.CUT, sections);
  }

  /** What was asked for, by this run or one that it goes on with, and has not come to its end. */
  public List<String> unfinished() {
    return Results.unfinished(runs);
  }

  /** Everything that was asked for is there: the next run begins a new file. */
  public void complete() throws IOException {
    complete = true;
    write();
  }

  /** The failures among the results. */
  public List<Result> failures() {
    return results.values().stream().filter(result -> result.failure().isPresent()).toList();
  }

  private void write() throws IOException {
    Map<String, @Nullable Object> root = new LinkedHashMap<>();
    root.put("schema", Results.SCHEMA);
    root.put("scale", scale);
    root.put("complete", complete);
    root.put("runs", runs);
    root.put("results", results.values().stream().map(Result::toJson).toList());
    Json.write(file, root);
  }
}
