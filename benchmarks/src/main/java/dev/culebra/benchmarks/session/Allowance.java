package dev.culebra.benchmarks.session;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/**
 * The time of a run, shared among its sections by what each needs: the time of one that is done
 * early is shared among those behind it, and one that takes longer is cut, so that no section takes
 * another's place. A run without a limit cuts nothing.
 */
public final class Allowance {
  private static final double NANOS = 1e9;

  private final LongSupplier clock;
  private final Optional<Double> seconds;
  private final ToDoubleFunction<Section> needs;
  private final List<Section> left;
  private final List<String> cut = new ArrayList<>();
  private final long start;
  private String current = "";
  private long end = Long.MAX_VALUE;

  private Allowance(
      Optional<Double> seconds,
      List<Section> sections,
      ToDoubleFunction<Section> needs,
      LongSupplier clock) {
    this.seconds = seconds;
    this.needs = needs;
    this.left = new ArrayList<>(sections);
    this.clock = clock;
    this.start = clock.getAsLong();
  }

  /** All the time that it takes. */
  public static Allowance unlimited() {
    return new Allowance(Optional.empty(), List.of(), section -> 0, System::nanoTime);
  }

  /**
   * A limit, from now on.
   *
   * @param seconds for all sections together
   * @param sections in the order in which they will begin
   * @param needs what each takes: shares are as these, whatever their unit
   */
  public static Allowance of(
      double seconds, List<Section> sections, ToDoubleFunction<Section> needs) {
    return of(seconds, sections, needs, System::nanoTime);
  }

  static Allowance of(
      double seconds, List<Section> sections, ToDoubleFunction<Section> needs, LongSupplier clock) {
    return new Allowance(Optional.of(seconds), sections, needs, clock);
  }

  /** Lets the share of a section begin. */
  public void begin(Section section) {
    current = section.name();
    if (seconds.isEmpty()) {
      return;
    }
    long now = clock.getAsLong();
    double needed = left.stream().mapToDouble(needs).sum();
    left.remove(section);
    double rest = Math.max(0, seconds.get() - (now - start) / NANOS);
    end = now + (long) (rest * needs.applyAsDouble(section) / needed * NANOS);
  }

  /**
   * Whether the section has to stop where it is. To be asked only where something is left to do: a
   * section that is told so has been cut.
   */
  public boolean isUsedUp() {
    if (seconds.isEmpty() || clock.getAsLong() < end) {
      return false;
    }
    if (!cut.contains(current)) {
      cut.add(current);
    }
    return true;
  }

  /** The sections that have been cut, in their order. */
  public List<String> cut() {
    return List.copyOf(cut);
  }
}
