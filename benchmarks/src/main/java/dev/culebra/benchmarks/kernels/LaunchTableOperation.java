package dev.culebra.benchmarks.kernels;

import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.ops.Reduction.Op;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Every row of every launch table at a shape inside it, so that none stands there unmeasured. A
 * plan for many rows is measured at both of its ends: where the rate jumps from the end of one plan
 * to the begin of the next, the border between them is in the wrong place.
 */
final class LaunchTableOperation implements Operation {
  private static final List<ElementType<?>> TYPES =
      List.of(
          ElementType.F32,
          ElementType.F16,
          ElementType.BF16,
          ElementType.F64,
          ElementType.I32,
          ElementType.I64);

  /** Of an input: far beyond a launch, and such that all tables together take about a minute. */
  private static final long BYTES = 64L << 20;

  private static final long TINY_BYTES = 1 << 14;

  /** In tiny sizes, plans for longer rows are left out. */
  private static final long TINY_LENGTH = 512;

  /** More rows than any plan for few of them takes. */
  private static final long MANY_ROWS = 64;

  /** Beyond what any cluster holds. */
  private static final long LONG_ROW = 1 << 20;

  /** As few rows as the shortest pieces of long rows are for. */
  private static final long FEW_ROWS = 8;

  private static final long PACK_BYTES = 16;

  private static final String SPLIT = "split";

  @Override
  public List<Problem> problems(Extent extent) {
    KernelCatalog catalog = KernelCatalog.open();
    List<Problem> problems = new ArrayList<>();
    for (String family : TableRow.FAMILIES) {
      Family table = new Family(TableRow.of(catalog, family), extent == Extent.TINY);
      table.addAll(family);
      table.shown.values().forEach(each -> problems.add(each.of(family)));
    }
    return problems;
  }

  /** A problem, and the rows that it shows. */
  private record Shown(Problem problem, Set<String> rows) {
    Problem of(String family) {
      return problem.ofTable(family, List.copyOf(rows));
    }
  }

  /** What makes a problem of a type, rows and their length. */
  @FunctionalInterface
  private interface OfShape {
    Problem of(ElementType<?> type, long rows, long length);
  }

  /** The rows of one table, and the problems that show them. */
  private static final class Family {
    private final List<TableRow> table;
    private final boolean tiny;
    private final Map<String, Shown> shown = new LinkedHashMap<>();

    Family(List<TableRow> table, boolean tiny) {
      this.table = table;
      this.tiny = tiny;
    }

    void addAll(String name) {
      OfShape softmax =
          (type, rows, length) ->
              SoftmaxProblem.of(type, rows, length, false).only(SoftmaxProblem.AUTO);
      OfShape additive =
          (type, rows, length) ->
              MaskedSoftmaxProblem.of(type, rows, length, MaskedSoftmaxProblem.Mask.ADDENDS);
      OfShape backward =
          (type, rows, length) -> SoftmaxBackwardProblem.of(type, rows, length, false);
      switch (name) {
        case "softmax" -> ladder();
        case "softmax_fused" -> plans("CULEBRA_SOFTMAX_FUSED", softmax);
        case "softmax_split" -> {
          pieces("CULEBRA_SOFTMAX_SPLIT", softmax);
          merges();
        }
        case "softmax_additive" -> {
          plans("CULEBRA_SOFTMAX_ADDITIVE", additive);
          sixteenBits("CULEBRA_SOFTMAX_ADDITIVE", additive);
          pieces("CULEBRA_SOFTMAX_ADDITIVE_SPLIT", additive);
        }
        case "softmax_backward" -> {
          plans("CULEBRA_SOFTMAX_BACKWARD", backward);
          pieces("CULEBRA_SOFTMAX_BACKWARD_SPLIT", backward);
        }
        case "topk" -> topK();
        case "sampling" -> sampling();
        case "reduce" -> reductions();
        case "reduce_columns" -> columns();
        case "reduce_segments" -> segments();
        default -> throw new IllegalArgumentException("no shapes for the table of " + name);
      }
    }

    private void add(Problem problem, TableRow row, List<String> others) {
      String key = problem.name() + " " + problem.implementations().getFirst().who();
      Set<String> rows =
          shown.computeIfAbsent(key, _ -> new Shown(problem, new LinkedHashSet<>())).rows;
      rows.add(row.toString());
      rows.addAll(others);
    }

