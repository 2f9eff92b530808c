package dev.culebra.benchmarks.calls;

import dev.culebra.benchmarks.session.Section;
import java.util.ArrayList;
import java.util.List;

/** The sections that JMH runs. */
public final class CallSections {
  private static final String GET_CURRENT = "cuCtxGetCurrent";
  private static final String LAUNCH = "launch, 3 arguments";

  private CallSections() {}

  /** What a call costs whose callee does nothing: it needs no driver. */
  public static Section calls() {
    List<JmhCase> cases = new ArrayList<>();
    cases.addAll(JmhCase.of("one pointer", SmallestCall.class));
    cases.addAll(JmhCase.of("eleven arguments", ElevenArguments.class));
    cases.addAll(JmhCase.of("result in memory", OutParameter.class));
    cases.addAll(JmhCase.of("string in", StringArgument.class));
    cases.addAll(JmhCase.of("string out", StringResult.class));
    cases.addAll(JmhCase.of("struct of 64 bytes by value", StructByValue.class));
    cases.addAll(JmhCase.of("call that calls back", Upcall.class));
    return new JmhSection("calls", cases, 2);
  }

  /** What the driver's functions cost: launches, events, memory, copies. */
  public static Section driver() {
    List<JmhCase> cases = new ArrayList<>();
    cases.addAll(JmhCase.of(GET_CURRENT, CurrentContext.class));
    cases.addAll(JmhCase.of(LAUNCH, Launches.class));
    cases.addAll(JmhCase.of("launch and wait", LaunchAndWait.class));
    cases.addAll(JmhCase.of("event record", Events.Mark.class));
    cases.addAll(JmhCase.of("event query", Events.Query.class));
    cases.addAll(JmhCase.of("event open and close", Events.OpenAndClose.class));
    cases.addAll(JmhCase.of("allocate and free, 4 KiB", Allocations.class));
    cases.addAll(JmhCase.of("copy and wait", Copies.class));
    cases.addAll(JmhCase.of("copy back and wait", CopiesBack.class));
    return new JmhSection("driver", cases, 2);
  }

  /** The same calls by several threads at once, platform and virtual ones. */
  public static Section threads() {
    List<JmhCase> cases = new ArrayList<>();
    for (int threads : new int[] {1, 2, 4, 8, 16}) {
      for (String kind : new String[] {"platform", "virtual"}) {
        String[] options =
            kind.equals("virtual")
                ? new String[] {
                  "-Djmh.executor=VIRTUAL",
                  // JMH's threads wait for each other by going on: with fewer carriers, one of them
                  // may never get its turn.
                  "-Djdk.virtualThreadScheduler.parallelism=" + threads
                }
                : new String[0];
        String who = threads + " " + kind + (threads == 1 ? " thread" : " threads");
        cases.add(
            culebra(CurrentContext.class, "culebra").with(GET_CURRENT, who, threads, options));
        cases.add(culebra(Launches.class, "prepared").with(LAUNCH, who, threads, options));
      }
    }
    return new JmhSection("threads", cases, 1);
  }

  /** The same calls under each garbage collector: a call passes its barriers. */
  public static Section collectors() {
    List<JmhCase> cases = new ArrayList<>();
    for (String collector : new String[] {"Serial", "Parallel", "G1", "Z", "Shenandoah"}) {
      String option = "-XX:+Use" + collector + "GC";
      cases.add(culebra(CurrentContext.class, "culebra").with(GET_CURRENT, collector, 1, option));
      cases.add(culebra(Launches.class, "prepared").with(LAUNCH, collector, 1, option));
    }
    return new JmhSection("collectors", cases, 1);
  }

  private static JmhCase culebra(Class<?> type, String method) {
    return JmhCase.of("", type).stream()
        .filter(each -> each.method().endsWith("." + method))
        .findFirst()
        .orElseThrow();
  }
}
