package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.cli.TensorFiles.Contents;
import dev.culebra.io.DType;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.ReductionReference;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ReduceCommandTest {
  private static final int ROWS = 5;
  private static final int LENGTH = 700;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16", "F32", "F64"})
  void everyTypeGivesItsAccumulationType(DType dtype) throws IOException {
    StorageType type = TensorFiles.storage(dtype);
    double[] values = HardInput.NORMAL.rows(ROWS, LENGTH, type, 1);
    Path in =
        TensorFiles.write(
            folder.resolve("in" + TensorFiles.extension(dtype)), dtype, values, ROWS, LENGTH);
    Path out = folder.resolve("out.safetensors");

    CommandRun run = CommandRun.of("reduce", in.toString(), "--op", "sum", "-o", out.toString());

    assertEquals(0, run.status(), run::err);
    Contents result = TensorFiles.read(out);
    assertEquals(dtype == DType.F64 ? DType.F64 : DType.F32, result.spec().dtype());
    assertArrayEquals(new long[] {ROWS}, result.spec().shape());
    judge(ReductionReference.SUM, values, ROWS, LENGTH, result.values());
  }

  @ParameterizedTest
  @EnumSource(ReductionReference.class)
  void everyOperationAlongTheLastAxis(ReductionReference reduction) throws IOException {
    double[] values = HardInput.MIXED.rows(ROWS, LENGTH, StorageType.F32, 2);
    CommandRun run = printed(values, ROWS, LENGTH, "--op", name(reduction));
    assertEquals(0, run.status(), run::err);
    judge(reduction, values, ROWS, LENGTH, numbers(run));
  }

  @ParameterizedTest
  @EnumSource(ReductionReference.class)
  void everyOperationOverAll(ReductionReference reduction) throws IOException {
    double[] values = HardInput.MIXED.rows(ROWS, LENGTH, StorageType.F32, 3);
    CommandRun run = printed(values, ROWS, LENGTH, "--op", name(reduction), "--axis", "all");
    assertEquals(0, run.status(), run::err);
    judge(reduction, values, 1, ROWS * LENGTH, numbers(run));
  }

  @ParameterizedTest
  @EnumSource(ReductionReference.class)
  void overAllInPieces(ReductionReference reduction) throws IOException {
    double[] values = HardInput.MIXED.rows(ROWS, LENGTH, StorageType.F32, 4);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, ROWS, LENGTH);
    CommandRun run =
        CommandRun.of(
            2 * 4 * LENGTH,
            new byte[0],
            "reduce",
            in.toString(),
            "--op",
            name(reduction),
            "--axis",
            "all");
    assertEquals(0, run.status(), run::err);
    judge(reduction, values, 1, ROWS * LENGTH, numbers(run));
  }

  /** A tenth between 2^16 terms that cancel, wherever the pieces are cut. */
  @ParameterizedTest
  @CsvSource({"F32, 65536", "F32, 1048576", "F64, 131072", "F16, 32768", "BF16, 1048576"})
  void overAllWithCancellation(DType dtype, long chunkBytes) throws IOException {
    double large = dtype == DType.F64 ? 0x1p55 : dtype == DType.F16 ? 0x1p14 : 0x1p25;
    int half = 1 << 15;
    double[] values = new double[2 * half + 1];
    Arrays.fill(values, 0, half, large);
    Arrays.fill(values, half, 2 * half, -large);
    values[2 * half] = 0.1;
    values[half / 2] = 0.1;
    values[half + half / 2] = 0.1;
    StorageType type = TensorFiles.storage(dtype);
    double[] stored = type.decode(MemorySegment.ofArray(type.encode(values)));
    Path in =
        TensorFiles.write(
            folder.resolve("in" + TensorFiles.extension(dtype)), dtype, values, values.length);
    String[] command = {"reduce", in.toString(), "--op", "sum", "--axis", "all"};
    CommandRun run = CommandRun.of(chunkBytes, new byte[0], command);
    assertEquals(0, run.status(), run::err);
    double truth = ReductionReference.SUM.of(stored);
    assertEquals(3 * stored[2 * half], truth, 1e-15);
    double ulp = dtype == DType.F64 ? 0x1p-52 : 0x1p-23;
    assertEquals(truth, Double.parseDouble(run.out().strip()), ulp * truth);
    assertEquals(run.out(), CommandRun.of(chunkBytes, new byte[0], command).out());
    assertEquals(run.out(), CommandRun.of(command).out(), "in one piece");
  }

  @Test
  void alongTheLastAxisInPieces() throws IOException {
    double[] values = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 5);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, ROWS, LENGTH);
    CommandRun run =
        CommandRun.of(2 * 4 * LENGTH, new byte[0], "reduce", in.toString(), "--op", "max");
    assertEquals(0, run.status(), run::err);
    judge(ReductionReference.MAX, values, ROWS, LENGTH, numbers(run));
  }

  @ParameterizedTest
  @EnumSource(ReductionReference.class)
  void nanAndInfinitiesKeepTheContract(ReductionReference reduction) throws IOException {
    for (HardInput input :
        List.of(HardInput.NAN, HardInput.POSITIVE_INFINITY, HardInput.ALL_NEGATIVE_INFINITY)) {
      double[] values = input.rows(2, 33, StorageType.F32, 6);
      CommandRun run = printed(values, 2, 33, "--op", name(reduction));
      assertEquals(0, run.status(), run::err);
      judge(reduction, values, 2, 33, numbers(run));
    }
  }

  @ParameterizedTest
  @CsvSource({"last, 2", "all, 1"})
  void ofNothingTheIdentity(String axis, int results) throws IOException {
    for (ReductionReference reduction : ReductionReference.values()) {
      CommandRun run = printed(new double[0], 2, 0, "--op", name(reduction), "--axis", axis);
      assertEquals(0, run.status(), run::err);
      double[] expected = new double[results];
      Arrays.fill(expected, reduction.of());
      assertArrayEquals(expected, numbers(run));
    }
  }

  @Test
  void noRowsGiveNoResults() throws IOException {
    CommandRun run = printed(new double[0], 0, 4, "--op", "sum");
    assertEquals(0, run.status(), run::err);
    assertEquals("", run.out());
  }

  @Test
  void aScalarHasNoLastAxisButCanBeReduced() throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[] {7});
    assertEquals(3, CommandRun.of("reduce", in.toString(), "--op", "sum").status());
    CommandRun all = CommandRun.of("reduce", in.toString(), "--op", "sum", "--axis", "all");
    assertEquals("7.0", all.out().strip());
  }

  @Test
  void theWholeAsAScalarFile() throws IOException {
    double[] values = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F64, 7);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F64, values, ROWS, LENGTH);
    Path out = folder.resolve("out.npy");
    CommandRun run =
        CommandRun.of(
            "reduce", in.toString(), "--op", "mean", "--axis", "all", "-o", out.toString());
    assertEquals(0, run.status(), run::err);
    Contents result = TensorFiles.read(out);
    assertEquals("F64[]", result.spec().toString());
    judge(ReductionReference.MEAN, values, 1, ROWS * LENGTH, result.values());
  }

  @Test
  void jsonHasTheValues() throws IOException {
    CommandRun run = printed(new double[] {1, 2, Double.NaN, 4}, 2, 2, "--op", "max", "--json");
    assertEquals(0, run.status(), run::err);
    Map<String, Object> json = JsonText.parse(run.out());
    assertEquals(List.of(2.0, "NaN"), json.get("values"));
    assertEquals(List.of(2L), json.get("resultShape"));
  }

  @Test
  void manyValuesAreNotPrinted() throws IOException {
    CommandRun run = printed(new double[10_001], 10_001, 1, "--op", "sum");
    assertEquals(2, run.status());
    assertTrue(run.err().contains("10001 values") && run.err().contains("-o"), run::err);
    assertEquals("", run.out());
  }

  private CommandRun printed(double[] values, int rows, int length, String... options)
      throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, rows, length);
    String[] args = new String[2 + options.length];
    args[0] = "reduce";
    args[1] = in.toString();
    System.arraycopy(options, 0, args, 2, options.length);
    CommandRun run = CommandRun.of(args);
    Files.delete(in);
    return run;
  }

  /** The shortest decimals that name a float become that float again, not its neighbour double. */
  private static double[] numbers(CommandRun run) {
    return run.out().lines().mapToDouble(Float::parseFloat).toArray();
  }

  private static String name(ReductionReference reduction) {
    return reduction.name().toLowerCase(Locale.ROOT);
  }

  private static void judge(
      ReductionReference reduction, double[] values, int rows, int length, double[] actual) {
    double[] truth = reduction.rows(values, rows, length);
    boolean exact = reduction == ReductionReference.MAX || reduction == ReductionReference.MIN;
    // What cancels does not make a sum more exact: the bound is on the sum of the magnitudes.
    double magnitude = exact ? 0 : ReductionReference.sumOfMagnitudes(values);
    if (reduction == ReductionReference.MEAN) {
      magnitude /= length;
    }
    double absolute = Double.isFinite(magnitude) ? 1e-6 * magnitude : 0;
    Judgement.assertClose(truth, actual, exact ? 0 : 1e-6, absolute);
  }
}
