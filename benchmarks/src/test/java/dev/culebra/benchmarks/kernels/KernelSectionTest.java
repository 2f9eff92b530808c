package dev.culebra.benchmarks.kernels;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.Stream;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.session.Allowance;
import dev.culebra.benchmarks.session.Machine;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.bindings.DriverProbe;
import dev.culebra.ops.Reduction.Op;
import dev.culebra.testkit.PhiloxReference;
import dev.culebra.testkit.SamplingReference;
import dev.culebra.testkit.SoftmaxBackwardReference;
import dev.culebra.testkit.StorageType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the harness where a driver is, which may be the emulator. */
class KernelSectionTest {
  @TempDir Path folder;

  private Session session() throws Exception {
    Device device = Device.of(0);
    return new Session(
        ResultsFile.open(
            folder.resolve("bench.json"), "smoke", Machine.about(DriverProbe.run(), device)),
        Scale.SMOKE,
        device,
        Allowance.unlimited());
  }

  @Test
  void everyProblemIsMeasuredAndProvedAndTheFileFitsTheSchema() throws Exception {
    Session session = session();
    new CeilingSection().measure(session);
    KernelSection.operations("").measure(session);
    KernelSection.paper("").measure(session);

    Results read = Results.read(session.results().file());
    assertEquals(List.of(), session.results().failures());
    assertTrue(read.of(Ceilings.SECTION).size() >= 3);
    for (Result result : read.of(KernelSection.NAME)) {
      assertTrue(result.number("checked_elements").orElse(0.0) > 0, result.key().toString());
      assertEquals(result.samples().length, result.number("turns").orElse(0.0));
      boolean isCopy = result.key().who().equals(ProblemRun.COPY);
      assertEquals(!isCopy, result.text("kernel").orElse("").startsWith("culebra_"));
    }
    for (Result.Key key :
        List.of(
            new Result.Key(KernelSection.NAME, "softmax f32 37 x 1000", "Culebra safe"),
            new Result.Key(
                KernelSection.NAME, "softmax + top-5 bf16 37 x 1000", "Culebra safe unfused"),
            new Result.Key(KernelSection.NAME, "softmax + top-5 f32 10 x 100", "Culebra fused"),
            new Result.Key(KernelSection.NAME, "softmax + top-30 f32 40 x 1000", "Culebra fused"),
            new Result.Key(KernelSection.NAME, "log-softmax bf16 64 x 128", "Culebra auto"),
            new Result.Key(KernelSection.NAME, "softmax backward bf16 37 x 1000", "Culebra"),
            new Result.Key(KernelSection.NAME, "log-softmax backward f32 37 x 1000", "Culebra"),
            new Result.Key(
                KernelSection.NAME, "argmax bf16 of 37 segments, on average of 100", "Culebra"),
            new Result.Key(KernelSection.NAME, "sum f32 of columns, 1000 x 37", "Culebra"),
            new Result.Key(KernelSection.NAME, "l2_norm bf16 37 x 1000", "Culebra"),
            new Result.Key(KernelSection.NAME, "ragged softmax f32 37 x 1000", "Culebra auto"),
            new Result.Key(KernelSection.NAME, "masked softmax bf16 64 x 128", "Culebra auto"),
            new Result.Key(
                KernelSection.NAME, "additively masked softmax bf16 64 x 128", "Culebra auto"))) {
      assertTrue(read.find(key).isPresent(), key.toString());
    }
  }

  /** Kernels of what tables have no row for are no kernels: the list of shapes has all of them. */
  @Test
  void everyRowOfEveryLaunchTableHasAProblem() {
    KernelCatalog catalog = KernelCatalog.open();
    Set<String> families =
        catalog.images().stream().map(KernelCatalog.Image::family).collect(Collectors.toSet());
    families.removeAll(Set.of("ceilings", "selftest", "ptx", "intrinsics")); // not shipped
    families.removeIf(family -> family.startsWith("attention")); // which no shape here is of
    assertEquals(families, Set.copyOf(TableRow.FAMILIES));
    Set<String> shown =
        new LaunchTableOperation()
            .problems(Extent.USUAL).stream()
                .flatMap(
                    problem ->
                        tableRows(problem).stream()
                            .map(row -> problem.parameters().get("table") + " " + row))
                .collect(Collectors.toSet());
    Set<String> missing = new TreeSet<>();
    for (String family : TableRow.FAMILIES) {
      long lines =
          catalog.launchTable(family).stream().filter(line -> line.startsWith("CULEBRA_")).count();
      assertEquals(lines, TableRow.all(catalog, family).size(), family);
      TableRow.of(catalog, family).forEach(row -> missing.add(family + " " + row));
    }
    missing.removeAll(shown);
    assertEquals(Set.of(), missing);
  }

