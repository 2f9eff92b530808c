package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Device;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DemoCommandTest {
  @TempDir Path folder;

  @Test
  void predictsTheNextCharacterOfAText() throws IOException {
    Path text =
        Files.writeString(folder.resolve("text.txt"), "the cat sat on the mat. ".repeat(40));
    CommandRun run =
        CommandRun.of("demo", "--text", text.toString(), "--prompt", "the cat sat on t", "--json");
    assertEquals(0, run.status(), run::err);
    Map<String, Object> json = JsonText.parse(run.out());
    assertEquals(text.toString(), json.get("text"));
    List<?> next = assertInstanceOf(List.class, json.get("next"));
    assertEquals(5, next.size());
    Map<?, ?> best = assertInstanceOf(Map.class, next.getFirst());
    assertEquals("h", best.get("character"));
    assertTrue((double) assertInstanceOf(Double.class, best.get("probability")) > 0.9);
    assertTrue(String.valueOf(best.get("continuation")).startsWith("e "), () -> best.toString());
    assertTrue(String.valueOf(json.get("kernelSecondsAre")).contains("batches"), run::out);
    double error = assertInstanceOf(Double.class, json.get("maxError"));
    assertTrue(error > 0 && error < 1e-6, () -> "error " + error);
  }

  @Test
  void theTableHasWhatItPromises() throws IOException {
    Path text = Files.writeString(folder.resolve("text.txt"), "abracadabra ".repeat(30));
    CommandRun run =
        CommandRun.of("demo", "--text", text.toString(), "--prompt", "abr", "--order", "2");
    assertEquals(0, run.status(), run::err);
    for (String expected :
        List.of(
            Device.of(0).name(),
            "culebra_softmax_fused_lanes1_f32",
            "B/s",
            "max error",
            "abr ...")) {
      assertTrue(run.out().contains(expected), () -> expected + " is not in: " + run.out());
    }
  }

  @Test
  void aTextWithTooLargeAnAlphabetIsRefusedBeforeMemoryRunsOut() throws IOException {
    StringBuilder characters = new StringBuilder();
    for (int c = 0x10000; c < 0x10000 + 60_000; c++) {
      characters.appendCodePoint(c);
    }
    Path text = Files.writeString(folder.resolve("text.txt"), characters.toString());
    CommandRun run = CommandRun.of("demo", "--text", text.toString());
    assertEquals(3, run.status(), run::err);
    assertTrue(run.err().contains(text + ": "), run::err);
    assertTrue(run.err().contains("use a smaller --order"), run::err);
  }

  @Test
  void aTextOfFewerThanFiveCharactersShowsThemAll() throws IOException {
    Path text = Files.writeString(folder.resolve("text.txt"), "aabab".repeat(5));
    CommandRun run = CommandRun.of("demo", "--text", text.toString(), "--prompt", "", "--json");
    assertEquals(0, run.status(), run::err);
    assertEquals(2, assertInstanceOf(List.class, JsonText.parse(run.out()).get("next")).size());
  }
}
