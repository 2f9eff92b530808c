package dev.culebra.ops;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** R3: the merge is associative and commutative, and -inf is neutral. */
class OnlineStateTest {
  private static final double ROUNDING = 1e-13;

  @Provide
  Arbitrary<double[]> rows() {
    Arbitrary<Double> element =
        Arbitraries.frequencyOf(
            Tuple.of(8, Arbitraries.doubles().between(-1000, 1000)),
            Tuple.of(1, Arbitraries.just(Double.NEGATIVE_INFINITY)),
            Tuple.of(1, Arbitraries.of(-1e300, 1e300, 0.0, -0.0)));
    return element.array(double[].class).ofMinSize(0).ofMaxSize(40);
  }

  @Property
  void anyGroupingGivesTheStateOfTheWhole(@ForAll("rows") double[] row, @ForAll long seed) {
    OnlineState inOrder =
        Arrays.stream(row).mapToObj(OnlineState::of).reduce(OnlineState.EMPTY, OnlineState::merge);
    OnlineState inSomeTree = randomTree(row, 0, row.length, new Random(seed));

    double m = Arrays.stream(row).max().orElse(Double.NEGATIVE_INFINITY);
    double d =
        m == Double.NEGATIVE_INFINITY ? 0 : Arrays.stream(row).map(x -> Math.exp(x - m)).sum();
    assertEquals(m, inOrder.m());
    assertEquals(d, inOrder.d(), d * ROUNDING);
    assertEquals(m, inSomeTree.m());
    assertEquals(d, inSomeTree.d(), d * ROUNDING);
  }

  private static OnlineState randomTree(double[] row, int from, int to, Random random) {
    if (to - from == 0) {
      return OnlineState.EMPTY;
    }
    if (to - from == 1) {
      return OnlineState.of(row[from]);
    }
    int cut = from + random.nextInt(to - from + 1);
    if (cut == from || cut == to) {
      cut = from + 1;
    }
    return randomTree(row, from, cut, random).merge(randomTree(row, cut, to, random));
  }

  @Property
  void orderDoesNotMatterToTheBit(@ForAll("rows") double[] one, @ForAll("rows") double[] other) {
    OnlineState a = randomTree(one, 0, one.length, new Random(1));
    OnlineState b = randomTree(other, 0, other.length, new Random(2));
    assertEquals(a.merge(b), b.merge(a));
  }

  @Property
  void emptyIsNeutral(@ForAll("rows") double[] row) {
    OnlineState state = randomTree(row, 0, row.length, new Random(3));
    assertEquals(state, state.merge(OnlineState.EMPTY));
    assertEquals(state, OnlineState.EMPTY.merge(state));
  }

  @Example
  void emptyMeetsEmpty() {
    assertEquals(OnlineState.EMPTY, OnlineState.EMPTY.merge(OnlineState.EMPTY));
    assertEquals(Double.NEGATIVE_INFINITY, OnlineState.EMPTY.logSumExp());
  }

  @Example
  void nanAndInfinityPoisonTheSum() {
    for (double bad : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
      OnlineState state = OnlineState.of(bad);
      assertTrue(Double.isNaN(state.merge(OnlineState.of(1)).d()));
      assertTrue(Double.isNaN(OnlineState.of(1).merge(state).d()));
      assertTrue(Double.isNaN(state.merge(OnlineState.EMPTY).d()));
    }
  }

  @Example
  void equalElementsCountExactly() {
    OnlineState state = OnlineState.EMPTY;
    for (int i = 0; i < 1000; i++) {
      state = state.merge(OnlineState.of(-7.25));
    }
    assertEquals(new OnlineState(-7.25, 1000), state);
    assertEquals(-7.25 + Math.log(1000), state.logSumExp());
  }
}