  private static List<String> tableRows(Problem problem) {
    List<?> rows = (List<?>) Objects.requireNonNull(problem.parameters().get("table_rows"));
    return rows.stream().map(String::valueOf).toList();
  }

  /** What a shape is said to show runs for it: a plan's border that moves shows here. */
  @Test
  void plansRunForTheShapesThatShowThem() {
    List<String> wrong = new ArrayList<>();
    try (Context context = Context.primary(Device.of(0))) {
      for (Problem problem : new LaunchTableOperation().problems(Extent.USUAL)) {
        String row = tableRows(problem).getFirst();
        if (!row.startsWith(TableRow.PLAN)) {
          continue;
        }
        String variant = row.split(", ", -1)[4];
        String kernel = problem.implementations().getFirst().kernel().apply(context);
        List<String> parts =
            variant.equals("split")
                ? List.of("_states_", "_split_", "_sums_") // what reads the pieces
                : List.of("_" + variant + "_");
        if (parts.stream().noneMatch(kernel::contains)) {
          wrong.add(problem.name() + " runs " + kernel + ", not " + row);
        }
      }
    }
    assertEquals(List.of(), wrong);
  }

  /** The same harness, over the tables' rows that are for short rows. */
  @Test
  void rowsOfLaunchTablesAreMeasuredAndProved() throws Exception {
    Session session = session();
    KernelSection.launchTables().measure(session);
    assertEquals(List.of(), session.results().failures());
    Results read = Results.read(session.results().file());
    List<Result> tables = read.of(KernelSection.TABLES);
    assertEquals(List.of(), read.of(KernelSection.NAME));
    assertTrue(tables.size() > 100, "only " + tables.size());
    for (String family : TableRow.FAMILIES) {
      assertEquals(
          !family.equals("softmax_split"), // whose rows are long
          tables.stream().anyMatch(result -> result.text("table").orElse("").equals(family)),
          family);
    }
  }

  /** Whatever is wrong with a contender, it gets a reason and no time. */
  @Test
  void cheatsAreCaught() throws Exception {
    Session session = session();
    measure(session, "launches nothing", (tensors, stream) -> {});
    measure(
        session,
        "writes zeros",
        (tensors, stream) -> tensors.outputs().getFirst().range().zero(stream));
    measure(
        session,
        "copies",
        (tensors, stream) ->
            tensors
                .out(0, ElementType.F32)
                .range()
                .copyFromAsync(tensors.in(0, ElementType.F32).range(), stream));
    measure(
        session,
        "leaves the last element",
        (tensors, stream) -> {
          var in = tensors.in(0, ElementType.F32).range();
          long most = in.length() - 1;
          tensors
              .out(0, ElementType.F32)
              .range()
              .view(0, most)
              .copyFromAsync(in.view(0, most), stream);
        });

    assertReason(session, "launches nothing", "still poison");
    assertReason(session, "writes zeros", "wrong");
    assertReason(session, "leaves the last element", "2 are still poison");
    Result right =
        session
            .results()
            .find(new Result.Key(KernelSection.NAME, "copies", "Culebra"))
            .orElseThrow();
    assertTrue(right.failure().isEmpty(), () -> right.failure().orElse(""));
  }

  private static void assertReason(Session session, String problem, String expected) {
    String reason =
        session
            .results()
            .find(new Result.Key(KernelSection.NAME, problem, "Culebra"))
            .flatMap(Result::failure)
            .orElse("no failure");
    assertTrue(reason.contains(expected), reason);
  }

