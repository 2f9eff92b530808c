package dev.culebra.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SuiteTest {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(String... arguments) throws Exception {
    return Suite.run(
        arguments, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
  }

  /** Others ask for the names, so that they stand in one place. */
  @Test
  void sectionsAreListedWithoutADriver() throws Exception {
    assertEquals(0, run("--list-sections"));
    assertEquals(
        "pairs,ceilings,kernels,paper,calls,driver,collectors,threads,start\n",
        out.toString(UTF_8));
  }

  @Test
  void theReadmeDescribesEverySection() throws Exception {
    run("--list-sections");
    String readme = Files.readString(Path.of("README.md"));
    for (String section : out.toString(UTF_8).strip().split(",", -1)) {
      assertTrue(readme.contains("| `" + section + "` |"), section);
    }
  }

  @Test
  void wrongCommandLinesAreToldWithTheirReason() throws Exception {
    for (String wrong :
        new String[] {
          "--fast",
          "--only kernel",
          "--only ,",
          "--only pairs,",
          "--smoke --full",
          "--out .",
          "--out notes.txt",
          "--out \0.json",
          "--python",
          "--seconds soon",
          "--seconds -1",
          "--seconds NaN",
          "--out",
          "--list-sections --full"
        }) {
      err.reset();
      assertEquals(2, run(wrong.split(" ")), wrong);
      assertTrue(err.toString(UTF_8).contains("; usage: "), err.toString(UTF_8));
    }
  }
}
