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
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.xml.sax.InputSource;

class ReportTest {
  private static final int TURNS = 36;

  @TempDir Path folder;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private ResultsFile results;
  private Path html;
  private Path markdown;

  @BeforeEach
  void measure() throws IOException {
    html = folder.resolve("report.html");
    markdown = folder.resolve("benchmarks.md");
    results = ResultsFile.open(folder.resolve("r.json"), "short", Runs.of("abc"));
    results.put(
        Result.ofPairs(
            new Result.Key("pairs", "cuLaunchKernel, 3 arguments", "Culebra"),
            "ns",
            samples(3100),
            samples(3131),
            Map.of("allocated_bytes", 0.0)));
    results.put(
        Result.of(
            new Result.Key("ceilings", "copy by the driver", "device"),
            "us",
            new double[] {1000},
            Map.of("bytes", 4_000_000_000L, "flops", 0.0)));
    results.put(
        Result.of(
            new Result.Key("ceilings", "read", "device"),
            "us",
            new double[] {1000},
            Map.of("bytes", 4_500_000_000L, "flops", 0.0)));
    results.put(
        Result.of(
            new Result.Key("ceilings", "mma.sync bf16", "device"),
            "us",
            new double[] {1000},
            Map.of("bytes", 0, "flops", 6.4e11)));
    for (long length : LENGTHS) {
      kernel("Culebra auto", length, 2000);
      kernel("torch 2.11", length, 1000);
    }
    results.put(
        Result.of(new Result.Key("calls", "one pointer", "C"), "ns", new double[] {2}, Map.of()));
    results.put(
        Result.of(
            new Result.Key("calls", "one pointer", "as long"),
            "ns",
            new double[] {8},
            Map.of("allocated_bytes", 0.0)));
    results.put(Result.failed(new Result.Key("calls", "<b>", "x|y"), "ns", "a & b"));
    results.complete();
  }

  private void kernel(String who, long length, double micros) throws IOException {
    results.put(
        Result.of(
            new Result.Key("kernels", "softmax f32 4096 x " + length, who),
            "us",
            samples(micros),
            Map.ofEntries(
                Map.entry("operation", "softmax"),
                Map.entry("type", "f32"),
                Map.entry("rows", 4096),
                Map.entry("length", length),
                Map.entry("bytes", 2 * 4096 * length * 4),
                Map.entry("flops", 5.0 * 4096 * length),
                Map.entry("ceiling", "copy by the driver"),
                Map.entry("turns", TURNS),
                Map.entry("error", 1e-7),
                Map.entry("allowed_error", 4e-6))));
  }

  /** As many as a claim takes, with a hundredth to either side. */
  private static double[] samples(double time) {
    double[] samples = new double[TURNS];
    Arrays.setAll(samples, i -> time * (i % 3 == 0 ? 1.01 : i % 3 == 1 ? 0.99 : 1));
    return samples;
  }

  private int report(String... arguments) {
    return Report.run(
        arguments,
        new PrintStream(new ByteArrayOutputStream(), true, UTF_8),
        new PrintStream(err, true, UTF_8));
  }

  private String page() throws IOException {
    assertEquals(
        0, report("--html", html.toString(), results.file().toString()), err.toString(UTF_8));
    return Files.readString(html);
  }

  private String tables() throws IOException {
    assertEquals(0, report("--markdown", markdown.toString(), results.file().toString()));
    return Files.readString(markdown);
  }

  @Test
  void thePageAsksNoServerAndRunsNoScript() throws Exception {
    String page = page();
    for (String foreign : List.of("http:", "https:", "//", "<script", "url(", "@import", "<link")) {
      assertFalse(page.contains(foreign), foreign);
    }
  }

  @Test
  void everyDrawingIsWellFormedAndInsideItsFrame() throws Exception {
    String page = page();
    int drawings = 0;
    for (int at = page.indexOf("<svg"); at >= 0; at = page.indexOf("<svg", at + 1)) {
      String svg = page.substring(at, page.indexOf("</svg>", at) + 6);
      var document =
          DocumentBuilderFactory.newInstance()
              .newDocumentBuilder()
              .parse(new InputSource(new StringReader(svg)));
      String[] frame = document.getDocumentElement().getAttribute("viewBox").split(" ", -1);
      double width = Double.parseDouble(frame[2]);
      double height = Double.parseDouble(frame[3]);
      for (String tag : List.of("circle", "line", "rect")) {
        var shapes = document.getElementsByTagName(tag);
        for (int i = 0; i < shapes.getLength(); i++) {
          var attributes = shapes.item(i).getAttributes();
          for (String name : List.of("x", "x1", "x2", "cx", "y", "y1", "y2", "cy")) {
            if (attributes.getNamedItem(name) != null) {
              double place = Double.parseDouble(attributes.getNamedItem(name).getNodeValue());
              double most = name.startsWith("x") || name.equals("cx") ? width : height;
              assertTrue(place >= 0 && place <= most, () -> svg);
            }
          }
        }
      }
      drawings++;
    }
    assertEquals(4, drawings, "pairs, calls, roofline, rates");
  }

