package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The kernels of the softmax that keep rows on chip, and those that do them in pieces, with what
 * masks. Confined to a thread, as prepared launches are.
 */
final class MaskedSoftmax {

  /** Of (m, d). */
  static final int STATE_LENGTH = 2;

  /** The input, which becomes the output. */
  private static final int RESIDENT_ROWS = 1;

  private static final List<String> ARGUMENTS =
      List.of(
          "out",
          "in",
          "rows",
          "row_length",
          "out_row_stride",
          "in_row_stride",
          "scale",
          "lengths",
          "mask",
          "mask_inner_rows",
          "mask_inner_stride",
          "mask_middle_rows",
          "mask_middle_stride",
          "mask_outer_stride",
          "log",
          "empty_is_zero");
  private static final List<String> ADDENDS =
      List.of(
          "addends",
          "addends_are_f32",
          "addend_inner_rows",
          "addend_inner_stride",
          "addend_middle_rows",
          "addend_middle_stride",
          "addend_outer_stride");
  private static final List<String> PIECES =
      List.of("states", "pieces", "piece_length", "row_states");

  private static final PlannedRows.Kernels PLAIN =
      kernels(
          "softmax_fused",
          "softmax_split",
          "CULEBRA_SOFTMAX_SPLIT",
          UnaryOperator.identity(),
          ARGUMENTS);

  /** These keep sums, of the type in which they are computed. */
  private static final PlannedRows.Kernels ADDITIVE =
      kernels(
          "softmax_additive",
          "softmax_additive",
          "CULEBRA_SOFTMAX_ADDITIVE_SPLIT",
          AccumulatorType::of,
          both(ARGUMENTS, ADDENDS));

  private static PlannedRows.Kernels kernels(
      String onChip,
      String inPieces,
      String splitMacro,
      UnaryOperator<ElementType<?>> keptAs,
      List<String> arguments) {
    return new PlannedRows.Kernels(
        onChip,
        inPieces,
        splitMacro,
        "states",
        "finish",
        RESIDENT_ROWS,
        STATE_LENGTH,
        keptAs,
        arguments,
        PIECES);
  }

  private static List<String> both(List<String> some, List<String> more) {
    List<String> all = new ArrayList<>(some);
    all.addAll(more);
    return all;
  }

  /** What is asked of one softmax, beside memory and shape. */
  record Options(double scale, boolean log, boolean emptyIsZero, SoftmaxPlan.Wanted wanted) {}

  /** A mask, and how its parts are walked for such an input. */
  record Masking(RowMask mask, RowMask.Walk elements, RowMask.Walk addends) {

    private static final Masking NONE =
        new Masking(RowMask.NONE, RowMask.Walk.NONE, RowMask.Walk.NONE);

    /** Checks that it masks such a tensor. */
    static Masking of(RowMask mask, TensorView<?> in) {
      return mask == RowMask.NONE
          ? NONE
          : new Masking(mask, mask.elementWalk(in), mask.addendWalk(in));
    }
  }

  private final Context context;
  private final PlannedRows plain;

  // Made when it is first wanted.
  private @Nullable PlannedRows additive;

  MaskedSoftmax(Context context) {
    this.context = context;
    this.plain = new PlannedRows(context, PLAIN);
  }

  private PlannedRows rows(boolean adds) {
    if (!adds) {
      return plain;
    }
    PlannedRows known = additive;
    if (known == null) {
      known = new PlannedRows(context, ADDITIVE);
      additive = known;
    }
    return known;
  }

  /** The kernel that reads the rows of such a shape first. */
  String kernelName(
      ElementType<?> type, long rows, long length, SoftmaxPlan.Wanted wanted, boolean adds) {
    return rows(adds).choice(type, new TensorView.Rows(rows, length, length), wanted).symbol();
  }

  /** Enqueues one softmax; what the views are has been checked, and there are elements. */
  void launch(
      TensorView<?> in, TensorView<?> out, Masking masking, Options options, Stream stream) {
    PlannedRows rows = rows(masking.mask.hasAddends());
    PlannedRows.Choice choice = rows.choice(in.type(), in.rows(), options.wanted);
    if (choice.second() == null) {
      put(choice.first(), in, out, masking, options).launch(choice.config(), stream);
    } else {
      rows.inPieces(
          choice,
          (list, states) ->
              putPieces(put(list, in, out, masking, options), states, choice, choice.pieces()),
          stream);
    }
  }

  /**
   * Enqueues the first step of pieces, and a merge: one state a row.
   *
   * @param out a state for each row, side by side
   */
  void states(
      TensorView<?> in,
      Masking masking,
      Options options,
      DeviceRange<?> out,
      StateMerge merge,
      Stream stream) {
    PlannedRows rows = rows(masking.mask.hasAddends());
    PlannedRows.Choice choice = rows.choice(in.type(), in.rows(), SoftmaxPlan.Wanted.SPLIT);
    // The first step writes no result; the parameter wants some memory.
    ArgumentList first = put(choice.first(), in, in, masking, options);
    if (choice.pieces() == 1) {
      putPieces(first, out, choice, 1).launch(choice.config(), stream);
      return;
    }
    try (DeviceBuffer<?> all = rows.scratch(choice, stream)) {
      putPieces(first, all, choice, choice.pieces()).launch(choice.config(), stream);
      merge.launch(
          all,
          new StateMerge.Shape(choice.rows(), choice.pieces(), choice.pieces(), 1),
          // Sums have the scale in them.
          masking.mask.hasAddends() ? 1 : options.scale,
          out,
          stream);
    }
  }

  /**
   * Enqueues the second step of pieces.
   *
   * @param states a state for each row, side by side
   */
  void finish(
      TensorView<?> in,
      TensorView<?> out,
      Masking masking,
      Options options,
      DeviceRange<?> states,
      Stream stream) {
    PlannedRows.Choice choice =
        rows(masking.mask.hasAddends()).choice(in.type(), in.rows(), SoftmaxPlan.Wanted.SPLIT);
    ArgumentList second = choice.second();
    if (second == null) {
      throw new IllegalStateException(choice.symbol() + " does not do pieces");
    }
    putPieces(put(second, in, out, masking, options), states, choice, 1)
        .launch(choice.config(), stream);
  }

  private static ArgumentList put(
      ArgumentList list, TensorView<?> in, TensorView<?> out, Masking masking, Options options) {
    RowMask mask = masking.mask;
    TensorView.Rows from = in.rows();
    list.begin()
        .put(out.range())
        .put(in.range())
        .put(from.count())
        .put(from.length())
        .put(out.rows().stride())
        .put(from.stride())
        .put(options.scale);
    list.putOrNull(mask.lengths()).putOrNull(mask.bytes());
    putWalk(list, masking.elements).put(options.log ? 1 : 0).put(options.emptyIsZero ? 1 : 0);
    DeviceRange<?> addends = mask.addends();
    if (addends != null) {
      list.put(addends).put(addends.type() == ElementType.F32 ? 1 : 0);
      putWalk(list, masking.addends);
    }
    return list;
  }

  private static ArgumentList putPieces(
      ArgumentList list, DeviceRange<?> states, PlannedRows.Choice choice, long rowStates) {
    return list.put(states).put(choice.pieces()).put(choice.pieceLength()).put(rowStates);
  }

  private static ArgumentList putWalk(ArgumentList list, RowMask.Walk walk) {
    return list.put(walk.innerRows())
        .put(walk.innerStride())
        .put(walk.middleRows())
        .put(walk.middleStride())
        .put(walk.outerStride());
  }
}
