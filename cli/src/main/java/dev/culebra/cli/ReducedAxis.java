package dev.culebra.cli;

import picocli.CommandLine.TypeConversionException;

/**
 * What a reduction takes away: one axis, or all.
 *
 * @param all whether all axes go
 * @param axis otherwise the axis; a negative one counts from the last
 */
record ReducedAxis(boolean all, int axis) {

  /** Reads {@code last}, {@code first}, {@code all} or a number. */
  static ReducedAxis parse(String text) {
    return switch (text) {
      case "last" -> new ReducedAxis(false, -1);
      case "first" -> new ReducedAxis(false, 0);
      case "all" -> new ReducedAxis(true, 0);
      default -> new ReducedAxis(false, number(text));
    };
  }

  private static int number(String text) {
    try {
      return Integer.parseInt(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException(
          "'" + text + "' is not last, first, all or the number of an axis");
    }
  }

  /** Whether a tensor of that rank has the axis. */
  boolean isOf(int rank) {
    return all || (axis >= -rank && axis < rank);
  }

  /** The axis from 0. */
  int of(int rank) {
    return axis < 0 ? axis + rank : axis;
  }
}