    private List<TableRow> rows(String macro, String... first) {
      return table.stream().filter(row -> row.is(macro, first)).toList();
    }

    private List<String> words(String macro, String... first) {
      return rows(macro, first).stream().map(TableRow::toString).toList();
    }

    private static ElementType<?> type(String symbol) {
      return TYPES.stream().filter(type -> type.symbol().equals(symbol)).findFirst().orElseThrow();
    }

    /** So many rows that an input is large, but never so few that a plan for few of them runs. */
    private long many(ElementType<?> type, long length) {
      return Math.max(MANY_ROWS, bytes() / (length * type.byteSize()));
    }

    private long bytes() {
      return tiny ? TINY_BYTES : BYTES;
    }

    private void ladder() {
      for (TableRow row : rows("CULEBRA_SOFTMAX")) {
        ElementType<?> type = type(row.word(1));
        long length = tiny ? 100 : 8192;
        add(
            SoftmaxProblem.of(type, many(type, length), length, false)
                .only("Culebra " + row.word(0)),
            row,
            List.of());
      }
    }

    /**
     * Every plan.
     *
     * @param kernels the macro of the kernels that plans name
     */
    private void plans(String kernels, OfShape problem) {
      for (TableRow row : rows(TableRow.PLAN)) {
        ElementType<?> type = type(row.word(1));
        long most = row.number(2);
        boolean split = row.word(4).equals(SPLIT);
        long length = split ? LONG_ROW : row.number(3);
        if (tiny && length > TINY_LENGTH) {
          continue;
        }
        List<String> others = words(kernels, row.word(4), type.symbol());
        add(problem.of(type, most > 0 ? most : many(type, length), length), row, others);
        if (most == 0 && !split) {
          begin(row, type)
              .ifPresent(begin -> add(problem.of(type, many(type, begin), begin), row, others));
        }
      }
    }

    /** The shortest rows of a plan for many rows, behind those of the plan before it. */
    private Optional<Long> begin(TableRow plan, ElementType<?> type) {
      return rows(TableRow.PLAN, plan.word(0), plan.word(1), "0").stream()
          .map(row -> row.number(3))
          .filter(longest -> longest < plan.number(3))
          .max(Long::compare)
          .map(longest -> longest + PACK_BYTES / type.byteSize());
    }

    /** Kernels of 16-bit types whose plans are those of F32, which is what they keep on chip. */
    private void sixteenBits(String kernels, OfShape problem) {
      for (ElementType<?> type : List.of(ElementType.F16, ElementType.BF16)) {
        for (TableRow plan : rows(TableRow.PLAN, "90", "f32", "0")) {
          long length = plan.number(3);
          if (plan.word(4).equals(SPLIT) || (tiny && length > TINY_LENGTH)) {
            continue;
          }
          List<String> others = words(kernels, plan.word(4), type.symbol());
          add(problem.of(type, many(type, length), length), plan, others);
        }
      }
    }

    /**
     * Rows in pieces: as few bytes as the short pieces are for, and more.
     *
     * @param kernels the macro of the kernels
     */
    private void pieces(String kernels, OfShape problem) {
      if (tiny) {
        return;
      }
      for (TableRow row : rows("CULEBRA_SOFTMAX_PIECES")) {
        ElementType<?> type = type(row.word(0));
        long most = row.number(1);
        Problem inPieces =
            most > 0
                ? problem.of(type, FEW_ROWS, most / (FEW_ROWS * type.byteSize()))
                : problem.of(type, MANY_ROWS, LONG_ROW);
        add(inPieces, row, words(kernels, type.symbol()));
      }
    }

    /** States of so few pieces a row that the lanes of a warp merge them, and of more. */
    private void merges() {
      if (tiny) {
        return;
      }
      for (TableRow row : rows("CULEBRA_SOFTMAX_MERGE")) {
        ElementType<?> type = type(row.word(1));
        long pieceBytes = rows("CULEBRA_SOFTMAX_PIECES", type.symbol(), "0").getFirst().number(2);
        long pieces = row.word(0).equals("lanes") ? 32 : 64;
        add(
            StatesProblem.of(type, MANY_ROWS, pieces * pieceBytes / type.byteSize()),
            row,
            List.of());
      }
    }

