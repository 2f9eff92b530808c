package dev.culebra.benchmarks.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.results.Runs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PaperTest {
  private static final int TURNS = 36;
  private static final List<Long> LENGTHS = List.of(100L, 1000L, 4000L, 256000L);

  @TempDir Path folder;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private ResultsFile results;

  @BeforeEach
  void measure() throws IOException {
    results = ResultsFile.open(folder.resolve("r.json"), "short", Runs.of("abc"));
    results.put(
        Result.of(
            new Result.Key("ceilings", "read", "device"),
            "us",
            new double[] {1000},
            Map.of("bytes", 4_500_000_000L, "flops", 0.0)));
  }

  private void softmax(long rows, double online, double single) throws IOException {
    for (long length : LENGTHS) {
      String problem = "softmax f32 %d x %d".formatted(rows, length);
      // Fewer accesses gain nothing in short rows.
      put("softmax", problem, "Culebra naive", rows, length, 0, 100);
      put("softmax", problem, "Culebra safe", rows, length, 0, 120);
      put("softmax", problem, "Culebra online", rows, length, 0, length > 1000 ? online : 150);
      put("softmax", problem, "Culebra auto", rows, length, 0, single);
      put("softmax", problem, "torch <2>", rows, length, 0, 110);
    }
  }

  private void topK(long rows, long length, int k, double fused) throws IOException {
    String problem = "softmax + top-%d f32 %d x %d".formatted(k, rows, length);
    put("softmax + top-k", problem, "Culebra fused", rows, length, k, fused);
    put("softmax + top-k", problem, "Culebra safe unfused", rows, length, k, 200);
    put("softmax + top-k", problem, "Culebra online unfused", rows, length, k, 180);
  }

  private void put(
      String operation, String problem, String who, long rows, long length, int k, double micros)
      throws IOException {
    double[] samples = new double[TURNS];
    Arrays.setAll(samples, i -> micros * (1 + 0.001 * (i % 3 - 1)));
    Map<String, Object> details =
        new HashMap<>(
            Map.of("operation", operation, "type", "f32", "rows", rows, "length", length));
    details.put("bytes", 8 * rows * length);
    details.put("ceiling", "read");
    details.put("turns", TURNS);
    if (k > 0) {
      details.put("k", k);
    }
    results.put(Result.of(new Result.Key("kernels", problem, who), "us", samples, details));
  }

  private void measureAll() throws IOException {
    softmax(4000, 96, 60);
    softmax(10, 109, 12);
    for (long length : LENGTHS) {
      topK(4000, length, 5, 40);
      topK(10, length, 5, 20);
    }
    for (int k : new int[] {10, 30}) {
      topK(4000, 4000, k, 4.0 * k);
    }
    results.complete();
  }

  private int run(Optional<Browser> browser, String... arguments) {
    return Paper.run(
        arguments, browser, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
  }

  private int run(Optional<Browser> browser) {
    return run(browser, "--out", folder.resolve("paper").toString(), results.file().toString());
  }

  private String read(String name) throws IOException {
    return Files.readString(folder.resolve("paper").resolve(name));
  }

  @Test
  void thePapersNumbersStandBesideTheMeasuredOnes() throws Exception {
    measureAll();
    // Of another benchmark, at a length that the other batch has not.
    put("softmax", "softmax f32 10 x 131072", "Culebra safe", 10, 131072, 0, 120);
    put("softmax", "softmax f32 10 x 131072", "Culebra online", 10, 131072, 0, 12);
    assertEquals(0, run(Optional.empty()), err.toString(UTF_8));
    String text = read("paper.md");
    for (String expected :
        List.of(
            "# The online softmax paper's benchmark: GPU &lt;7>, 2026-01-02, commit abc\n",
            "| softmax, 4000 rows: online against safe, at most | 1.3 | 1.250 (1.250 to 1.250) | V"
                + " = 4k |",
            "| softmax, 4000 rows: the same at V = 4000 | about 1.3 | 1.250 (1.250 to"
                + " 1.250) | V = 4k |",
            "| softmax, 10 rows: online against safe, at most | 1.15 | 1.101 (1.101 to 1.101) | V ="
                + " 4k |",
            "| softmax + top-5, 4000 rows: fused against safe, unfused, at most | 5 | 5.000 (5.000"
                + " to 5.000) | V = 1k |",
            "| softmax, 10 rows: a single read against safe, at most | (has none) | 10.000 (10.000"
                + " to 10.000) | V = 1k |",
            "here the online form gains more than a tenth from V = 4k on.",
            "it is the slower (0.80 of its speed at V = 1k)",
            "This device reads 4.50 TB/s in the same run",
            "most of 132 multiprocessors idle",
            "### softmax + top-k, f32, 4000 rows of 4k, over K\n",
            "| 30 | 120 us (1.67) | 200 us (1.00) | 180 us (1.11) |",
            "| 4k | 100 us (1.20) | 120 us (1.00) | 96.0 us (1.25) | 60.0 us (2.00) | 110 us (1.09)"
                + " |")) {
      assertTrue(text.contains(expected), () -> expected + " is not in\n" + text);
    }
    assertFalse(text.contains("128Ki"), text);
    assertTrue(out.toString(UTF_8).contains("no PNG: none of chromium, "), out.toString(UTF_8));
  }

  /** Whoever opens it has neither the page nor what the page's styles know. */
  @Test
  void aFigureStandsAlone() throws Exception {
    measureAll();
    assertEquals(0, run(Optional.empty()), err.toString(UTF_8));
    for (Map.Entry<String, Integer> each : Map.of("softmax.svg", 4, "topk.svg", 5).entrySet()) {
      String svg = read(each.getKey());
      var document =
          DocumentBuilderFactory.newDefaultNSInstance()
              .newDocumentBuilder()
              .parse(folder.resolve("paper").resolve(each.getKey()).toFile());
      String space = "http://www.w3.org/2000/svg";
      assertEquals(space, document.getDocumentElement().getNamespaceURI());
      assertEquals(1 + each.getValue(), document.getElementsByTagNameNS(space, "svg").getLength());
      assertFalse(svg.contains("var(") || svg.contains("NaN"), svg);
      Matcher types = Pattern.compile("class=\"([^\"]+)\"").matcher(svg);
      while (types.find()) {
        for (String type : types.group(1).split(" ", -1)) {
          assertTrue(svg.contains("." + type) || type.equals("label"), type);
        }
      }
      double height = Double.parseDouble(document.getDocumentElement().getAttribute("height"));
      var texts = document.getElementsByTagNameNS(space, "text");
      for (int i = 0; i < texts.getLength(); i++) {
        var y = texts.item(i).getAttributes().getNamedItem("y");
        assertTrue(Double.parseDouble(y.getNodeValue()) < height);
      }
    }
    assertTrue(read("softmax.svg").contains(">torch &lt;2&gt;<"));
    // The bars are the paper's; what it had not is among the lines.
    String svg = read("softmax.svg");
    assertTrue(svg.contains("Culebra online at 4k: 1.250"), svg);
    assertFalse(svg.contains("Culebra auto at 4k"), svg);
    assertTrue(svg.contains("Culebra auto: "), svg);
    assertTrue(read("topk.svg").contains("Culebra fused at 30: 1.667"));
  }

  @Test
  void aFileWithoutTheSweepsIsRefused() throws Exception {
    softmax(4000, 96, 60);
    assertEquals(2, run(Optional.empty()));
    String message = err.toString(UTF_8);
    assertTrue(message.contains("r.json has not the paper's sweeps, but 1 of softmax"), message);
    assertTrue(message.contains("`make paper`"), message);
    assertFalse(Files.exists(folder.resolve("paper")));
    assertEquals(2, run(Optional.empty(), "--out", "x"));
    assertEquals(2, run(Optional.empty(), "--to", "x", results.file().toString()));
    assertEquals(2, run(Optional.empty(), "--out", "x", folder.resolve("none.json").toString()));
    assertTrue(err.toString(UTF_8).contains("none.json is not there"), err.toString(UTF_8));
  }

  @Test
  void timesOfTheEmulatorAreCalledSo() throws Exception {
    measureAll();
    Files.writeString(
        results.file(),
        Files.readString(results.file()).replace("\"emulator\" : false", "\"emulator\" : true"));
    assertEquals(0, run(Optional.empty()), err.toString(UTF_8));
    assertTrue(read("softmax.svg").contains("THESE TIMES MEAN NOTHING"));
    assertTrue(read("paper.md").contains("> No GPU: the driver is the emulator."));
    assertFalse(read("paper.md").contains("Why they differ"));
  }

  private Optional<Browser> browser(String script) throws IOException {
    Path program = Files.writeString(folder.resolve("browser"), "#!/bin/sh\n" + script);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return Optional.of(new Browser(program));
  }

  @Test
  void aBrowserMakesThePngOrSaysWhyNot() throws Exception {
    measureAll();
    assertEquals(
        0,
        run(
            browser(
                "for a; do case $a in --screenshot=*) echo \"$@\" > \"${a#*=}\" ;; esac; done\n")));
    assertTrue(read("softmax.png").contains("--window-size=804,"));
    assertTrue(read("softmax.png").strip().endsWith("paper/softmax.svg"));
    assertTrue(out.toString(UTF_8).contains("topk.png\n"), out.toString(UTF_8));

    out.reset();
    assertEquals(0, run(browser("echo no display; exit 3\n")));
    assertTrue(out.toString(UTF_8).contains("ended with status 3: no display"));
    assertFalse(Files.exists(folder.resolve("paper/softmax.png")), "the old one");
  }
}
