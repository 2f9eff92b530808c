package dev.culebra.benchmarks.kernels;

import dev.culebra.KernelCatalog;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A row of a launch table, as the kernels include it.
 *
 * @param family whose table it is
 * @param macro what it is a call of
 * @param arguments but the last, which is the reason for them
 */
record TableRow(String family, String macro, List<String> arguments) {
  /** The families that have a table and are shipped. */
  static final List<String> FAMILIES =
      List.of(
          "softmax",
          "softmax_fused",
          "softmax_split",
          "softmax_additive",
          "softmax_backward",
          "topk",
          "sampling",
          "reduce",
          "reduce_columns",
          "reduce_segments");

  /** The macro whose rows say which kernel runs. */
  static final String PLAN = "CULEBRA_SOFTMAX_PLAN";

  /** Of a plan, what it is for: the architecture of this name is the one that is measured. */
  private static final String HOPPER = "90";

  private static final Pattern CALL = Pattern.compile("(CULEBRA_\\w+)\\((.*), \"[^\"]*\"\\)");

  /** Every row of a family, in their order. */
  static List<TableRow> all(KernelCatalog catalog, String family) {
    return catalog.launchTable(family).stream()
        .map(CALL::matcher)
        .filter(Matcher::matches)
        .map(call -> new TableRow(family, call.group(1), List.of(call.group(2).split(", ", -1))))
        .toList();
  }

  /**
   * The rows that something runs by on Hopper: without plans for others, and without kernels that
   * only those name.
   */
  static List<TableRow> of(KernelCatalog catalog, String family) {
    List<TableRow> all = all(catalog, family);
    List<TableRow> plans = all.stream().filter(row -> row.macro.equals(PLAN)).toList();
    return all.stream()
        .filter(
            row ->
                row.macro.equals(PLAN)
                    ? row.isHopper()
                    : plans.stream().noneMatch(row::isNamedBy)
                        || plans.stream().filter(TableRow::isHopper).anyMatch(row::isNamedBy))
        .toList();
  }

  private boolean isHopper() {
    return word(0).equals(HOPPER);
  }

  /** Whether it is a kernel, of this variant and type, that a plan says to run. */
  private boolean isNamedBy(TableRow plan) {
    return arguments.size() > 1 && word(0).equals(plan.word(4)) && word(1).equals(plan.word(1));
  }

  String word(int argument) {
    return arguments.get(argument);
  }

  long number(int argument) {
    return Long.parseLong(word(argument));
  }

  /** Whether it is a call of a macro that begins with these arguments. */
  boolean is(String name, String... first) {
    return macro.equals(name)
        && arguments.size() >= first.length
        && arguments.subList(0, first.length).equals(List.of(first));
  }

  @Override
  public String toString() {
    return macro + "(" + String.join(", ", arguments) + ")";
  }
}
