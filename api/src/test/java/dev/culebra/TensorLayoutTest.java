package dev.culebra;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class TensorLayoutTest {

  @Test
  void contiguousLayoutsHaveTheLastAxisSideBySide() {
    TensorLayout layout = TensorLayout.contiguous(2, 3, 4);
    assertEquals(new TensorLayout(new long[] {2, 3, 4}, new long[] {12, 4, 1}), layout);
    assertTrue(layout.isContiguous());
    assertEquals(24, layout.elementCount());
    assertEquals(24, layout.span());
    assertEquals(new TensorView.Rows(6, 4, 4), layout.rows());
  }

  @Test
  void aScalarHasOneElementAndNoRows() {
    TensorLayout scalar = TensorLayout.contiguous();
    assertEquals(1, scalar.elementCount());
    assertEquals(1, scalar.span());
    assertThrows(IllegalArgumentException.class, scalar::rows);
  }

  @Test
  void zeroLengthAxesMakeAnEmptyTensor() {
    assertEquals(0, TensorLayout.contiguous(3, 0).span());
    assertEquals(new TensorView.Rows(3, 0, 1), TensorLayout.contiguous(3, 0).rows());
    assertEquals(0, TensorLayout.contiguous(0, 5).rows().count());
    assertEquals(0, TensorLayout.contiguous(4, 0, 5).rows().count());
    assertTrue(TensorLayout.contiguous(4, 0, 5).isContiguous());
  }

  @Test
  void rowsKeepTheDistanceOfAPaddedMatrix() {
    TensorLayout padded = new TensorLayout(new long[] {5, 3, 10}, new long[] {48, 16, 1});
    assertEquals(new TensorView.Rows(15, 10, 16), padded.rows());
    assertFalse(padded.isContiguous());
  }

  @Test
  void axesOfOneElementDoNotHinderFolding() {
    TensorLayout layout = new TensorLayout(new long[] {5, 1, 10}, new long[] {16, 999, 1});
    assertEquals(new TensorView.Rows(5, 10, 16), layout.rows());
  }

  @Test
  void leadingAxesThatDoNotFoldAreNamed() {
    TensorLayout layout = new TensorLayout(new long[] {5, 3, 10}, new long[] {100, 16, 1});
    var error = assertThrows(IllegalArgumentException.class, layout::rows);
    assertTells(error, "axis 0 has stride 100");
    assertTells(error, "end after 48");
  }

  @Test
  void rowsWithGapsBetweenElementsAreRefused() {
    TensorLayout transposed = new TensorLayout(new long[] {4, 3}, new long[] {1, 4});
    var error = assertThrows(IllegalArgumentException.class, transposed::rows);
    assertTells(error, "lie 4 apart");
  }

  @Test
  @DisplayName("36: sizes over 2^63 and negative ones are refused")
  void sizesThatOverflowAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> TensorLayout.contiguous(1L << 32, 1L << 32));
    assertThrows(IllegalArgumentException.class, () -> TensorLayout.contiguous(3, -1));
    assertThrows(
        IllegalArgumentException.class,
        () -> new TensorLayout(new long[] {3}, new long[] {Long.MAX_VALUE}).span());
  }

  @Provide
  Arbitrary<TensorLayout> smallLayouts() {
    Arbitrary<long[]> numbers =
        Arbitraries.longs().between(0, 5).array(long[].class).ofMinSize(1).ofMaxSize(4);
    return numbers.flatMap(
        shape ->
            Arbitraries.longs()
                .between(0, 30)
                .array(long[].class)
                .ofSize(shape.length)
                .map(strides -> new TensorLayout(shape, strides)));
  }

  @Property
  void spanIsWhatEnumerationFinds(@ForAll("smallLayouts") TensorLayout layout) {
    long last = -1;
    Set<Long> seen = new HashSet<>();
    boolean twice = false;
    for (long[] index : indices(layout.shape())) {
      long offset = 0;
      for (int axis = 0; axis < index.length; axis++) {
        offset += index[axis] * layout.strides()[axis];
      }
      last = Math.max(last, offset);
      twice |= !seen.add(offset);
    }
    assertEquals(last + 1, layout.span());
    if (twice) {
      assertTrue(layout.mayOverlapItself(), layout.toString());
    }
    if (layout.isContiguous()) {
      assertFalse(twice);
      assertEquals(layout.elementCount(), layout.span());
    }
  }

  @Property
  void rowsNameTheElementsInOrder(@ForAll("smallLayouts") TensorLayout layout) {
    TensorView.Rows rows;
    try {
      rows = layout.rows();
    } catch (IllegalArgumentException e) {
      return;
    }
    assertEquals(layout.elementCount(), rows.count() * rows.length());
    long at = 0;
    for (long[] index : indices(layout.shape())) {
      long offset = 0;
      for (int axis = 0; axis < index.length; axis++) {
        offset += index[axis] * layout.strides()[axis];
      }
      assertEquals(offset, (at / rows.length()) * rows.stride() + at % rows.length());
      at++;
    }
  }

  private static Iterable<long[]> indices(long[] shape) {
    long count = 1;
    for (long length : shape) {
      count *= length;
    }
    java.util.List<long[]> all = new java.util.ArrayList<>();
    for (long flat = 0; flat < count; flat++) {
      long[] index = new long[shape.length];
      long rest = flat;
      for (int axis = shape.length - 1; axis >= 0; axis--) {
        index[axis] = rest % shape[axis];
        rest /= shape[axis];
      }
      all.add(index);
    }
    return all;
  }
}