  @Test
  void whatPeopleMeasuredIsTextNotMarkup() throws Exception {
    assertTrue(page().contains("GPU &lt;7&gt;, 2026-01-02, commit abc"));
    assertFalse(page().contains("<b>"));
    assertTrue(tables().contains("| &lt;b> | x\\|y | a &amp; b |"));
    assertTrue(tables().contains("## GPU &lt;7>, 2026-01-02, commit abc\n"));
    // A name of several lines, and with what UTF-8 cannot hold.
    Path strange = folder.resolve("strange.json");
    Files.writeString(
        strange,
        Files.readString(results.file()).replace("GPU <7>", "a\\n|b\\ud800 \\\"><script>"));
    assertEquals(
        0,
        report("--html", html.toString(), "--markdown", markdown.toString(), strange.toString()),
        err.toString(UTF_8));
    assertTrue(Files.readString(html).contains("? &quot;&gt;&lt;script&gt;, 2026-01-02"));
    assertTrue(
        Files.readString(markdown).contains("## a \\|b? \">&lt;script>, 2026-01-02, commit abc\n"));
  }

  @Test
  void tablesHaveRatesRatiosAndSharesOfTheCeiling() throws Exception {
    String tables = tables();
    // 2 * 4096 * 131072 * 4 bytes in 2 ms, of 4 TB/s
    assertTrue(
        tables.contains(
            "| softmax f32 4096 x 131072 | Culebra auto | 2.00 ms | 1.98 ms to 2.02 ms | 2.15 TB/s"
                + " | 54 % | 2.000 (2.000 to 2.000) | 1.0e-07 / 4.0e-06 |"),
        tables);
    assertTrue(
        tables.contains("| cuLaunchKernel, 3 arguments | Culebra | 3.13 us | 3.10 us | 1.010 |"),
        tables);
    assertTrue(
        tables.contains("| one pointer | as long | 8.00 ns | 8.00 ns to 8.00 ns | 4.00 | 0 |"),
        tables);
  }

  @Test
  void rowsOfLaunchTablesStandBesideTheirRates() throws Exception {
    results.put(
        Result.of(
            new Result.Key("tables", "reduce: sum f32 64 x 1000", "Culebra"),
            "us",
            samples(1000),
            Map.of(
                "table",
                "reduce",
                "table_rows",
                List.of("CULEBRA_REDUCE(sum, f32, 128, 16384)", "CULEBRA_REDUCE_FEW_ROWS(512)"),
                "bytes",
                2_250_000_000L,
                "ceiling",
                "read")));
    String tables = tables();
    assertTrue(tables.contains("### Launch table: reduce"), tables);
    assertTrue(
        tables.contains(
            "| REDUCE(sum, f32, 128, 16384), REDUCE_FEW_ROWS(512) | sum f32 64 x 1000 | 1.00 ms |"
                + " 2.25 TB/s | 50 % |"),
        tables);
  }

  @Test
  void goalsAreCalledMetMissedOrNotMeasured() throws Exception {
    String tables = tables();
    for (String row :
        List.of(
            "| yes | within 3 % of C, 0 B | 1.010 (1.010 to 1.010) of C, 3.13 us, 0 B | Culebra | "
                + " |",
            "| MISSED | at least 3.8 TB/s | 2.15 TB/s (at least 2.13 TB/s) | Culebra auto | NO"
                + " REASON GIVEN |",
            "| softmax f32 16384 x 8192 | not measured | at least 3.8 TB/s |  | Culebra auto | "
                + " |")) {
      assertTrue(tables.contains(row), tables);
    }
  }

