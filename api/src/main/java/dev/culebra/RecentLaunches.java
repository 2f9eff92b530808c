package dev.culebra;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The kernels launched last in a context: the suspects of a fault, which the driver reports later
 * and elsewhere. Threads may overwrite each other's entries; a hint needs no lock and the launch
 * path has no room for one. Kernels are noted by number, because storing a reference costs the
 * garbage collector's barrier, which is a good part of what a launch costs on top of the driver's
 * share.
 */
final class RecentLaunches {

  private static final int KEPT = 8;

  private final List<String> names = new CopyOnWriteArrayList<>();
  // Numbers from 1; 0 is an empty place.
  private final int[] ring = new int[KEPT];
  private int next;

  /** The number by which a kernel is noted from now on; the same for the same name. */
  synchronized int number(String kernel) {
    int known = names.indexOf(kernel);
    if (known >= 0) {
      return known + 1;
    }
    names.add(kernel);
    return names.size();
  }

  void add(int number) {
    int at = next;
    ring[at & (KEPT - 1)] = number;
    next = at + 1;
  }

  boolean isEmpty() {
    return newestFirst().isEmpty();
  }

  List<String> newestFirst() {
    List<String> kernels = new ArrayList<>();
    int newest = next;
    for (int i = 1; i <= KEPT; i++) {
      int number = ring[(newest - i) & (KEPT - 1)];
      if (number != 0) {
        kernels.add(names.get(number - 1));
      }
    }
    return kernels;
  }
}
