package dev.culebra.ops;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.U8;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceTier;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class SoftmaxStatesTest extends DeviceTier {

  private static final int ROWS = 3;
  private static final int LENGTH = 700;
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final List<ElementType<?>> TYPES = List.of(ElementType.F16, BF16, F32, F64);

  /** Where a row is cut: from 0 to LENGTH, rising; pieces may be empty. */
  private static int[] cuts(long seed, int pieces) {
    int[] inner = new Random(seed).ints(pieces - 1, 0, LENGTH + 1).sorted().toArray();
    int[] cuts = new int[pieces + 1];
    System.arraycopy(inner, 0, cuts, 1, inner.length);
    cuts[pieces] = LENGTH;
    return cuts;
  }

  /** A whole softmax of rows that are cut, in place; masks are those of the pieces. */
  private <E extends ElementType<E>> double[] inPieces(
      SoftmaxStates softmax,
      ElementType<E> type,
      double[] rows,
      int[] cuts,
      IntFunction<RowMask> masks) {
    ElementType<?> number = SoftmaxStates.stateType(type);
    int pieces = cuts.length - 1;
    try (DeviceBuffer<E> memory = context.allocate(type, rows.length, stream);
        DeviceBuffer<?> states = context.allocate(number, (pieces + 1L) * 2 * ROWS, stream)) {
      Tensors.write(memory, rows);
      TensorView<E> tensor = TensorView.of(memory, ROWS, LENGTH);
      for (int piece = 0; piece < pieces; piece++) {
        softmax.states(
            tensor.slice(1, cuts[piece], cuts[piece + 1]),
            masks.apply(piece),
            stateOf(states, piece),
            stream);
      }
      merge(softmax, states, pieces);
      for (int piece = 0; piece < pieces; piece++) {
        TensorView<E> part = tensor.slice(1, cuts[piece], cuts[piece + 1]);
        softmax.finish(part, masks.apply(piece), stateOf(states, pieces), part, stream);
      }
      return Tensors.read(memory);
    }
  }

  private <E extends ElementType<E>> double[] inPieces(
      SoftmaxStates softmax, ElementType<E> type, double[] rows, int... cuts) {
    return inPieces(softmax, type, rows, cuts, piece -> RowMask.NONE);
  }

  /** Behind those of the pieces stands what they come to. */
  private <A extends ElementType<A>> void merge(
      SoftmaxStates softmax, DeviceBuffer<A> states, int pieces) {
    softmax.merge(TensorView.of(states, pieces, ROWS, 2), stateOf(states, pieces), stream);
  }

  private static <A extends ElementType<A>> TensorView<A> stateOf(
      DeviceBuffer<A> states, int piece) {
    return TensorView.of(states.view(piece * 2L * ROWS, (piece + 1L) * 2 * ROWS), ROWS, 2);
  }

  private static void judge(ElementType<?> type, double[] truth, double[] easy, double[] actual) {
    if (type == F64) {
      Judgement.assertClose(truth, actual, 1e-13, 1e-13);
    } else if (type == F32) {
      Judgement.assertClose(truth, actual, 4e-6, 2e-5);
    } else {
      Judgement.assertAsGoodAsStraightforward(Tensors.storage(type), truth, easy, actual);
    }
  }

  @ParameterizedTest
  @EnumSource(HardInput.class)
  @DisplayName("any cut gives the softmax of the whole")
  void anyCut(HardInput input) {
    SoftmaxStates plain = SoftmaxStates.of(context);
    for (ElementType<?> type : TYPES) {
      StorageType storage = Tensors.storage(type);
      double[] rows = input.rows(ROWS, LENGTH, storage, 11);
      for (boolean log : new boolean[] {false, true}) {
        double scale = log ? -0.5 : 1;
        SoftmaxStates softmax = plain.withLog(log).withScale(scale);
        double[] truth = SoftmaxReference.rows(rows, LENGTH, scale, log);
        double[] easy = SoftmaxReference.rows(rows, LENGTH, scale, log, storage);
        for (int pieces : new int[] {2, 5, 36}) {
          judge(type, truth, easy, inPieces(softmax, type, rows, cuts(pieces, pieces)));
        }
      }
    }
  }

  @Test
  @DisplayName("rows in one piece have the bits of SPLIT, and pieces repeat to the bit")
  void bits() {
    for (ElementType<?> type : TYPES) {
      double[] rows = HardInput.NORMAL.rows(ROWS, LENGTH, Tensors.storage(type), 12);
      assertArrayEquals(
          split(type, rows), inPieces(SoftmaxStates.of(context), type, rows, 0, LENGTH));
      int[] cuts = cuts(3, 6);
      double[] once = inPieces(SoftmaxStates.of(context), type, rows, cuts);
      assertArrayEquals(once, inPieces(SoftmaxStates.of(context), type, rows, cuts));
    }
  }

  private <E extends ElementType<E>> double[] split(ElementType<E> type, double[] rows) {
    try (DeviceBuffer<E> memory = context.allocate(type, rows.length, stream)) {
      Tensors.write(memory, rows);
      TensorView<E> tensor = TensorView.of(memory, ROWS, LENGTH);
      Softmax.of(context, Softmax.Algorithm.SPLIT).forward(tensor, tensor, stream);
      return Tensors.read(memory);
    }
  }

  @Test
  @DisplayName("one piece of a long row, whose own pieces are merged, has the bits of SPLIT")
  void bitsOfALongRow() {
    int length = 300_001; // 74 pieces of 16 KiB
    double[] row = HardInput.NORMAL.rows(1, length, StorageType.F32, 13);
    SoftmaxStates softmax = SoftmaxStates.of(context);
    try (DeviceBuffer<ElementType.F32> memory = context.allocate(F32, length, stream);
        DeviceBuffer<ElementType.F32> wanted = context.allocate(F32, length, stream);
        DeviceBuffer<ElementType.F32> state = context.allocate(F32, 2, stream)) {
      Tensors.write(memory, row);
      TensorView<ElementType.F32> in = TensorView.of(memory, 1, length);
      Softmax.of(context, Softmax.Algorithm.SPLIT)
          .forward(in, TensorView.of(wanted, 1, length), stream);
      TensorView<ElementType.F32> whole = TensorView.of(state, 1, 2);
      softmax.states(in, whole, stream);
      softmax.finish(in, whole, in, stream);
      assertArrayEquals(Tensors.read(wanted), Tensors.read(memory));
    }
  }

  /** Reads states of random pieces from the device, with what the host makes of the elements. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  @DisplayName("the merge is that of the host: any order and grouping, commutative to the bit")
  void mergeOnTheHost(long seed) {
    Random random = new Random(seed);
    double scale = seed % 2 == 0 ? 1 : -0.25;
    SoftmaxStates softmax = SoftmaxStates.of(context).withScale(scale);
    HardInput input = seed % 3 == 0 ? HardInput.SOME_NEGATIVE_INFINITY : HardInput.NORMAL;
    double[] rows = input.rows(ROWS, LENGTH, StorageType.F32, seed);
    if (scale < 0) {
      for (int i = 0; i < rows.length; i++) {
        rows[i] = -rows[i]; // so that -inf weighs nothing
      }
    }
    int pieces = 2 + random.nextInt(50);
    int[] cuts = cuts(seed, pieces);
    try (DeviceBuffer<ElementType.F32> memory = context.allocate(F32, rows.length, stream);
        DeviceBuffer<ElementType.F32> states =
            context.allocate(F32, (pieces + 1L) * 2 * ROWS, stream)) {
      Tensors.write(memory, rows);
      TensorView<ElementType.F32> tensor = TensorView.of(memory, ROWS, LENGTH);
      for (int piece = 0; piece < pieces; piece++) {
        softmax.states(
            tensor.slice(1, cuts[piece], cuts[piece + 1]), stateOf(states, piece), stream);
      }
      merge(softmax, states, pieces);
      MemorySegment host = MemorySegment.ofArray(new float[(pieces + 1) * 2 * ROWS]);
      states.copyTo(host);
      for (int row = 0; row < ROWS; row++) {
        OnlineState whole = OnlineState.EMPTY;
        for (int i = 0; i < LENGTH; i++) {
          double x = rows[row * LENGTH + i] * Math.signum(scale);
          whole = whole.merge(OnlineState.of(x), softmax.stateScale());
        }
        OnlineState merged = OnlineState.EMPTY;
        for (int piece = pieces - 1; piece >= 0; piece--) {
          OnlineState part = OnlineState.read(host, F32, (long) piece * ROWS + row);
          if (cuts[piece] == cuts[piece + 1]) {
            assertEquals(OnlineState.EMPTY, part);
          }
          merged = merged.merge(part, softmax.stateScale());
        }
        OnlineState onDevice = OnlineState.read(host, F32, (long) pieces * ROWS + row);
        for (OnlineState state : new OnlineState[] {merged, onDevice}) {
          assertEquals(whole.m(), state.m());
          assertEquals(whole.d(), state.d(), 1e-5 * whole.d());
        }
      }
      // Two in either order.
      byte[] inOrder = merged(softmax, host, 0, 1);
      assertArrayEquals(inOrder, merged(softmax, host, 1, 0));
    }
  }

  /** The bytes of two pieces' merge on the device. */
  private byte[] merged(SoftmaxStates softmax, MemorySegment states, int one, int other) {
    long bytes = 2L * ROWS * Float.BYTES;
    try (DeviceBuffer<ElementType.F32> both = context.allocate(F32, 3L * 2 * ROWS, stream)) {
      both.view(0, 2 * ROWS).copyFrom(states.asSlice(one * bytes, bytes));
      both.view(2 * ROWS, 4 * ROWS).copyFrom(states.asSlice(other * bytes, bytes));
      merge(softmax, both, 2);
      byte[] result = new byte[Math.toIntExact(bytes)];
      both.view(4 * ROWS, 6 * ROWS).copyTo(MemorySegment.ofArray(result));
      return result;
    }
  }

  @Test
  @DisplayName("states that the host merged and wrote finish the rows")
  void writtenByTheHost() {
    double[] rows = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.BF16, 14);
    SoftmaxStates softmax = SoftmaxStates.of(context);
    try (DeviceBuffer<ElementType.BF16> memory = context.allocate(BF16, rows.length, stream);
        DeviceBuffer<ElementType.F32> states = context.allocate(F32, 2 * ROWS, stream)) {
      Tensors.write(memory, rows);
      MemorySegment host = MemorySegment.ofArray(new float[2 * ROWS]);
      for (int row = 0; row < ROWS; row++) {
        OnlineState state = OnlineState.EMPTY;
        for (int i = 0; i < LENGTH; i++) {
          state = state.merge(OnlineState.of(rows[row * LENGTH + i]));
        }
        state.write(host, F32, row);
      }
      states.copyFrom(host);
      TensorView<ElementType.BF16> tensor = TensorView.of(memory, ROWS, LENGTH);
      softmax.finish(tensor, TensorView.of(states, ROWS, 2), tensor, stream);
      judge(
          BF16,
          SoftmaxReference.rows(rows, LENGTH, 1, false),
          SoftmaxReference.rows(rows, LENGTH, 1, false, StorageType.BF16),
          Tensors.read(memory));
    }
  }

  @Test
  @DisplayName("a state is bytes: m and d, and what has no place in the type is refused")
  void stateBytes() {
    MemorySegment bytes = MemorySegment.ofArray(new byte[33]).asSlice(1);
    OnlineState state = new OnlineState(-2.5, 17);
    for (ElementType<?> type : new ElementType<?>[] {F32, F64}) {
      state.write(bytes, type, 1);
      assertEquals(state, OnlineState.read(bytes, type, 1));
      OnlineState.EMPTY.write(bytes, type, 0);
      assertEquals(OnlineState.EMPTY, OnlineState.read(bytes, type, 0));
      OnlineState.of(Double.NaN).write(bytes, type, 0);
      assertTrue(Double.isNaN(OnlineState.read(bytes, type, 0).d()));
      assertThrows(IndexOutOfBoundsException.class, () -> OnlineState.read(bytes, type, 4));
    }
    assertTells(
        assertThrows(
            IllegalArgumentException.class, () -> new OnlineState(0.1, 1).write(bytes, F32, 0)),
        "0.1",
        "F32");
    assertThrows(IllegalArgumentException.class, () -> OnlineState.read(bytes, BF16, 0));
    assertThrows(IllegalArgumentException.class, () -> state.merge(state, -1));
    assertThrows(IllegalArgumentException.class, () -> state.merge(state, Double.NaN));
  }

  @Test
  @DisplayName("NaN in one piece makes the row NaN in all; rows of nothing are empty")
  void nanAndNothing() {
    double[] rows = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 15);
    rows[LENGTH + 600] = Double.NaN;
    Arrays.fill(rows, 2 * LENGTH, 3 * LENGTH, -INF);
    int[] cuts = {0, 0, 100, 350, 699, LENGTH};
    judge(
        F32,
        SoftmaxReference.rows(rows, LENGTH, 1, false),
        rows,
        inPieces(SoftmaxStates.of(context), F32, rows, cuts));
    double[] zeros =
        inPieces(SoftmaxStates.of(context).withZeroForEmptyRows(true), F32, rows, cuts);
    assertArrayEquals(new double[LENGTH], Arrays.copyOfRange(zeros, 2 * LENGTH, 3 * LENGTH));
    assertTrue(Double.isNaN(zeros[LENGTH]));
  }

  @Test
  @DisplayName("pieces have masks of their own: lengths, bytes and addends")
  void masks() {
    int half = LENGTH / 2;
    double[] rows = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 16);
    double[] addends = HardInput.NORMAL.rows(1, LENGTH, StorageType.F32, 17);
    byte[] counts = new byte[LENGTH];
    double[] sums = rows.clone();
    for (int i = 0; i < LENGTH; i++) {
      counts[i] = (byte) (i % 7);
      addends[i] = i % 11 == 0 ? -INF : addends[i];
      for (int row = 0; row < ROWS; row++) {
        boolean in = counts[i] != 0 && (i < half || i - half < 50 * row);
        sums[row * LENGTH + i] = in ? 2 * rows[row * LENGTH + i] + addends[i] : -INF;
      }
    }
    try (DeviceBuffer<ElementType.F32> added = context.allocate(F32, LENGTH, stream);
        DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, LENGTH, stream);
        DeviceBuffer<ElementType.I32> lengths = context.allocate(I32, ROWS, stream)) {
      Tensors.write(added, addends);
      bytes.copyFrom(counts);
      lengths.copyFrom(new int[] {0, 50, 100});
      RowMask first =
          RowMask.ofAddends(TensorView.of(added.view(0, half), half))
              .withElements(TensorView.of(bytes.view(0, half), half));
      RowMask second =
          RowMask.ofAddends(TensorView.of(added.view(half, LENGTH), LENGTH - half))
              .withElements(TensorView.of(bytes.view(half, LENGTH), LENGTH - half))
              .withLengths(lengths);
      SoftmaxStates softmax = SoftmaxStates.of(context).withScale(2).withAddends(true);
      assertEquals(1, softmax.stateScale());
      judge(
          F32,
          SoftmaxReference.rows(sums, LENGTH, 1, false),
          sums,
          inPieces(
              softmax,
              F32,
              rows,
              new int[] {0, half, LENGTH},
              piece -> piece == 0 ? first : second));
    }
  }

  @Test
  void whatDoesNotFitIsRefused() {
    SoftmaxStates softmax = SoftmaxStates.of(context);
    try (DeviceBuffer<ElementType.F32> memory = context.allocate(F32, 100, stream);
        DeviceBuffer<ElementType.F64> doubles = context.allocate(F64, 8, stream);
        DeviceBuffer<ElementType.F32> states = context.allocate(F32, 32, stream)) {
      TensorView<ElementType.F32> rows = TensorView.of(memory, 4, 20);
      TensorView<ElementType.F32> right = TensorView.of(states, 4, 2);
      refused(() -> softmax.states(rows, TensorView.of(doubles, 4, 2), stream), "F32", "F64");
      refused(() -> softmax.states(rows, TensorView.of(states, 2, 4), stream), "[4, 2]");
      refused(
          () ->
              softmax.states(
                  rows, TensorView.strided(states, new long[] {4, 2}, new long[] {4, 1}), stream),
          "contiguous");
      refused(() -> softmax.states(rows, TensorView.of(memory, 4, 2), stream), "overlap");
      refused(() -> softmax.merge(right, right, stream), "number of pieces");
      refused(() -> softmax.merge(TensorView.of(states, 2, 4, 2), right, stream), "overlap");
      refused(() -> softmax.finish(rows, right, TensorView.of(memory, 5, 20), stream), "shapes");
      refused(() -> softmax.finish(rows, TensorView.of(memory, 4, 2), rows, stream), "overlap");
      RowMask adds = RowMask.ofAddends(TensorView.of(states.view(8, 28), 20));
      refused(() -> softmax.states(rows, adds, right, stream), "withAddends");
      refused(() -> softmax.withAddends(true).finish(rows, right, rows, stream), "has none");
      refused(() -> softmax.withScale(Double.NaN), "not finite");
      refused(() -> softmax.withScale(1e300).states(rows, right, stream), "beyond");
    }
  }

  private static void refused(Runnable call, String... told) {
    assertTells(assertThrows(IllegalArgumentException.class, call::run), told);
  }
}
