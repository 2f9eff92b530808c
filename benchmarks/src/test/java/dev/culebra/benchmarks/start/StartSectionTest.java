package dev.culebra.benchmarks.start;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class StartSectionTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @Test
  @Timeout(20)
  void aStartThatHangsIsAProblemAndNotTheEndOfTheRun() throws Exception {
    assertEquals(
        "it had not ended after 0.3 s, and was ended",
        StartSection.problemOf(List.of("sleep", "60"), Duration.ofMillis(300)));
  }

  @Test
  void aStartThatFailsIsToldWithWhatItSaidFirst() throws Exception {
    assertEquals(
        "status 2: no driver",
        StartSection.problemOf(List.of("sh", "-c", "echo no driver; echo more; exit 2"), LONG));
    assertEquals("", StartSection.problemOf(List.of("true"), LONG));
  }
}
