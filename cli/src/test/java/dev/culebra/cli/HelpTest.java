package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HelpTest {
  @ParameterizedTest
  @ValueSource(strings = {"info", "softmax", "topk", "sample", "reduce", "demo", "completion"})
  void everyCommandExplainsItself(String command) {
    CommandRun run = CommandRun.of(command, "--help");
    assertEquals(0, run.status(), run::err);
    assertTrue(run.out().startsWith("Usage: culebra " + command), run::out);
    assertFalse(run.out().contains("\u001b"), "no colours where there is no terminal");
    assertEquals("", run.err());
    assertTrue(CommandRun.of("--help").out().contains("  " + command), command);
  }

  @Test
  void tellsWhatNaiveDoesToLargeScores() {
    String help = CommandRun.of("softmax", "--help").out().replaceAll("\\s+", " ");
    for (String fact : new String[] {"above 88", "709", "NaN", "-inf", "below -104", "+inf"}) {
      assertTrue(help.contains(fact), () -> fact + " is not in: " + help);
    }
  }

  @Test
  void everyCommandKnowsTheVersion() {
    CommandRun run = CommandRun.of("--version");
    assertEquals(0, run.status());
    assertTrue(run.out().matches("(?s)culebra \\d+\\.\\d+\\.\\d+.*Java \\d+.*"), run::out);
    assertEquals(run.out(), CommandRun.of("softmax", "--version").out());
  }

  @Test
  void theCompletionScriptKnowsCommandsAndOptions() {
    CommandRun run = CommandRun.of("completion", "bash");
    assertEquals(0, run.status(), run::err);
    assertTrue(run.out().contains("complete -F _complete_culebra"), run::out);
    assertTrue(run.out().contains("--algorithm"), run::out);
  }
}