  @Test
  void whatIsWrongWithARunComesFirst() throws Exception {
    results.note("spin_ns", List.of(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 5.0, 5.0));
    Path emulated = folder.resolve("emulated.json");
    Files.writeString(
        emulated,
        Files.readString(results.file())
            .replace("\"emulator\" : false", "\"emulator\" : true")
            .replace("\"complete\" : true", "\"complete\" : false"));
    assertEquals(0, report("--html", html.toString(), emulated.toString()));
    String page = Files.readString(html);
    assertTrue(page.contains("No GPU: the driver is the emulator."));
    assertTrue(page.contains("cut short"));
    assertTrue(page.contains("took 5.00 of its median"));
    assertFalse(page.contains("Roofline"));
    assertFalse(page.contains("Goals"));
  }

  private static final List<Long> LENGTHS = List.of(1000L, 32000L, 131072L);

  /** The part of the page that has the figure of a title. */
  private String figure(String title) throws IOException {
    String page = page();
    int at = page.indexOf("<h3>" + title + "</h3>");
    assertTrue(at >= 0, () -> "no figure " + title);
    return page.substring(at, page.indexOf("</figure>", at));
  }

  private void kernel(String problem, String who, double micros, Map<String, Object> details)
      throws IOException {
    results.put(Result.of(new Result.Key("kernels", problem, who), "us", samples(micros), details));
  }

  @Test
  void ratesStandInTheUnitOfTheirRoof() throws Exception {
    assertTrue(figure("softmax, f32, 4096 rows").contains(">TB/s<"));
    assertTrue(figure("softmax, f32, 4096 rows").contains("copy by the driver 4.00"));
    // 2 * 4096 * 131072 * 4 bytes in 1 ms
    assertTrue(figure("softmax, f32, 4096 rows").contains("torch 2.11: 4.29 at 128Ki"));

    for (long length : List.of(512L, 2048L, 8192L)) {
      for (String who : List.of("Culebra flash", "torch 2.11")) {
        kernel(
            "attention " + length,
            who,
            1000,
            Map.of(
                "operation",
                "attention",
                "sweep",
                "attention, bf16, 128 wide",
                "rows",
                16384 / length,
                "length",
                length,
                "bytes",
                1000,
                "flops",
                (who.equals("torch 2.11") ? 3.45e8 : 4e8) * 1000,
                "ceiling",
                "mma.sync bf16"));
      }
    }
    String attention = figure("attention, bf16, 128 wide");
    assertTrue(attention.contains(">TFLOP/s<"));
    assertTrue(attention.contains("mma.sync bf16 640"));
    assertTrue(attention.contains("Culebra flash: 400 at 8Ki"), attention);
    assertTrue(attention.contains("torch 2.11: 345 at 512"), attention);
    assertTrue(
        tables().contains("| 400 TFLOP/s | 63 % | "),
        "of what arithmetic does at most, not of bytes");
  }

  @Test
  void contendersOfOneFigureHaveColoursOfTheirOwn() {
    Colours colours = new Colours();
    List<String> all =
        List.of("torch flash", "torch cuDNN", "C", "Culebra a", "Culebra b", "Culebra c");
    assertEquals(6, all.stream().map(colours::of).distinct().count());
    assertEquals(colours.of("torch cuDNN"), colours.of("torch cuDNN"));
  }

  /** Whatever variants a file holds: those of top-k come later than this figure. */
  @Test
  void thePapersFiguresAreDrawnAgainstTheSafeForm() throws Exception {
    Map<String, Double> micros =
        Map.of(
            "Culebra safe unfused", 500.0,
            "Culebra safe fused", 125.0,
            "Culebra online fused", 100.0,
            "torch 2.11", 1000.0);
    for (long length : LENGTHS) {
      for (Map.Entry<String, Double> each : micros.entrySet()) {
        if (length != 1000 || !each.getKey().contains("safe fused")) { // a hole
          kernel(
              "topk " + length,
              each.getKey(),
              each.getValue(),
              Map.of(
                  "operation",
                  "softmax-top-k",
                  "type",
                  "f32",
                  "rows",
                  4000,
                  "k",
                  5,
                  "turns",
                  TURNS,
                  "length",
                  length));
        }
      }
    }
    String page = page();
    String paper = page.substring(page.indexOf("As in the online softmax paper"));
    String figure = paper.substring(paper.indexOf("<h3>softmax-top-k, f32, 4000 rows, K = 5</h3>"));
    assertTrue(figure.contains("The line is Culebra safe unfused."));
    assertTrue(figure.contains("Culebra online fused at 128Ki: 5.000 (5.000 to 5.000), 100"));
    assertFalse(figure.contains("torch 2.11 at 32k: "), "the paper has none");
    assertTrue(figure.contains("Culebra safe unfused at 1k: 1.000"));
    assertFalse(figure.contains("Culebra safe fused at 1k"));
    // Without a safe form there is nothing to hold others against.
    assertFalse(paper.contains("<h3>softmax, f32, 4096 rows</h3>"));
  }

