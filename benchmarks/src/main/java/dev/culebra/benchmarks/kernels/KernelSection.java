package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.Stream;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import java.io.IOException;
import java.util.List;

/**
 * Every problem of some operations: of those that goals are stated for, or of the online softmax
 * paper's sweeps. Results of both are of one kind, as many problems are the same.
 */
public final class KernelSection implements Section {
  /** The section's name in results. */
  public static final String NAME = "kernels";

  private static final List<Operation> OPERATIONS =
      List.of(
          new SoftmaxOperation(),
          new TopKOperation(),
          new SamplingOperation(),
          new ReductionOperation(),
          new ColumnReductionOperation(),
          new RowReductionOperation(),
          new SoftmaxBackwardOperation(),
          new MaskedSoftmaxOperation());

  private static final List<Operation> PAPER = List.of(new SoftmaxSweep(), new TopKSweep());

  private final String name;
  private final double usualSeconds;
  private final List<Operation> operations;
  private final String python;

  private KernelSection(
      String name, double usualSeconds, List<Operation> operations, String python) {
    this.name = name;
    this.usualSeconds = usualSeconds;
    this.operations = operations;
    this.python = python;
  }

  /**
   * The operations at the shapes of their goals.
   *
   * @param python the command that starts a Python with torch, or nothing for no peer
   */
  public static KernelSection operations(String python) {
    return new KernelSection(NAME, 150, OPERATIONS, python);
  }

  /**
   * The online softmax paper's sweeps over the length, and over K.
   *
   * @param python as of {@link #operations}
   */
  public static KernelSection paper(String python) {
    return new KernelSection("paper", 45, PAPER, python);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public double usualSeconds() {
    return usualSeconds;
  }

  @Override
  public void measure(Session session) throws IOException {
    Extent extent = Extent.of(session);
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
            ProblemRun.measure(session, problem, context, stream, torch, ceilings, l2Bytes);
          } catch (RuntimeException e) {
            if (context.isPoisoned()) {
              throw e;
            }
            session.failed(NAME, problem.name(), "Culebra", "us", Session.reason(e));
          }
        }
      }
    }
  }

  private static boolean isDone(Session session, Problem problem, TorchPeer torch) {
    return session.has(NAME, problem.name(), "Culebra")
        || (problem.implementations().stream()
                .allMatch(one -> session.has(NAME, problem.name(), one.who()))
            && (!problem.isLikeCopy() || session.has(NAME, problem.name(), ProblemRun.COPY))
            && (!problem.peer().containsKey("op")
                || torch.name().stream().allMatch(who -> session.has(NAME, problem.name(), who))));
  }
}
