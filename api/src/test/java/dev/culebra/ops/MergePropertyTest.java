package dev.culebra.ops;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceTier;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.ReductionReference;
import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterProperty;
import net.jqwik.api.lifecycle.BeforeProperty;

/**
 * What is computed in pieces and merged, by whom and wherever it is cut, is what it is as a whole:
 * states (m, d) of softmax, pairs (sum, error), places of extrema, and the states of the other
 * reductions. With infinities, NaN, zeros of both signs and ties.
 */
class MergePropertyTest extends DeviceTier {
  private static final int TRIES = 40;
  private static final double NEGATIVE_INFINITY = Double.NEGATIVE_INFINITY;

  /** Of sums of weights in fp32. */
  private static final double ROUNDING = 1e-5;

  @BeforeProperty
  void begin() {
    open();
  }

  @AfterProperty
  void end() {
    close();
  }

  /** Elements that f32 has; of a few values, so that many are equal, or of any. */
  @Provide
  Arbitrary<double[]> rows() {
    Arbitrary<Double> any = Arbitraries.floats().between(-1000, 1000).map(x -> (double) x);
    Arbitrary<Double> few = Arbitraries.of(-2.0, -0.0, 0.0, 1.0, 3.0);
    Arbitrary<Double> extreme = Arbitraries.of(NEGATIVE_INFINITY, -0x1p100, 0x1p100, 0x1p-100);
    Arbitrary<Double> bad = Arbitraries.of(Double.NaN, Double.POSITIVE_INFINITY);
    Arbitrary<Double> tame = Arbitraries.frequencyOf(Tuple.of(9, any), Tuple.of(1, extreme));
    Arbitrary<Double> wild =
        Arbitraries.frequencyOf(
            Tuple.of(20, few), Tuple.of(20, any), Tuple.of(2, extreme), Tuple.of(1, bad));
    return Arbitraries.oneOf(tame, few, wild).array(double[].class).ofMinSize(1).ofMaxSize(90);
  }

  /** States of nothing, of one element, of many, and of what has no sum. */
  @Provide
  Arbitrary<OnlineState> states() {
    Arbitrary<OnlineState> proper =
        Arbitraries.floats()
            .between(-100, 100)
            .flatMap(
                m ->
                    Arbitraries.floats()
                        .between(1, 1e6f)
                        .map(d -> new OnlineState((double) m, (double) d)));
    return Arbitraries.frequencyOf(
        Tuple.of(12, proper),
        Tuple.of(2, Arbitraries.of(OnlineState.EMPTY, OnlineState.of(0), OnlineState.of(-0.0))),
        Tuple.of(1, Arbitraries.of(Double.NaN, Double.POSITIVE_INFINITY).map(OnlineState::of)));
  }

  @Provide
  Arbitrary<OnlineState[]> manyStates() {
    return states().array(OnlineState[].class).ofMinSize(1).ofMaxSize(70);
  }

  /** Rising, from 0 to the length; pieces may be empty. */
  private static int[] cuts(int length, int pieces, long seed) {
    int[] cuts = new Random(seed).ints(pieces + 1L, 0, length + 1).sorted().toArray();
    cuts[0] = 0;
    cuts[pieces] = length;
    return cuts;
  }

  private static void assertSame(OnlineState expected, OnlineState actual) {
    if (Double.isNaN(expected.d())) {
      assertTrue(Double.isNaN(actual.d()), () -> actual + " has a sum, unlike " + expected);
      return;
    }
    assertEquals(expected.m(), actual.m(), 0.0);
    assertEquals(expected.d(), actual.d(), ROUNDING * expected.d());
  }

  private static OnlineState onHost(OnlineState... states) {
    return Arrays.stream(states).reduce(OnlineState.EMPTY, OnlineState::merge);
  }

