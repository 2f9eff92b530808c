package dev.culebra.benchmarks;

import dev.culebra.Device;
import dev.culebra.benchmarks.calls.CallSections;
import dev.culebra.benchmarks.calls.PairsSection;
import dev.culebra.benchmarks.kernels.CeilingSection;
import dev.culebra.benchmarks.kernels.KernelSection;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.results.RunLock;
import dev.culebra.benchmarks.session.Allowance;
import dev.culebra.benchmarks.session.Machine;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.session.Watch;
import dev.culebra.benchmarks.start.StartSection;
import dev.culebra.bindings.DriverProbe;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Runs the benchmarks on device 0 and writes the file of results. */
public final class Suite {
  /** What a run may take where nobody says otherwise: somebody waits for it. */
  private static final double SHORT_SECONDS = 300;

  private static final double FULL_SECONDS = 900;

  /** Of a full run on a GPU, where kernels are more than a look whether they work. */
  private static final double FULL_GPU_SECONDS = 1800;

  private static final double NO_LIMIT = 0;
  private static final double MOST_SECONDS = 86_400;

  private final Path out;
  private final Scale scale;
  private final List<Section> sections;
  private final Optional<Double> seconds;

  private Suite(Path out, Scale scale, List<Section> sections, Optional<Double> seconds) {
    this.out = out;
    this.scale = scale;
    this.sections = sections;
    this.seconds = seconds;
  }

  /** The most important first: a run that somebody ends loses the rest. */
  private static List<Section> allSections(String python) {
    return List.of(
        new PairsSection(),
        new CeilingSection(),
        KernelSection.operations(python),
        CallSections.calls(),
        CallSections.driver(),
        CallSections.threads(),
        new StartSection(),
        CallSections.collectors(),
        KernelSection.paper(python),
        KernelSection.launchTables());
  }

  /**
   * {@code Suite [--out FILE] [--only SECTION,...] [--smoke | --full] [--seconds N] [--python
   * COMMAND]}, or {@code --list-sections}. Exit status 1 if a result of ours is a failure, 2 for a
   * wrong command line.
   */
  public static void main(String[] arguments) throws Exception {
    System.exit(run(arguments, System.out, System.err));
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) throws Exception {
    if (List.of(arguments).equals(List.of("--list-sections"))) {
      out.println(sectionNames());
      return 0;
    }
    Suite suite;
    try {
      suite = parse(arguments);
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    }
    DriverProbe driver = DriverProbe.run();
    if (!driver.isAvailable()) {
      err.println(driver.message());
      return 1;
    }
    try (RunLock _ = RunLock.take(suite.out)) {
      return suite.run(driver) ? 0 : 1;
    } catch (IOException e) {
      err.println(e); // its class says what its message, which may be a file's name alone, does not
      return 1;
    }
  }

