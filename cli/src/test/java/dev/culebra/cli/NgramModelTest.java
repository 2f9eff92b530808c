package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;

class NgramModelTest {
  @Test
  void softmaxOfTheLogitsIsTheSmoothedDistribution() {
    // Of "aab": a was followed by a and b, once each; nothing followed b.
    NgramModel model = NgramModel.count("aab", 1, Long.MAX_VALUE);
    assertEquals(1, model.rowCount());
    assertEquals("a", model.context(0));
    assertEquals(2, model.columnCount());

    // The empty context: a twice, b once, and 2 counts lent to the uniform distribution.
    double a = (2 + 2 * 0.5) / 5;
    // After a: one count each, and 2 counts lent to the distribution above.
    double[] expected = {(1 + 2 * a) / 4, (1 + 2 * (1 - a)) / 4};

    double[] actual = distribution(model, 0);
    assertEquals(expected[0], actual[0], 1e-7);
    assertEquals(expected[1], actual[1], 1e-7);
  }

  @Test
  void frequentContinuationsAreLikelier() {
    NgramModel model = NgramModel.count("the cat the dog the cow and a cap", 2, Long.MAX_VALUE);
    double[] next = distribution(model, model.row("th"));
    int best =
        IntStream.range(0, next.length).reduce((x, y) -> next[x] >= next[y] ? x : y).orElse(-1);
    assertEquals("e", model.character(best));
  }

  @Test
  void unknownPromptsBackOffToAKnownEnding() {
    NgramModel model = NgramModel.count("abcabcabd", 3, Long.MAX_VALUE);
    assertEquals("abc", model.context(model.row("zzabc")));
    assertEquals("bca", model.context(model.row("zza"))); // ends in a; seen twice, as no other
    assertTrue(model.row("z") >= 0);
    assertTrue(model.row("") >= 0);
  }

  @Test
  void charactersBeyondTheBasicPlaneAreOne() {
    NgramModel model =
        NgramModel.count("\uD83D\uDE00x\uD83D\uDE00y\uD83D\uDE00x", 1, Long.MAX_VALUE);
    assertEquals(3, model.columnCount());
    assertEquals("\uD83D\uDE00", model.context(model.row("\uD83D\uDE00")));
  }

  @Test
  void countsThatTakeTooMuchMemoryAreRefused() {
    // 3 characters; contexts: the empty one, then a, b and c: 4 rows of 12 bytes.
    assertEquals(3, NgramModel.count("abcab", 1, 48).columnCount());
    IllegalArgumentException e =
        assertThrows(IllegalArgumentException.class, () -> NgramModel.count("abcab", 1, 47));
    assertTrue(e.toString().contains("smaller --order"), e::toString);
  }

  @Test
  void tooShortATextIsRefused() {
    assertThrows(IllegalArgumentException.class, () -> NgramModel.count("abc", 3, Long.MAX_VALUE));
    assertThrows(IllegalArgumentException.class, () -> NgramModel.count("", 1, Long.MAX_VALUE));
  }

  @Property(tries = 100)
  void everyRowIsFiniteAndEveryContextFindsItself(
      @ForAll @StringLength(min = 5, max = 60) String text,
      @ForAll @IntRange(min = 1, max = 4) int order) {
    if (text.codePointCount(0, text.length()) <= order) {
      return;
    }
    NgramModel model = NgramModel.count(text, order, Long.MAX_VALUE);
    for (int row = 0; row < model.rowCount(); row++) {
      assertEquals(row, model.row(model.context(row)));
      double sum = 0;
      for (double p : distribution(model, row)) {
        assertTrue(p > 0);
        sum += p;
      }
      assertEquals(1, sum, 1e-9);
    }
  }

  private static double[] distribution(NgramModel model, int row) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment logits = model.logits(arena);
      long bytes = 4L * model.columnCount();
      double[] values = StorageType.F32.decode(logits.asSlice(row * bytes, bytes));
      return SoftmaxReference.rows(values, values.length, 1, false);
    }
  }
}
