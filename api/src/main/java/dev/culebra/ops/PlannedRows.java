package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The kernels of an operation on rows: one launch where a team keeps a row on chip, two where rows
 * are done in pieces. Which of them run is looked up for each new shape, and kept for the last one.
 * Confined to a thread, as prepared launches are.
 */
final class PlannedRows {

  private static final int SPLIT_THREADS = 1;

  /**
   * What the kernels are called, and what they take.
   *
   * @param onChip the family of rows on chip, whose table has the plans
   * @param inPieces the family of pieces, whose table has the pieces
   * @param splitMacro of the rows of that table with the threads of a piece
   * @param first the step of a piece that finds what the second has to know
   * @param second the step that writes the result
   * @param residentRows rows that a team keeps on chip at a time
   * @param numbersPerPiece of the accumulator's type, which the first step writes
   * @param keptAs the type that rows on chip have of elements of a type
   * @param arguments of the kernels on chip, in the order in which they are put
   * @param pieceArguments that those of pieces take behind these
   */
  record Kernels(
      String onChip,
      String inPieces,
      String splitMacro,
      String first,
      String second,
      int residentRows,
      int numbersPerPiece,
      UnaryOperator<ElementType<?>> keptAs,
      List<String> arguments,
      List<String> pieceArguments) {

    Kernels {
      arguments = List.copyOf(arguments);
      pieceArguments = List.copyOf(pieceArguments);
    }

    private String step(String name, ElementType<?> type) {
      return "culebra_" + inPieces + "_" + name + "_" + type.symbol();
    }
  }

  /**
   * What runs for a shape.
   *
   * @param symbol the kernel that reads the rows first
   * @param second the second launch of pieces, or null of rows on chip
   * @param config of either launch
   */
  record Choice(
      ElementType<?> type,
      long rows,
      long length,
      SoftmaxPlan.Wanted wanted,
      String symbol,
      ArgumentList first,
      @Nullable ArgumentList second,
      LaunchConfig config,
      long pieces,
      long pieceLength) {

    private boolean isFor(ElementType<?> other, TensorView.Rows shape, SoftmaxPlan.Wanted plan) {
      return type == other && rows == shape.count() && length == shape.length() && wanted == plan;
    }
  }

  /** Puts all arguments of one step of pieces. */
  interface PieceArguments {
    ArgumentList put(ArgumentList list, DeviceRange<?> scratch);
  }

  private final Context context;
  private final Kernels kernels;
  private final KernelFamily onChip;
  private final KernelFamily inPieces;
  private final Map<String, ArgumentList> prepared = new HashMap<>();
  private final int sharedBytes;
  private @Nullable Choice last;

  PlannedRows(Context context, Kernels kernels) {
    this.context = context;
    this.kernels = kernels;
    this.onChip = new KernelFamily(context, kernels.onChip);
    this.inPieces =
        kernels.inPieces.equals(kernels.onChip)
            ? onChip
            : new KernelFamily(context, kernels.inPieces);
    this.sharedBytes =
        context.device().attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  }

  /**
   * What runs for rows of such a shape, of which there is at least one of at least one element.
   *
   * @throws IllegalArgumentException if the type is not a floating one, or such rows do not fit
   *     where they are wanted
   */
  Choice choice(ElementType<?> type, TensorView.Rows shape, SoftmaxPlan.Wanted wanted) {
    Choice known = last;
    if (known == null || !known.isFor(type, shape, wanted)) {
      known = choose(type, shape.count(), shape.length(), wanted);
      last = known;
    }
    return known;
  }

  /** Enqueues both steps of pieces. */
  void inPieces(Choice choice, PieceArguments arguments, Stream stream) {
    ArgumentList second = choice.second;
    if (second == null) {
      throw new IllegalStateException(choice.symbol + " does not do pieces");
    }
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> scratch = scratch(choice, stream)) {
      arguments.put(choice.first, scratch).launch(choice.config, stream);
      arguments.put(second, scratch).launch(choice.config, stream);
    }
  }

  /** Memory for what the first step of pieces writes; the caller closes it. */
  DeviceBuffer<?> scratch(Choice choice, Stream stream) {
    return context.allocate(
        AccumulatorType.of(choice.type),
        choice.rows * choice.pieces * kernels.numbersPerPiece,
        stream);
  }

  private Choice choose(ElementType<?> type, long rows, long length, SoftmaxPlan.Wanted wanted) {
    AccumulatorType.requireFloating(type);
    ElementType<?> kept = kernels.keptAs.apply(type);
    SoftmaxPlan plan =
        SoftmaxPlan.choose(
            onChip.table(),
            context.device().computeCapability(),
            sharedBytes,
            kernels.residentRows,
            kept,
            rows,
            length,
            wanted);
    if (plan.variant() == SoftmaxPlan.Variant.SPLIT) {
      return pieces(type, rows, length, wanted);
    }
    String symbol = plan.symbol(kernels.onChip, type);
    return new Choice(
        type,
        rows,
        length,
        wanted,
        symbol,
        list(onChip, symbol, kernels.arguments),
        null,
        plan.launch(kept, rows, length),
        1,
        length);
  }

  private Choice pieces(ElementType<?> type, long rows, long length, SoftmaxPlan.Wanted wanted) {
    long pieceLength = RowPieces.pieceLength(inPieces.table(), type, rows, length);
    long pieces = Math.ceilDiv(length, pieceLength);
    int threads = inPieces.table().row(kernels.splitMacro, type.symbol()).number(SPLIT_THREADS);
    List<String> names =
        java.util.stream.Stream.concat(kernels.arguments.stream(), kernels.pieceArguments.stream())
            .toList();
    String first = kernels.step(kernels.first, type);
    int blocks = (int) Math.min(rows * pieces, Integer.MAX_VALUE);
    return new Choice(
        type,
        rows,
        length,
        wanted,
        first,
        list(inPieces, first, names),
        list(inPieces, kernels.step(kernels.second, type), names),
        LaunchConfig.of(blocks, threads),
        pieces,
        pieceLength);
  }

  private ArgumentList list(KernelFamily family, String symbol, List<String> names) {
    return prepared.computeIfAbsent(
        symbol,
        absent -> new ArgumentList(family.prepared(symbol, 1), names.toArray(String[]::new)));
  }
}
