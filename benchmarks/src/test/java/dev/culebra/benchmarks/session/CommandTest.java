package dev.culebra.benchmarks.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CommandTest {
  private static final Duration LONG = Duration.ofSeconds(30);

  @TempDir Path folder;

  @Test
  void statusAndBothOutputsAreToldWithTheTime() throws Exception {
    Command.Outcome outcome =
        Command.run(List.of("sh", "-c", "echo out; echo err >&2; exit 3"), LONG);
    assertTrue(outcome.ended());
    assertFalse(outcome.isGood());
    assertEquals(3, outcome.status());
    assertEquals("out\nerr\n", outcome.output());
    assertTrue(outcome.nanos() > 0 && outcome.nanos() < LONG.toNanos());
    assertTrue(Command.run(List.of("true"), LONG).isGood());
  }

  @Test
  @Timeout(20)
  void whatHangsIsEndedWithWhatItStarted() throws Exception {
    Path pid = folder.resolve("pid");
    Command.Outcome outcome =
        Command.run(
            List.of("sh", "-c", "echo here; sleep 60 & echo $! > " + pid + "; wait"),
            Duration.ofMillis(500));
    assertFalse(outcome.ended());
    assertFalse(outcome.isGood());
    assertEquals("here\n", outcome.output());
    long child = Long.parseLong(Files.readString(pid).strip());
    assertTrue(isGone(child), () -> child + " still runs");
  }

  /** Its output is open then until the child ends: the end of the program is what counts. */
  @Test
  @Timeout(20)
  void aChildThatOutlivesAProgramIsNotWaitedFor() throws Exception {
    Path pid = folder.resolve("pid");
    Command.Outcome outcome = Command.run(List.of("sh", "-c", "sleep 60 & echo $! > " + pid), LONG);
    ProcessHandle.of(Long.parseLong(Files.readString(pid).strip()))
        .ifPresent(ProcessHandle::destroyForcibly);
    assertTrue(outcome.isGood());
  }

  @Test
  void whatIsNotThereIsAnError() {
    assertThrows(IOException.class, () -> Command.run(List.of("no-such-program"), LONG));
  }

  /** Whether a process has ended, or does so soon: a signal takes its time. */
  private static boolean isGone(long pid) throws InterruptedException {
    for (int i = 0; i < 100; i++) {
      if (ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty()) {
        return true;
      }
      Thread.sleep(50);
    }
    return false;
  }
}
