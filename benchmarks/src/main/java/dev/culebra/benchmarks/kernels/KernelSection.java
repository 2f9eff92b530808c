package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.Stream;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import java.io.IOException;
import java.util.List;

/**
 * Every problem of some operations: of those that goals are stated for, of the online softmax
 * paper's sweeps, or of the launch tables. Results of the first two are of one section, as many
 * problems are the same.
 */
public final class KernelSection implements Section {
  /** The section's name in results. */
  public static final String NAME = "kernels";

  /** The section of the launch tables' rows. */
  public static final String TABLES = "tables";

  private static final int MAJOR_OF_TABLES = 9;

  /** Turns for a row of a table: no claim is made with it. */
  private static final int TURNS_OF_TABLES = 12;

  private static final List<Operation> OPERATIONS =
      List.of(
          new SoftmaxOperation(),
          new TopKOperation(),
          new SamplingOperation(),
          new ReductionOperation(),
          new SoftmaxBackwardOperation(),
          new MaskedSoftmaxOperation());

  private static final List<Operation> PAPER = List.of(new SoftmaxSweep(), new TopKSweep());

  private final String name;

  /** Of a short run on a GPU. */
  private final double usualSeconds;

  /** Of a run on the emulator, of any scale. */
  private final double emulatedSeconds;

  private final List<Operation> operations;
  private final String python;

  /** Where results go. */
  private final String results;

  private KernelSection(
      String name,
      String results,
      double usualSeconds,
      double emulatedSeconds,
      List<Operation> operations,
      String python) {
    this.name = name;
    this.results = results;
    this.usualSeconds = usualSeconds;
    this.emulatedSeconds = emulatedSeconds;
    this.operations = operations;
    this.python = python;
  }

  /**
   * The operations at the shapes of their goals.
   *
   * @param python the command that starts a Python with torch, or nothing for no peer
   */
  public static KernelSection operations(String python) {
    return new KernelSection(NAME, NAME, 160, 60, OPERATIONS, python);
  }

  /**
   * The online softmax paper's sweeps over the length, and over K.
   *
   * @param python as of {@link #operations}
   */
  public static KernelSection paper(String python) {
    return new KernelSection("paper", NAME, 70, 40, PAPER, python);
  }

  /** Every row of the launch tables, which are those of compute capability 9. */
  public static KernelSection launchTables() {
    return new KernelSection(
        TABLES, TABLES, 60, 20, List.of(new LaunchTableOperation()), /* no peer */ "");
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public double usualSeconds(Scale scale, boolean isEmulated) {
    // More turns and types: what a turn takes beside its launches does not grow with them.
    return isEmulated ? emulatedSeconds : usualSeconds * scale.pick(1, 1, 4);
  }

  @Override
  public void measure(Session session) throws IOException {
    if (name.equals(TABLES) && session.device().computeCapability().major() != MAJOR_OF_TABLES) {
      System.out.println("the launch tables that have figures are for compute capability 9 alone");
      return;
    }
    Extent extent = Extent.of(session);
    int turns =
        name.equals(TABLES)
            ? Math.min(TURNS_OF_TABLES, Extent.turns(session))
            : Extent.turns(session);
    Ceilings ceilings = new Ceilings(session);
    if (!session.isEmulated()) {
      ceilings.unchecked().ifPresent(System.out::println);
    }
    // The emulator has no cache; a few sets are enough to see that they take turns.
    long l2Bytes =
        extent == Extent.TINY ? 0 : session.device().attribute(DeviceAttribute.L2_CACHE_SIZE);
    try (TorchPeer torch = TorchPeer.start(session.isEmulated() ? "" : python);
        Context context = Context.primary(session.device());
        Stream stream = context.newStream()) {
      for (Operation operation : operations) {
        for (Problem problem : operation.problems(extent)) {
          if (isDone(session, problem, torch)) {
            continue;
          }
          if (session.allowance().isUsedUp()) {
            return;
          }
          try {
            ProblemRun.measure(
                session, results, turns, problem, context, stream, torch, ceilings, l2Bytes);
          } catch (RuntimeException e) {
            if (context.isPoisoned()) {
              throw e;
            }
            session.failed(results, problem.name(), "Culebra", "us", Session.reason(e));
          }
        }
      }
    }
  }

  private boolean isDone(Session session, Problem problem, TorchPeer torch) {
    return session.has(results, problem.name(), "Culebra")
        || (problem.implementations().stream()
                .allMatch(one -> session.has(results, problem.name(), one.who()))
            && (!problem.isLikeCopy() || session.has(results, problem.name(), ProblemRun.COPY))
            && (!problem.peer().containsKey("op")
                || torch.name().stream()
                    .allMatch(who -> session.has(results, problem.name(), who))));
  }
}
