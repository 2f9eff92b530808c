package dev.culebra.benchmarks.compare;

import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * {@code Compare OLD NEW [--tolerance PERCENT]}: says what got slower beyond the noise.
 *
 * <p>Exit status 0: nothing did. 1: something did. 2: a wrong command line, a file that cannot be
 * read, or two that have nothing in common. 3: nothing is slower, but a result was lost. 4: nothing
 * is known to be slower or lost, but some results are undecided: their intervals are too wide for
 * the tolerance.
 */
public final class Compare {
  /** Two runs of the same thing differ by this much, by where the compiler happens to put code. */
  private static final double TOLERANCE = 0.05;

  /** Ten times as slow: whoever tolerates more need not compare. */
  private static final double MOST_TOLERANCE = 10;

  /** What needs no line of its own. */
  private static final Set<Verdict> UNTOLD =
      EnumSet.of(Verdict.SAME, Verdict.NEW, Verdict.STILL_FAILED, Verdict.UNJUDGED);

  private Compare() {}

  /** Compares and exits. */
  public static void main(String[] arguments) {
    System.exit(run(arguments, System.out, System.err));
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) {
    List<Path> files = new ArrayList<>();
    double tolerance = TOLERANCE;
    try {
      for (int i = 0; i < arguments.length; i++) {
        if (arguments[i].equals("--tolerance") && i + 1 == arguments.length) {
          throw new NumberFormatException();
        } else if (arguments[i].equals("--tolerance")) {
          tolerance = Double.parseDouble(arguments[++i]) / 100;
        } else {
          files.add(Path.of(arguments[i]));
        }
      }
    } catch (NumberFormatException e) {
      err.println("the tolerance is not a number of percent");
      return 2;
    }
    if (!(tolerance >= 0 && tolerance <= MOST_TOLERANCE)) {
      err.printf("the tolerance is not from 0 to %.0f percent%n", MOST_TOLERANCE * 100);
      return 2;
    }
    if (files.size() != 2) {
      err.println("usage: OLD.json NEW.json [--tolerance PERCENT]");
      return 2;
    }
    try {
      Results before = Results.read(files.get(0));
      Results after = Results.read(files.get(1));
      warn(before, after, out);
      Comparison comparison = new Comparison(before, after, tolerance);
      print(comparison, tolerance, out);
      if (!comparison.hasOurs() && comparison.ours(Verdict.LOST).isEmpty()) {
        err.println(
            "nothing was compared: no result of ours is in both files with a time that counts");
        return 2;
      }
      return comparison.status();
    } catch (IOException e) {
      err.println(e.getMessage());
      return 2;
    }
  }

  /** What makes the comparison worth less, beside noise. */
  private static void warn(Results before, Results after, PrintStream out) {
    out.printf("old: %s%nnew: %s%n", about(before), about(after));
    if (!before.scale().equals(after.scale())) {
      out.printf("warning: the scale differs: %s, now %s%n", before.scale(), after.scale());
    }
    for (List<String> path :
        List.of(
            List.of("machine", "cpu"),
            List.of("machine", "cores"),
            List.of("machine", "os"),
            List.of("machine", "jdk"),
            List.of("machine", "vm_arguments"),
            List.of("device", "name"),
            List.of("driver", "version"))) {
      String[] names = path.toArray(String[]::new);
      if (!before.about(names).equals(after.about(names))) {
        out.printf(
            "warning: %s differs: %s, now %s%n",
            String.join(" ", path), before.about(names), after.about(names));
      }
    }
    for (Results results : List.of(before, after)) {
      if (results.scale().equals("smoke")) {
        out.println("warning: " + results.file() + " has tiny sizes, in which no figure counts");
      }
      if (!results.isComplete()) {
        out.println("warning: " + results.file() + " is of a run that was cut short");
      }
    }
    if (before.isEmulated() || after.isEmulated()) {
      out.println("times of kernels on the emulator say nothing: they are not compared");
    }
  }

  private static String about(Results results) {
    return "%s, commit %s, %s"
        .formatted(results.file(), results.about("commit"), results.about("date"));
  }

  private static void print(Comparison comparison, double tolerance, PrintStream out) {
    for (Verdict verdict : Verdict.values()) {
      for (Comparison.Line line : comparison.lines()) {
        if (line.verdict() == verdict && !UNTOLD.contains(verdict)) {
          out.printf(
              "%-12s %s%s%s%n",
              words(verdict),
              line.key(),
              line.ratio() == null ? "" : ": " + text(line.ratio()),
              line.note().isEmpty() ? "" : ": " + line.note());
        }
      }
    }
    out.printf(
        "of ours: %d slower by more than %.0f %%, %d faster, %d the same, %d undecided, %d lost, %d"
            + " new%n",
        comparison.ours(Verdict.SLOWER).size(),
        tolerance * 100,
        comparison.ours(Verdict.FASTER).size(),
        comparison.ours(Verdict.SAME).size(),
        comparison.ours(Verdict.UNDECIDED).size(),
        comparison.ours(Verdict.LOST).size(),
        comparison.ours(Verdict.NEW).size());
  }

  private static String words(Verdict verdict) {
    return verdict.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }

  private static String text(Interval ratio) {
    return "%.3f of the old time [%.3f, %.3f]".formatted(ratio.median(), ratio.low(), ratio.high());
  }
}
