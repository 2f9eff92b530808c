package dev.culebra.benchmarks.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AllowanceTest {
  private static final long SECOND = 1_000_000_000L;

  private final Section first = section("first", 10);
  private final Section second = section("second", 30);
  private final Section third = section("third", 60);
  private final AtomicLong clock = new AtomicLong(5);

  private static Section section(String name, double seconds) {
    return new Section() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public double usualSeconds(Scale scale, boolean isEmulated) {
        return seconds;
      }

      @Override
      public void measure(Session session) {}
    };
  }

  private Allowance of(double seconds) {
    return Allowance.of(
        seconds,
        List.of(first, second, third),
        section -> section.usualSeconds(Scale.SHORT, true),
        clock::get);
  }

  private void pass(double seconds) {
    clock.addAndGet((long) (seconds * SECOND));
  }

  @Test
  void eachGetsItsShareAndWhatOthersLeft() {
    Allowance allowance = of(50);
    allowance.begin(first); // 10 of 100 parts of 50 seconds
    pass(4.9);
    assertFalse(allowance.isUsedUp());
    pass(0.2);
    assertTrue(allowance.isUsedUp());

    allowance.begin(second); // 30 of 90 parts of 44.9 seconds
    pass(4.9); // and it is done

    allowance.begin(third); // all of the 40 seconds that are left
    pass(39.9);
    assertFalse(allowance.isUsedUp());
    pass(0.2);
    assertTrue(allowance.isUsedUp());
    assertTrue(allowance.isUsedUp());
    assertEquals(List.of("first", "third"), allowance.cut());
  }

  @Test
  void nothingIsLeftBehindOneThatDoesNotStop() {
    Allowance allowance = of(50);
    allowance.begin(first);
    pass(70);
    allowance.begin(second);
    assertTrue(allowance.isUsedUp());
    assertEquals(List.of("second"), allowance.cut(), "the first was not asked to stop");
  }

  @Test
  void withoutALimitNothingIsCut() {
    Allowance allowance = Allowance.unlimited();
    allowance.begin(first);
    assertFalse(allowance.isUsedUp());
    assertEquals(List.of(), allowance.cut());
  }
}