  /** Contenders for a copy. */
  private static void measure(Session session, String name, Problem.Call call) throws Exception {
    TensorSpec tensor = TensorSpec.of(ElementType.F32, 10L, 100L);
    Problem problem =
        new Problem(
            "copy",
            name,
            Map.of("type", "f32", "rows", 10L, "length", 100L),
            List.of(tensor),
            List.of(tensor),
            2 * tensor.bytes(),
            0,
            Ceilings.COPY,
            List.of(new Problem.Implementation("Culebra", context -> "none", context -> call)),
            reader ->
                RowCheck.judge(
                    reader,
                    10,
                    100,
                    100,
                    row -> row,
                    (actual, truth, row) -> {
                      double worst = 0;
                      for (int i = 0; i < truth.length; i++) {
                        worst = Math.max(worst, Math.abs(actual[i] - truth[i]));
                      }
                      return worst;
                    }),
            0,
            Map.of());
    try (Context context = Context.primary(session.device());
        Stream stream = context.newStream();
        TorchPeer none = TorchPeer.start("")) {
      ProblemRun.measure(
          session, KernelSection.NAME, 4, problem, context, stream, none, new Ceilings(session), 0);
    }
  }

  @Test
  void hostAndDeviceMakeTheSameRandomValues() throws Exception {
    try (Context context = Context.primary(Device.of(0));
        Stream stream = context.newStream();
        var f32 = context.allocate(ElementType.F32, 1000, stream);
        var bf16 = context.allocate(ElementType.BF16, 1000, stream);
        var i64 = context.allocate(ElementType.I64, 1000, stream)) {
      RandomValues values = new RandomValues(-7);
      DeviceData data = new DeviceData(context, stream);
      data.fill(f32, values);
      data.fill(bf16, values);
      data.fill(i64, values);
      long[] integers = new long[1000];
      i64.copyTo(integers);
      float[] single = new float[1000];
      f32.copyTo(single);
      float[] widened = new float[1000];
      bf16.widenTo(widened);
      int different = 0;
      for (int i = 0; i < 1000; i++) {
        assertEquals(values.at(i, TensorSpec.storage(ElementType.F32)), single[i]);
        assertEquals(values.at(i, TensorSpec.storage(ElementType.BF16)), widened[i]);
        assertEquals(values.in(ElementType.I64).applyAsDouble(i), (double) integers[i]);
        assertTrue(single[i] >= -8 && single[i] < 8);
        assertTrue(integers[i] >= 0 && integers[i] < 1 << 24);
        different += single[i] != single[0] ? 1 : 0;
      }
      assertTrue(different > 990);
      assertEquals(0, data.countPoison(f32));
      f32.view(3, 5).fill(Double.NaN, stream);
      assertEquals(2, data.countPoison(f32));
    }
  }

  /** A sum that was lost shows, however little of the result it is. */
  @Test
  void theWayBackIsJudgedByItsSum() {
    SplittableRandom random = new SplittableRandom(5);
    double[] y = random.doubles(10_000, -8, 8).toArray();
    double[] dy = random.doubles(10_000, -8, 8).toArray();
    for (boolean log : new boolean[] {false, true}) {
      double[] truth = SoftmaxBackwardReference.rows(y, dy, y.length, 1, log);
      for (StorageType type : new StorageType[] {StorageType.F32, StorageType.BF16}) {
        double[] rounded = Arrays.stream(truth).map(type::round).toArray();
        double allowed = type.unitRoundoff();
        assertTrue(SoftmaxBackwardProblem.error(rounded, y, dy, log, type) <= allowed);
        double[] withoutSum = new double[y.length];
        Arrays.setAll(withoutSum, i -> log ? dy[i] : y[i] * dy[i]);
        for (double[] wrong : new double[][] {new double[y.length], withoutSum}) {
          assertTrue(SoftmaxBackwardProblem.error(wrong, y, dy, log, type) > 10 * allowed);
        }
        rounded[77] = Double.NaN;
        assertTrue(Double.isNaN(SoftmaxBackwardProblem.error(rounded, y, dy, log, type)));
      }
    }
  }

