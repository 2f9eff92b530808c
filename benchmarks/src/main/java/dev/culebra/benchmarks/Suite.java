package dev.culebra.benchmarks;

import dev.culebra.Device;
import dev.culebra.benchmarks.calls.CallSections;
import dev.culebra.benchmarks.calls.PairsSection;
import dev.culebra.benchmarks.kernels.CeilingSection;
import dev.culebra.benchmarks.kernels.KernelSection;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.session.Allowance;
import dev.culebra.benchmarks.session.Machine;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.session.Watch;
import dev.culebra.benchmarks.start.StartSection;
import dev.culebra.bindings.DriverProbe;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Runs the benchmarks on device 0 and writes the file of results. */
public final class Suite {
  /** What a short run on a GPU may take, where nobody says otherwise. */
  private static final double SHORT_SECONDS = 200;

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

  /** The most important first: a run that is cut short loses the rest. */
  private static List<Section> allSections(String python) {
    return List.of(
        new PairsSection(),
        new CeilingSection(),
        new KernelSection(python),
        CallSections.calls(),
        CallSections.driver(),
        CallSections.collectors(),
        CallSections.threads(),
        new StartSection());
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
    return suite.run(driver) ? 0 : 1;
  }

  private static Suite parse(String[] arguments) {
    Path out = Path.of("bench.json");
    Scale scale = Scale.SHORT;
    String python = "python3";
    Optional<Double> seconds = Optional.empty();
    Set<String> only = new TreeSet<>();
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--smoke" -> scale = Scale.SMOKE;
        case "--full" -> scale = Scale.FULL;
        case "--out" -> out = Path.of(value(arguments, ++i));
        case "--seconds" -> seconds = Optional.of(seconds(value(arguments, ++i)));
        case "--python" -> python = value(arguments, ++i);
        case "--only" -> only.addAll(List.of(value(arguments, ++i).split(",")));
        default -> throw usage("unknown option " + arguments[i]);
      }
    }
    List<Section> all = allSections(python);
    Set<String> unknown = new TreeSet<>(only);
    all.forEach(section -> unknown.remove(section.name()));
    if (!unknown.isEmpty()) {
      throw usage("unknown section in " + unknown);
    }
    List<Section> chosen =
        all.stream().filter(each -> only.isEmpty() || only.contains(each.name())).toList();
    return new Suite(out, scale, chosen, seconds);
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

  /** Somebody who waits for a GPU's figures waits minutes; nobody's emulator is in a hurry. */
  private Allowance allowance(boolean isEmulated) {
    double limit = seconds.orElse(scale == Scale.SHORT && !isEmulated ? SHORT_SECONDS : NO_LIMIT);
    return limit == NO_LIMIT ? Allowance.unlimited() : Allowance.of(limit, sections);
  }

  private boolean run(DriverProbe driver) throws Exception {
    Device device = Device.of(0);
    ResultsFile results = ResultsFile.open(out, scale.label(), Machine.about(driver, device));
    Allowance allowance = allowance(Session.isEmulator(device));
    Session session = new Session(results, scale, device, allowance);
    System.out.println(
        "on "
            + device.name()
            + (results.isContinued() ? ", going on with " + results.file() : "")
            + (scale == Scale.SMOKE ? ", tiny sizes: no figure counts" : ""));
    Watch watch = new Watch(session);
    for (Section section : sections) {
      System.out.println("-- " + section.name());
      watch.look(section.name());
      allowance.begin(section);
      section.measure(session);
      if (!allowance.cut().isEmpty()) {
        results.note("cut", allowance.cut());
      }
    }
    watch.look("the end");
    if (allowance.cut().isEmpty()) {
      results.complete();
    } else {
      System.out.println(
          "cut, as their share of the time was used up: "
              + String.join(", ", allowance.cut())
              + "; start it again to go on, or give it more with --seconds");
    }
    if (!watch.warning().isEmpty()) {
      System.out.println("WARNING: " + watch.warning());
    }
    System.out.println("results: " + results.file());
    List<Result> wrong =
        results.failures().stream()
            .filter(result -> result.key().who().startsWith("Culebra"))
            .toList();
    wrong.forEach(result -> System.err.println(result.key() + ": " + result.failure().orElse("")));
    return wrong.isEmpty();
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
