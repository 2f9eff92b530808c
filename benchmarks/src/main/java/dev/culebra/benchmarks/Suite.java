package dev.culebra.benchmarks;

import dev.culebra.Device;
import dev.culebra.benchmarks.calls.CallSections;
import dev.culebra.benchmarks.calls.PairsSection;
import dev.culebra.benchmarks.kernels.CeilingSection;
import dev.culebra.benchmarks.kernels.KernelSection;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.session.Machine;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.session.Watch;
import dev.culebra.benchmarks.start.StartSection;
import dev.culebra.bindings.DriverProbe;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** Runs the benchmarks on device 0 and writes the file of results. */
public final class Suite {
  private final Path out;
  private final Scale scale;
  private final List<Section> sections;

  private Suite(Path out, Scale scale, List<Section> sections) {
    this.out = out;
    this.scale = scale;
    this.sections = sections;
  }

  /** The most important first: a run that is cut short loses the rest. */
  private static List<Section> allSections(String python) {
    return List.of(
        new PairsSection(),
        new CeilingSection(),
        new KernelSection(python),
        CallSections.calls(),
        CallSections.driver(),
        new StartSection(),
        CallSections.threads(),
        CallSections.collectors());
  }

  /**
   * {@code Suite [--out FILE] [--only SECTION,...] [--smoke | --full] [--python COMMAND]}. Exit
   * status 1 if a result of ours is a failure, 2 for a wrong command line.
   */
  public static void main(String[] arguments) throws Exception {
    Suite suite;
    try {
      suite = parse(arguments);
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    DriverProbe driver = DriverProbe.run();
    if (!driver.isAvailable()) {
      System.err.println(driver.message());
      System.exit(1);
    }
    System.exit(suite.run(driver) ? 0 : 1);
  }

  private static Suite parse(String[] arguments) {
    Path out = Path.of("bench.json");
    Scale scale = Scale.SHORT;
    String python = "python3";
    Set<String> only = new TreeSet<>();
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--smoke" -> scale = Scale.SMOKE;
        case "--full" -> scale = Scale.FULL;
        case "--out" -> out = Path.of(value(arguments, ++i));
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
    return new Suite(out, scale, chosen);
  }

  private boolean run(DriverProbe driver) throws Exception {
    Device device = Device.of(0);
    ResultsFile results = ResultsFile.open(out, scale.label(), Machine.about(driver, device));
    Session session = new Session(results, scale, device);
    System.out.println(
        "on "
            + device.name()
            + (results.isContinued() ? ", going on with " + results.file() : "")
            + (scale == Scale.SMOKE ? ", tiny sizes: no figure counts" : ""));
    Watch watch = new Watch(session);
    for (Section section : sections) {
      System.out.println("-- " + section.name());
      watch.look(section.name());
      section.measure(session);
    }
    watch.look("the end");
    results.complete();
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
            + String.join(",", allSections("").stream().map(Section::name).toList())
            + "] [--smoke | --full] [--python COMMAND]");
  }
}