  private static Suite parse(String[] arguments) {
    Path out = Path.of("bench.json");
    Optional<Scale> scale = Optional.empty();
    String python = "python3";
    Optional<Double> seconds = Optional.empty();
    Set<String> only = new TreeSet<>();
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--smoke" -> scale = Optional.of(only(scale, Scale.SMOKE));
        case "--full" -> scale = Optional.of(only(scale, Scale.FULL));
        case "--out" -> out = results(value(arguments, ++i));
        case "--seconds" -> seconds = Optional.of(seconds(value(arguments, ++i)));
        case "--python" -> python = value(arguments, ++i);
        case "--only" -> only.addAll(List.of(value(arguments, ++i).split(",", -1)));
        default -> throw usage("unknown option " + arguments[i]);
      }
    }
    List<Section> all = allSections(python);
    Set<String> unknown = new TreeSet<>(only);
    all.forEach(section -> unknown.remove(section.name()));
    if (!unknown.isEmpty()) {
      throw usage("--only: there is no section named \"" + String.join("\", \"", unknown) + "\"");
    }
    List<Section> chosen =
        all.stream().filter(each -> only.isEmpty() || only.contains(each.name())).toList();
    return new Suite(out, scale.orElse(Scale.SHORT), chosen, seconds);
  }

  private static Scale only(Optional<Scale> before, Scale scale) {
    if (before.isPresent() && before.get() != scale) {
      throw usage("--smoke and --full exclude each other");
    }
    return scale;
  }

  /** Whatever else has this name is moved aside, so it has to be a name of results. */
  private static Path results(String name) {
    Path path;
    try {
      path = Path.of(name);
    } catch (InvalidPathException e) {
      throw usage("--out " + name + " is no file name");
    }
    if (!name.endsWith(".json") || Files.isDirectory(path)) {
      throw usage("--out " + name + " is no file whose name ends in .json");
    }
    return path;
  }

  private static double seconds(String text) {
    try {
      double seconds = Double.parseDouble(text);
      if (seconds >= 0 && seconds <= MOST_SECONDS) {
        return seconds;
      }
    } catch (NumberFormatException e) {
      // Told below, as what is out of range.
    }
    throw usage("--seconds " + text + " is not from 0 (no limit) to %.0f".formatted(MOST_SECONDS));
  }

  private Allowance allowance(boolean isEmulated) {
    double limit =
        seconds.orElse(
            scale.pick(NO_LIMIT, SHORT_SECONDS, isEmulated ? FULL_SECONDS : FULL_GPU_SECONDS));
    return limit == NO_LIMIT
        ? Allowance.unlimited()
        : Allowance.of(limit, sections, section -> section.usualSeconds(scale, isEmulated));
  }

  private boolean run(DriverProbe driver) throws Exception {
    Device device = Device.of(0);
    ResultsFile results = ResultsFile.open(out, scale.label(), Machine.about(driver, device));
    results.asked(sections.stream().map(Section::name).toList());
    Allowance allowance = allowance(Session.isEmulator(device));
    Session session = new Session(results, scale, device, allowance);
    System.out.println(
        "on "
            + device.name()
            + (results.isContinued() ? ", going on with " + results.file() : "")
            + (scale == Scale.SMOKE ? ", tiny sizes: no figure counts" : ""));
    Watch watch = new Watch(session);
    boolean broken = false;
    for (Section section : sections) {
      System.out.println("-- " + section.name());
      watch.look(section.name());
      allowance.begin(section);
      long start = System.nanoTime();
      broken |= !measure(section, session);
      results.took(section.name(), (System.nanoTime() - start) / 1e9);
    }
    watch.look("the end");
    List<String> unfinished = results.unfinished();
    if (unfinished.isEmpty()) {
      results.complete();
    } else {
      // Those of an earlier run too, which this one was not asked for.
      System.out.println(
          "not at their end: "
              + String.join(", ", unfinished)
              + "; start it again to go on, or give it more time with --seconds");
    }
    if (!watch.warning().isEmpty()) {
      System.out.println("WARNING: " + watch.warning());
    }
    System.out.println("results: " + results.file());
    List<Result> wrong =
        results.failures().stream().filter(result -> isWrong(result.key())).toList();
    wrong.forEach(result -> System.err.println(result.key() + ": " + result.failure().orElse("")));
    return wrong.isEmpty() && !broken;
  }

  /**
   * Measures a section. What is wrong with one, such as kernels that are not there, is no reason to
   * lose those behind it.
   *
   * @return whether it could be measured
   */
  static boolean measure(Section section, Session session) throws Exception {
    try {
      section.measure(session);
    } catch (RuntimeException | LinkageError e) {
      System.err.println(section.name() + " was not measured: " + Session.reason(e));
      return false;
    }
    List<String> cut = session.allowance().cut();
    if (cut.contains(section.name())) {
      session.results().cut(cut);
    } else {
      session.results().finished(section.name());
    }
    return true;
  }

  /** Not every JDK has every collector, nor each way to keep what a start has made. */
  private static boolean isWrong(Result.Key key) {
    return key.isOurs() && !key.section().equals("collectors") && !key.section().equals("start");
  }

  private static String value(String[] arguments, int index) {
    if (index == arguments.length) {
      throw usage(arguments[index - 1] + " needs a value");
    }
    return arguments[index];
  }

  private static IllegalArgumentException usage(String problem) {
    return new IllegalArgumentException(
        problem
            + "; usage: [--out FILE] [--only "
            + sectionNames()
            + "] [--smoke | --full] [--seconds N] [--python COMMAND] or: --list-sections");
  }

  /** As {@code --only} takes them. */
  private static String sectionNames() {
    return String.join(",", allSections("").stream().map(Section::name).toList());
  }
}