    private void topK() {
      for (TableRow row : rows("CULEBRA_TOPK")) {
        ElementType<?> type = type(row.word(1));
        long length = tiny ? 1000 : 16384;
        int k = row.word(0).equals("small") ? 5 : 128;
        add(
            TopKProblem.of(type, many(type, length), length, k).only(TopKProblem.FUSED),
            row,
            List.of());
      }
      for (TableRow row : rows("CULEBRA_TOPK_PIECES")) {
        long length = tiny ? 5000 : 131072;
        add(TopKProblem.of(ElementType.F32, 10, length, 5).only(TopKProblem.FUSED), row, List.of());
      }
    }

    private void sampling() {
      for (TableRow row : rows("CULEBRA_SAMPLING")) {
        add(
            SamplingProblem.of(type(row.word(0)), tiny ? 3 : 64, tiny ? 300 : 131072, 0, 1),
            row,
            List.of());
      }
      for (TableRow row : rows("CULEBRA_SAMPLING_PLAN")) {
        long most = row.number(0);
        long least = row.number(1);
        if (!tiny || least <= TINY_LENGTH) {
          long length = tiny ? 300 : Math.max(2 * least, 32768);
          add(
              SamplingProblem.of(ElementType.F32, most > 0 ? most : tiny ? 70 : 256, length, 0, 1),
              row,
              List.of());
        }
      }
    }

    private static Op op(TableRow row) {
      return Op.valueOf(row.word(0).toUpperCase(Locale.ROOT));
    }

    /**
     * The row of the kernel that merges the states of an operation: in the type of the input, or a
     * wider one.
     */
    private Optional<TableRow> merge(String macro, TableRow of) {
      boolean integers = of.word(1).startsWith("i");
      return Stream.of(of.word(1), integers ? "i64" : "f32", integers ? "i64" : "f64")
          .flatMap(type -> rows(macro, of.word(0), type).stream())
          .findFirst();
    }

    private void reductions() {
      for (TableRow row : rows("CULEBRA_REDUCE")) {
        ElementType<?> type = type(row.word(1));
        long length = tiny ? 30 : 16384;
        add(ReductionProblem.ofRows(op(row), type, many(type, length), length), row, List.of());
        if (tiny && type != ElementType.F32) {
          continue;
        }
        // So few rows that they are cut into pieces.
        long fewer = tiny ? 3 : MANY_ROWS;
        long longer = tiny ? 40_000 : bytes() / (fewer * type.byteSize());
        List<String> others = new ArrayList<>();
        others.addAll(words("CULEBRA_REDUCE_STATES", row.word(0), row.word(1)));
        merge("CULEBRA_REDUCE_MERGE", row).ifPresent(merge -> others.add(merge.toString()));
        others.addAll(words("CULEBRA_REDUCE_FEW_ROWS"));
        add(ReductionProblem.ofRows(op(row), type, fewer, longer), row, others);
      }
    }

    private void columns() {
      for (TableRow row : rows("CULEBRA_REDUCE_COLUMNS")) {
        ElementType<?> type = type(row.word(1));
        long columns = tiny ? 37 : 4096;
        add(
            ReductionProblem.ofColumns(
                op(row), type, bytes() / (columns * type.byteSize()), columns),
            row,
            List.of());
      }
    }

    private void segments() {
      Set<TableRow> merged = new LinkedHashSet<>();
      for (TableRow row : rows("CULEBRA_REDUCE_SEGMENTS")) {
        ElementType<?> type = type(row.word(1));
        long average = tiny ? 50 : 1000;
        add(
            ReductionProblem.ofSegments(
                op(row), type, bytes() / (average * type.byteSize()), average),
            row,
            List.of());
        // Too long for the lanes of a warp: one for each kernel that merges.
        Optional<TableRow> merge = merge("CULEBRA_REDUCE_SEGMENTS_MERGE", row);
        if (merge.isPresent() && merged.add(merge.get()) && (!tiny || type == ElementType.F32)) {
          long longer = tiny ? 40_000 : 200_000;
          long count = tiny ? 3 : bytes() / (longer * type.byteSize());
          add(
              ReductionProblem.ofSegments(op(row), type, count, longer),
              row,
              List.of(merge.get().toString()));
        }
      }
    }
  }
}
