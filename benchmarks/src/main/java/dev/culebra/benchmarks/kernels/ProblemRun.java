package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.benchmarks.kernels.Problem.Call;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.statistics.Samples;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One problem: its contenders in turns, round after round, and after the last turn of each the
 * proof that its timed launches did the work.
 */
final class ProblemRun {
  static final String COPY = "device copy";

  private final Session session;
  private final String section;
  private final int rounds;
  private final Problem problem;
  private final Context context;
  private final Stream stream;
  private final DeviceData data;
  private final Sets sets;
  private final EventTimer timer;
  private final List<Call> calls = new ArrayList<>();
  private int next;

  private ProblemRun(
      Session session,
      String section,
      int rounds,
      Problem problem,
      Context context,
      Stream stream,
      DeviceData data,
      Sets sets) {
    this.session = session;
    this.section = section;
    this.rounds = rounds;
    this.problem = problem;
    this.context = context;
    this.stream = stream;
    this.data = data;
    this.sets = sets;
    this.timer = new EventTimer(context, stream);
  }

  /** One contender: what it is called, how it is run for some samples, and what it took so far. */
  private static final class Turns {
    final String who;
    final Map<String, Object> details = new LinkedHashMap<>();
    final List<Double> micros = new ArrayList<>();
    Optional<Call> call = Optional.empty();
    int repeats;

    Turns(String who) {
      this.who = who;
    }

    double[] samples() {
      return micros.stream().mapToDouble(Double::doubleValue).toArray();
    }
  }

  /**
   * Measures every contender that has no result yet.
   *
   * @param section of the results
   * @param rounds turns of each
   */
  static void measure(
      Session session,
      String section,
      int rounds,
      Problem problem,
      Context context,
      Stream stream,
      TorchPeer torch,
      Ceilings ceilings,
      long l2Bytes)
      throws IOException {
    DeviceData data = new DeviceData(context, stream);
    try (Sets sets = Sets.of(problem, context, stream, data, l2Bytes)) {
      ProblemRun run =
          new ProblemRun(session, section, rounds, problem, context, stream, data, sets);
      try {
        run.measure(torch, ceilings);
      } finally {
        run.calls.forEach(Call::close);
      }
    }
    // Peers in other processes want the memory next.
    context.trimMemory();
  }

  private void measure(TorchPeer torch, Ceilings ceilings) throws IOException {
    sets.reader(0).requireInput(0, 0, (int) Math.min(problem.inputs().getFirst().elements(), 4096));
    List<Turns> contenders = new ArrayList<>();
    for (Implementation implementation : problem.implementations()) {
      open(implementation).ifPresent(contenders::add);
    }
    if (problem.isLikeCopy() && !isMeasured(COPY)) {
      Turns copy = new Turns(COPY);
      copy.call = Optional.of(ProblemRun::copy);
      copy.repeats = repeats(copy);
      contenders.add(copy);
    }
    openPeer(torch).ifPresent(contenders::add);

    for (int round = 0; round < rounds && !contenders.isEmpty(); round++) {
      boolean last = round == rounds - 1;
      List<Turns> out = new ArrayList<>();
      // Back and forth: of each pair either goes first in turn.
      for (Turns turns : round % 2 == 0 ? contenders : contenders.reversed()) {
        try {
          take(turns, torch, last);
        } catch (RuntimeException e) {
          if (context.isPoisoned()) {
            throw e;
          }
          failed(turns.who, Session.reason(e));
          out.add(turns);
        }
      }
      contenders.removeAll(out);
    }
    torch.close(problem);
    for (Turns turns : contenders) {
      report(turns, ceilings);
    }
  }

  private boolean isMeasured(String who) {
    return session.has(section, problem.name(), who);
  }

  private Optional<Turns> open(Implementation implementation) throws IOException {
    if (isMeasured(implementation.who())) {
      return Optional.empty();
    }
    Turns turns = new Turns(implementation.who());
    try {
      Call call = implementation.opener().open(context);
      calls.add(call);
      turns.call = Optional.of(call);
      turns.details.put("kernel", implementation.kernel().apply(context));
      turns.repeats = repeats(turns);
      return Optional.of(turns);
    } catch (RuntimeException e) {
      if (context.isPoisoned()) {
        throw e;
      }
      failed(implementation.who(), Session.reason(e));
      return Optional.empty();
    }
  }