  @Test
  void linesOnTheGroundAreDrawnByTheirLogarithm() throws Exception {
    assertFalse(figure("softmax, f32, 4096 rows").contains(">0.1<"));
    for (long length : LENGTHS) {
      kernel(
          "small " + length,
          "Culebra online",
          1000,
          Map.of(
              "operation",
              "small",
              "type",
              "f32",
              "rows",
              10,
              "length",
              length,
              "bytes",
              length * 4000,
              "ceiling",
              "read"));
    }
    assertTrue(figure("small, f32, 10 rows").contains(">0.1<"));
  }

  @Test
  void aRunSaysWhereItWasCut() throws Exception {
    results.note("cut", List.of("driver", "threads"));
    Path cut = folder.resolve("cut.json");
    Files.writeString(
        cut,
        Files.readString(results.file()).replace("\"complete\" : true", "\"complete\" : false"));
    assertEquals(0, report("--markdown", markdown.toString(), cut.toString()));
    assertTrue(Files.readString(markdown).contains("cut short in driver, threads: what is not"));
  }

  /** Of nothing there is a page, which says that there is nothing. */
  @Test
  void aFileWithoutResultsMakesAPage() throws Exception {
    results = ResultsFile.open(folder.resolve("empty.json"), "short", Runs.of("abcdef0123-dirty"));
    results.asked(List.of("pairs", "start"));
    String page = page();
    assertTrue(page.contains("commit abcdef0 with changes</h2>"), page);
    assertTrue(page.contains("cut short in pairs, start: what is not"), page);
    assertFalse(page.contains("<figure>"));
    assertTrue(tables().contains("| softmax f32 16384 x 8192 | not measured |"));
  }

  /** Whatever a detail says, a drawing has no height that is no number. */
  @Test
  void resultsWithoutWorkAreNotDrawn() throws Exception {
    for (long length : LENGTHS) {
      kernel(
          "idle " + length,
          "Culebra safe",
          1000,
          Map.of("operation", "idle", "rows", 10, "length", length, "bytes", 0));
    }
    String page = page();
    assertFalse(page.contains("NaN") || page.contains("Infinity"));
    assertFalse(page.contains("<h3>idle"));
  }

  @Test
  void aLogarithmicAxisHasMarksHoweverShortItIs() {
    assertEquals(List.of(2.0, 5.0), new Axis(1.2, 8.1, 0, 100, true).ticks());
    assertEquals(List.of(5.0, 10.0, 20.0), new Axis(3, 40, 0, 100, true).ticks());
    assertEquals(List.of(1.0, 10.0, 100.0), new Axis(1, 300, 0, 100, true).ticks());
  }

  @Test
  void wrongCommandLinesAndFilesHaveTheirStatus() throws Exception {
    assertEquals(2, report());
    assertEquals(2, report("--html"));
    assertEquals(2, report("--hmtl", html.toString(), results.file().toString()));
    assertTrue(err.toString(UTF_8).contains("--hmtl is no option"), err.toString(UTF_8));
    Path blocked = results.file().resolve("page.html");
    assertEquals(2, report("--html", blocked.toString(), results.file().toString()));
    assertTrue(err.toString(UTF_8).contains("page.html cannot be written"), err.toString(UTF_8));
    assertEquals(2, report(results.file().toString()));
    assertEquals(2, report("--html", html.toString(), folder.resolve("none.json").toString()));
  }

  @Test
  void numbersHaveThreeDigits() {
    assertEquals("1.23 us", Format.time(1.2345e-6));
    assertEquals("12.3 ns", Format.time(1.2345e-8));
    assertEquals("123 ms", Format.time(0.12345));
    assertEquals("100", Format.number(99.96));
    assertEquals("10.0", Format.number(9.996));
    assertEquals("4.27 TB/s", Format.rate(4.269e12));
    assertEquals("64k", Format.count(64000));
    assertEquals("100", Format.count(100));
    assertEquals("1M", Format.count(1e6));
    assertEquals("0.1", Format.count(0.1));
    assertEquals("1e-4", Format.count(1e-4));
    assertEquals("0", Format.count(0));
    assertEquals("2^30", Format.count(1L << 30));
    assertEquals("128Ki", Format.count(131072));
    assertEquals("512", Format.count(512));
  }
}