  /** torch_peer.py makes the same masks, by the same arithmetic. */
  @Test
  void masksAreFunctionsOfThePlace() {
    int[] lengths = new int[4];
    Arrays.setAll(lengths, row -> MaskedSoftmaxProblem.rowLength(row, 32000));
    assertArrayEquals(new int[] {1, 3762, 16227, 19988}, lengths);
    assertFalse(MaskedSoftmaxProblem.Mask.LENGTHS.counts(1, 32000, 3762));
    assertTrue(MaskedSoftmaxProblem.Mask.LENGTHS.counts(1, 32000, 3761));
    double counting = 0;
    for (int place = 0; place < 32000; place++) {
      counting += MaskedSoftmaxProblem.Mask.BYTES.counts(3999, 32000, place) ? 1 : 0;
    }
    assertEquals(24000, counting, 500);
  }

  /** A token that its bits do not fall on is wrong, however right its probability is. */
  @Test
  void aSamplingIsJudgedByItsTokenToo() {
    double[] logits = new SplittableRandom(11).doubles(1000, -8, 8).toArray();
    SamplingReference truth = new SamplingReference(logits, 1, 50, 1, 0, 1e-9);
    long bits = PhiloxReference.bits(1, 0, 7);
    int right = -1;
    for (int token = 0; token < logits.length; token++) {
      if (truth.mayDraw(bits, token)) {
        right = token;
      }
    }
    double probability = truth.probability(right);
    assertEquals(0, SamplingProblem.error(logits, 50, 1, 7, right, probability), 1e-9);
    assertEquals(0.01, SamplingProblem.error(logits, 50, 1, 7, right, probability * 1.01), 1e-9);
    assertTrue(Double.isNaN(SamplingProblem.error(logits, 50, 1, 7, right, Double.NaN)));
    for (long wrong : new long[] {-1, logits.length, right == 0 ? 1 : 0}) {
      double itsOwn = wrong < 0 || wrong >= logits.length ? 0 : truth.probability((int) wrong);
      assertEquals(
          Double.POSITIVE_INFINITY, SamplingProblem.error(logits, 50, 1, 7, wrong, itsOwn));
    }
  }

  /** Each reduction is held to its truth in the measure that its bound is of. */
  @Test
  void reductionsAreJudgedByTheirKind() {
    double[] values = {3, -4, 1, 3};
    assertEquals(0, ReductionProblem.error(Op.MAX, 3, values));
    assertEquals(1, ReductionProblem.error(Op.MIN, -5, values));
    assertEquals(0, ReductionProblem.error(Op.ARGMAX, 3, values)); // as torch may say
    assertEquals(2, ReductionProblem.error(Op.ARGMAX, 2, values));
    assertEquals(0, ReductionProblem.error(Op.ARGMIN, 1, values));
    assertEquals(Double.POSITIVE_INFINITY, ReductionProblem.error(Op.ARGMIN, -1, values));
    assertEquals(Double.POSITIVE_INFINITY, ReductionProblem.error(Op.ARGMAX, 4, values));
    assertEquals(1.0 / 11, ReductionProblem.error(Op.SUM, 4, values), 1e-15);
    assertEquals(1.0 / 11, ReductionProblem.error(Op.MEAN, 1, values), 1e-15);
    assertEquals(0.5, ReductionProblem.error(Op.L2_NORM, 1.5 * Math.sqrt(35), values), 1e-15);
    assertTrue(Double.isNaN(ReductionProblem.error(Op.LOGSUMEXP, Double.NaN, values)));
  }

  /** Places that are not the largest, or the same twice, are wrong whatever stands beside them. */
  @Test
  void topKIsJudgedByItsPlacesToo() {
    double[] truth = {0.1, 0.4, 0.2, 0.3};
    double[] right = {0.4, 0.3};
    assertEquals(0, TopKProblem.error(right, new double[] {1, 3}, truth, 0));
    assertEquals(0.5, TopKProblem.error(right, new double[] {2, 3}, truth, 0), 1e-9);
    assertEquals(
        0.25, TopKProblem.error(new double[] {0.5, 0.3}, new double[] {1, 3}, truth, 0), 1e-9);
    assertEquals(0.4, TopKProblem.error(right, new double[] {2, 3}, truth, 0.1), 1e-9);
    for (double[] places : new double[][] {{1, 1}, {1, -1}, {1, 4}, {1, Double.NaN}}) {
      assertEquals(
          Double.POSITIVE_INFINITY,
          TopKProblem.error(right, places, truth, 0),
          () -> Arrays.toString(places));
    }
  }
}
