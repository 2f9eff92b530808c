package dev.culebra;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The kernels launched last in a context: the suspects of a fault, which the driver reports later
 * and elsewhere. Threads may overwrite each other's entries; a hint needs no lock and the launch
 * path has no room for one.
 */
final class RecentLaunches {

  private static final int KEPT = 8;

  private final @Nullable String[] kernels = new @Nullable String[KEPT];
  private int next;

  void add(String kernel) {
    int at = next;
    kernels[at & (KEPT - 1)] = kernel;
    next = at + 1;
  }

  boolean isEmpty() {
    return newestFirst().isEmpty();
  }

  List<String> newestFirst() {
    List<String> names = new ArrayList<>();
    int newest = next;
    for (int i = 1; i <= KEPT; i++) {
      String kernel = kernels[(newest - i) & (KEPT - 1)];
      if (kernel != null) {
        names.add(kernel);
      }
    }
    return names;
  }
}