  private OnlineState onDevice(OnlineState... states) {
    MemorySegment host = MemorySegment.ofArray(new float[2 * states.length]);
    for (int i = 0; i < states.length; i++) {
      states[i].write(host, F32, i);
    }
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, 2L * states.length, stream);
        DeviceBuffer<ElementType.F32> out = context.allocate(F32, 2, stream)) {
      in.copyFrom(host);
      SoftmaxStates.of(context)
          .merge(TensorView.of(in, states.length, 1, 2), TensorView.of(out, 1, 2), stream);
      return read(out);
    }
  }

  private static OnlineState read(DeviceBuffer<ElementType.F32> state) {
    MemorySegment result = MemorySegment.ofArray(new float[2]);
    state.copyTo(result);
    return OnlineState.read(result, F32, 0);
  }

  @Property(tries = TRIES)
  void theDeviceMergesStatesAsTheHostDoes(@ForAll("manyStates") OnlineState[] states) {
    assertSame(onHost(states), onDevice(states));
  }

  @Property
  void theHostsMergeIsAssociative(
      @ForAll("states") OnlineState a,
      @ForAll("states") OnlineState b,
      @ForAll("states") OnlineState c) {
    assertSame(a.merge(b).merge(c), a.merge(b.merge(c)));
    assertEquals(a.merge(b), b.merge(a));
    assertSame(a, a.merge(OnlineState.EMPTY));
    assertSame(a, OnlineState.EMPTY.merge(a));
  }

  @Property(tries = TRIES)
  void theDevicesMergeIsAssociative(
      @ForAll("manyStates") OnlineState[] states, @ForAll @IntRange(max = 69) int at) {
    int cut = Math.min(at, states.length);
    OnlineState whole = onDevice(states);
    if (cut > 0 && cut < states.length) {
      OnlineState first = onDevice(Arrays.copyOf(states, cut));
      OnlineState rest = onDevice(Arrays.copyOfRange(states, cut, states.length));
      assertSame(whole, onDevice(first, rest));
      assertEquals(onDevice(first, rest), onDevice(rest, first), "to the bit");
    }
    assertEquals(onDevice(states[0]), onDevice(states[0], OnlineState.EMPTY), "to the bit");
    assertEquals(onDevice(states[0]), onDevice(OnlineState.EMPTY, states[0]), "to the bit");
  }

  @Property(tries = TRIES)
  void anyCutGivesTheStateOfTheRow(
      @ForAll("rows") double[] row,
      @ForAll @IntRange(min = 1, max = 9) int pieces,
      @ForAll long seed) {
    int[] cuts = cuts(row.length, pieces, seed);
    OnlineState truth =
        Arrays.stream(row).mapToObj(OnlineState::of).reduce(OnlineState.EMPTY, OnlineState::merge);
    SoftmaxStates operation = SoftmaxStates.of(context);
    OnlineState[] parts = new OnlineState[pieces];
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, row.length, stream);
        DeviceBuffer<ElementType.F32> state = context.allocate(F32, 2, stream)) {
      Tensors.write(in, row);
      TensorView<ElementType.F32> whole = TensorView.of(in, 1, row.length);
      operation.states(whole, TensorView.of(state, 1, 2), stream);
      assertSame(truth, read(state));
      for (int p = 0; p < pieces; p++) {
        operation.states(whole.slice(1, cuts[p], cuts[p + 1]), TensorView.of(state, 1, 2), stream);
        parts[p] = read(state);
      }
    }
    assertSame(truth, onDevice(parts));
    assertSame(truth, onHost(parts));
  }

  /** Partial results of pieces, joined on the host; and all of them by the device alone. */
  @Property(tries = 5 * TRIES)
  void anyCutGivesTheReductionOfTheRow(
      @ForAll Reduction.Op op,
      @ForAll("rows") double[] row,
      @ForAll @IntRange(min = 1, max = 9) int pieces,
      @ForAll long seed) {
    int[] cuts = cuts(row.length, pieces, seed);
    Reduction reduction = Reduction.of(context, op);
    ReductionTotal total = ReductionTotal.of(op, F32);
    try (DeviceBuffer<ElementType.F32> in = context.allocate(F32, row.length, stream)) {
      Tensors.write(in, row);
      for (int p = 0; p < pieces; p++) {
        TensorView<?> piece = TensorView.of(in.view(cuts[p], cuts[p + 1]), cuts[p + 1] - cuts[p]);
        total.add(partials(reduction, piece), cuts[p + 1] - cuts[p]);
      }
      TensorView<?> whole = TensorView.of(in, row.length);
      ReductionTest.judge(
          op,
          F32,
          row,
          op.isIndex() ? reduction.allAsLong(whole, stream) : reduction.allAsDouble(whole, stream));
    }
    assertEquals(row.length, total.elements());
    ReductionTest.judge(op, F32, row, op.isIndex() ? total.longValue() : total.doubleValue());
  }

  private MemorySegment partials(Reduction reduction, TensorView<?> in) {
    long length = reduction.partialLength(in.type(), in.elementCount());
    ElementType<?> type = reduction.op().partialType(in.type());
    MemorySegment host = MemorySegment.ofArray(new byte[(int) length * type.byteSize()]);
    if (length > 0) {
      try (DeviceBuffer<?> out = context.allocate(type, length, stream)) {
        reduction.partials(in, TensorView.of(out, length), stream);
        out.copyTo(host);
      }
    }
    return host;
  }

  @Property(tries = TRIES)
  void anyCutGivesThePlaceAmongIntegers(
      @ForAll boolean largest,
      @ForAll("integers") long[] row,
      @ForAll @IntRange(min = 1, max = 9) int pieces,
      @ForAll long seed) {
    int[] cuts = cuts(row.length, pieces, seed);
    Reduction.Op op = largest ? Reduction.Op.ARGMAX : Reduction.Op.ARGMIN;
    Reduction reduction = Reduction.of(context, op);
    ReductionTotal total = ReductionTotal.of(op, I32);
    long truth = ReductionReference.valueOf(op.name()).ofIntegers(row);
    try (DeviceBuffer<ElementType.I32> in = context.allocate(I32, row.length, stream)) {
      Tensors.writeIntegers(in, row);
      for (int p = 0; p < pieces; p++) {
        TensorView<?> piece = TensorView.of(in.view(cuts[p], cuts[p + 1]), cuts[p + 1] - cuts[p]);
        total.add(partials(reduction, piece), cuts[p + 1] - cuts[p]);
      }
      assertEquals(truth, reduction.allAsLong(TensorView.of(in, row.length), stream));
    }
    assertEquals(truth, total.longValue());
  }

  @Provide
  Arbitrary<long[]> integers() {
    Arbitrary<Long> few = Arbitraries.of(-1L, 0L, 1L, (long) Integer.MIN_VALUE, 0x7fffffffL);
    return few.array(long[].class).ofMinSize(1).ofMaxSize(90);
  }

  /** What a sum and what it lost: not more than a rounding each, of any size. */
  @Provide
  Arbitrary<double[]> pairs() {
    return Arbitraries.doubles()
        .between(-1e9, 1e9)
        .array(double[].class)
        .ofMinSize(1)
        .ofMaxSize(50)
        .map(
            sums -> {
              double[] pairs = new double[2 * sums.length];
              for (int i = 0; i < sums.length; i++) {
                pairs[2 * i] = sums[i];
                pairs[2 * i + 1] = Math.ulp(sums[i]) * (0.49 - (i % 7) / 7.0);
              }
              return pairs;
            });
  }

  private static double sum(double[] pairs, int... cuts) {
    ReductionTotal total = ReductionTotal.of(Reduction.Op.SUM, ElementType.F64);
    for (int c = 1; c < cuts.length; c++) {
      double[] part = Arrays.copyOfRange(pairs, 2 * cuts[c - 1], 2 * cuts[c]);
      total.add(MemorySegment.ofArray(part), cuts[c] - cuts[c - 1]);
    }
    return total.doubleValue();
  }

  @Property
  void sumsWithTheirErrorsJoinInAnyGroupingAndAlmostInAnyOrder(
      @ForAll("pairs") double[] pairs,
      @ForAll @IntRange(min = 1, max = 9) int pieces,
      @ForAll long seed) {
    int count = pairs.length / 2;
    double once = sum(pairs, 0, count);
    assertEquals(once, sum(pairs, cuts(count, pieces, seed)), 0.0, "calls do not show");

    BigDecimal exact =
        Arrays.stream(pairs).mapToObj(BigDecimal::new).reduce(BigDecimal.ZERO, BigDecimal::add);
    double magnitude = Arrays.stream(pairs).map(Math::abs).sum();
    // One rounding of the result, and those of the errors, which are small themselves.
    double tolerance = Math.ulp(exact.doubleValue()) + count * 0x1p-104 * magnitude;
    assertEquals(exact.doubleValue(), once, tolerance);

    double[] shuffled = pairs.clone();
    Random random = new Random(seed);
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      for (int half = 0; half < 2; half++) {
        double x = shuffled[2 * i + half];
        shuffled[2 * i + half] = shuffled[2 * j + half];
        shuffled[2 * j + half] = x;
      }
    }
    assertEquals(exact.doubleValue(), sum(shuffled, 0, count), tolerance, "in another order");

    double[] withZeros = new double[2 * pairs.length];
    for (int i = 0; i < count; i++) {
      withZeros[4 * i] = pairs[2 * i];
      withZeros[4 * i + 1] = pairs[2 * i + 1];
    }
    assertEquals(once, sum(withZeros, 0, 2 * count), 0.0, "(0, 0) is neutral");

    for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY, NEGATIVE_INFINITY}) {
      double[] spoilt = pairs.clone();
      spoilt[2 * random.nextInt(count)] = bad;
      assertEquals(bad, sum(spoilt, cuts(count, pieces, seed)), 0.0);
    }
  }

  @Property
  void rowsAreCutEverywhere(@ForAll @IntRange(min = 1, max = 9) int pieces, @ForAll long seed) {
    int[] cuts = cuts(50, pieces, seed);
    assertEquals(pieces + 1, cuts.length);
    assertArrayEquals(Arrays.stream(cuts).sorted().toArray(), cuts);
    assertEquals(50, cuts[pieces] - cuts[0]);
  }
}