  /** At least so many that the sample of one turn uses every set. */
  private int repeats(Turns turns) {
    int longEnough = session.isEmulated() ? 1 : timer.repeats(() -> enqueue(turns));
    return Math.max(longEnough, sets.count());
  }

  private Optional<Turns> openPeer(TorchPeer torch) throws IOException {
    if (!problem.peer().containsKey("op") || torch.name().isEmpty()) {
      return Optional.empty();
    }
    String who = torch.name().get();
    if (isMeasured(who)) {
      return Optional.empty();
    }
    try {
      torch.open(problem, sets.count());
      return Optional.of(new Turns(who));
    } catch (RuntimeException e) {
      failed(who, Session.reason(e));
      return Optional.empty();
    }
  }

  private void enqueue(Turns turns) {
    turns.call.orElseThrow().run(sets.set(next), stream);
    next = (next + 1) % sets.count();
  }

  private void take(Turns turns, TorchPeer torch, boolean last) throws IOException {
    if (turns.call.isEmpty()) {
      turns.micros.add(last ? torch.takeAndProve(problem, turns.details) : torch.take());
      return;
    }
    next = 0;
    sets.poison();
    turns.micros.add(timer.microseconds(1, turns.repeats, () -> enqueue(turns))[0]);
    if (last) {
      prove(turns);
    }
  }

  private void prove(Turns turns) {
    sets.requireWritten(data, sets.count());
    turns.details.put("repeats", turns.repeats);
    turns.details.put("buffers", sets.count());
    turns.details.put("seed", sets.seed());
    int looked = sets.count() - 1;
    if (turns.who.equals(COPY)) {
      proveCopy(looked, turns);
      return;
    }
    Verdict verdict = problem.check().judge(sets.reader(looked));
    problem.requireRight(verdict.error());
    turns.details.put("error", verdict.error());
    turns.details.put("allowed_error", problem.allowedError());
    turns.details.put("checked_elements", verdict.elements());
  }

  private void proveCopy(int set, Turns turns) {
    int count = (int) Math.min(problem.inputs().getFirst().elements(), 1 << 16);
    Reader reader = sets.reader(set);
    if (!Arrays.equals(reader.input(0, 0, count), reader.output(0, 0, count))) {
      throw new IllegalStateException("the copy differs from what was copied");
    }
    turns.details.put("checked_elements", count);
  }

  private static void copy(Tensors tensors, Stream stream) {
    copy(tensors, tensors.inputs().getFirst().type(), stream);
  }

  private static <E extends ElementType<E>> void copy(
      Tensors tensors, ElementType<E> type, Stream stream) {
    DeviceRange<E> to = tensors.out(0, type).range();
    to.copyFromAsync(tensors.in(0, type).range(), stream);
  }

  private void failed(String who, String reason) throws IOException {
    session.failed(section, problem.name(), who, "us", reason);
  }

  private void report(Turns turns, Ceilings ceilings) throws IOException {
    double[] micros = turns.samples();
    double seconds = Samples.median(micros) * 1e-6;
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("operation", problem.operation());
    details.putAll(problem.parameters());
    details.put("bytes", problem.bytes());
    details.put("flops", problem.flops());
    details.put("ceiling", problem.ceiling());
    details.put("turns", micros.length);
    details.putAll(turns.details);
    Result measured =
        Result.of(new Result.Key(section, problem.name(), turns.who), "us", micros, details);
    Result result =
        session.results().put(session.isEmulated() ? measured : ceilings.judge(problem, measured));
    if (result.failure().isPresent()) {
      System.out.printf(
          "%-40s %-24s not measured: %s%n", problem.name(), turns.who, result.failure().get());
      return;
    }
    System.out.printf(
        "%-40s %-16s %10.1f us  %8.1f GB/s%s%s%n",
        problem.name(),
        turns.who,
        seconds * 1e6,
        problem.bytes() / seconds / 1e9,
        problem.flops() / seconds > 1e12
            ? "  %.0f TFLOP/s".formatted(problem.flops() / seconds / 1e12)
            : "",
        result.isNoisy() ? "  NOISY" : "");
  }
}
