package dev.culebra.benchmarks.report;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The colour of each contender, the same in every figure: C and the device are grey, torch orange
 * (yellow, where it has a second way), ours get theirs in the order in which they come.
 */
final class Colours {
  private static final int COUNT = 8;
  private final Map<String, String> given = new LinkedHashMap<>();
  private int next;
  private int peers;

  /** The class of a contender. */
  String of(String who) {
    if (who.equals("C") || who.endsWith(" C") || who.equals("device copy")) {
      return "base";
    }
    if (who.startsWith("torch")) {
      return given.computeIfAbsent(who, name -> "peer" + (peers++ % 2 == 0 ? "" : "2"));
    }
    return given.computeIfAbsent(who, name -> "s" + (1 + next++ % COUNT));
  }
}
