package dev.culebra.benchmarks;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Device;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.session.Allowance;
import dev.culebra.benchmarks.session.Machine;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.bindings.DriverProbe;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
        "pairs,ceilings,kernels,calls,driver,threads,start,collectors,paper,tables\n",
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

  /** What one section lacks does not cost those behind it, and leaves the file incomplete. */
  @Test
  void aSectionThatCannotBeMeasuredIsNotFinished(@TempDir Path folder) throws Exception {
    Device device = Device.of(0);
    ResultsFile results =
        ResultsFile.open(
            folder.resolve("bench.json"), "smoke", Machine.about(DriverProbe.run(), device));
    results.asked(List.of("good", "bad"));
    Session session = new Session(results, Scale.SMOKE, device, Allowance.unlimited());
    assertFalse(
        Suite.measure(
            section(
                "bad",
                () -> {
                  throw new IllegalStateException("no kernels here");
                }),
            session));
    assertTrue(Suite.measure(section("good", () -> {}), session));
    assertEquals(List.of("bad"), results.unfinished());
  }

  private static Section section(String name, Runnable work) {
    return new Section() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public double usualSeconds(Scale scale, boolean isEmulated) {
        return 1;
      }

      @Override
      public void measure(Session session) {
        work.run();
      }
    };
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
