package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.cli.TensorFiles.Contents;
import dev.culebra.io.DType;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.ReductionReference;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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

  /** Of a row that is larger than what may be on the device at once, the pieces are joined. */
  @ParameterizedTest
  @EnumSource(ReductionReference.class)
  void rowsInPieces(ReductionReference reduction) throws IOException {
    for (HardInput input : List.of(HardInput.MIXED, HardInput.NAN, HardInput.ALL_EQUAL)) {
      double[] values = input.rows(ROWS, LENGTH, StorageType.F32, 15);
      Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, ROWS, LENGTH);
      String[] command = {"reduce", in.toString(), "--op", name(reduction)};
      CommandRun run = CommandRun.of(4 * 4 * 99, new byte[0], command);
      assertEquals(0, run.status(), run::err);
      judge(reduction, values, ROWS, LENGTH, numbers(run));
      assertEquals(run.out(), CommandRun.of(4 * 4 * 99, new byte[0], command).out());
      Files.delete(in);
    }
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
      if (reduction.isIndex()) {
        assertEquals(3, run.status());
        assertTrue(run.err().contains("of 0 elements"), run::err);
        continue;
      }
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

  /** The axes of a tensor of rank 3, in one piece and in many. */
  @ParameterizedTest
  @CsvSource({"first, 0", "0, 0", "1, 1", "-2, 1", "last, 2", "-1, 2"})
  void everyAxis(String axis, int reduced) throws IOException {
    int[] shape = {6, 50, 7};
    double[] values = HardInput.MIXED.row(6 * 50 * 7, StorageType.F32, 8);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, 6, 50, 7);
    for (ReductionReference reduction : ReductionReference.values()) {
      String[] command = {"reduce", in.toString(), "--op", name(reduction), "--axis", axis};
      for (long chunkBytes : new long[] {1 << 20, 50 * 7 * 4, 7 * 4 * 9, 40}) {
        CommandRun run = CommandRun.of(chunkBytes, new byte[0], command);
        assertEquals(0, run.status(), run::err);
        double[] actual = numbers(run);
        int inner = reduced == 0 ? 350 : reduced == 1 ? 7 : 1;
        assertEquals(values.length / shape[reduced], actual.length);
        for (int r = 0; r < actual.length; r++) {
          double[] line = new double[shape[reduced]];
          for (int i = 0; i < line.length; i++) {
            line[i] = values[(r / inner * line.length + i) * inner + r % inner];
          }
          judge(reduction, line, 1, line.length, new double[] {actual[r]});
        }
      }
    }
  }

  /** Wider than a stripe of columns, and larger than what goes to the device at once. */
  @Test
  void wideMatricesInStripes() throws IOException {
    int columns = 70_000;
    double[] values = HardInput.NORMAL.rows(3, columns, StorageType.F32, 9);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, 3, columns);
    Path out = folder.resolve("out.npy");
    CommandRun run =
        CommandRun.of(
            600_000,
            new byte[0],
            "reduce",
            in.toString(),
            "--op",
            "sum",
            "--axis",
            "first",
            "-o",
            out.toString());
    assertEquals(0, run.status(), run::err);
    double[] actual = TensorFiles.read(out).values();
    for (int c = 0; c < columns; c++) {
      assertEquals(values[c] + values[columns + c] + values[2 * columns + c], actual[c], 1e-5);
    }
  }

  @ParameterizedTest
  @EnumSource(ReductionReference.class)
  void segmentsInOnePieceAndInMany(ReductionReference reduction) throws IOException {
    double[] values = HardInput.MIXED.row(3000, StorageType.F32, 10);
    long[] offsets = {0, 0, 3, 500, 501, 2900, 2900, 3000};
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, 30, 100);
    Path ends = integers("offsets.npy", DType.I64, offsets, offsets.length);
    String[] command = {
      "reduce", in.toString(), "--op", name(reduction), "--segments", ends.toString()
    };
    for (long chunkBytes : new long[] {1 << 20, 4000, 40}) {
      CommandRun run = CommandRun.of(chunkBytes, new byte[0], command);
      assertEquals(0, run.status(), run::err);
      double[] actual = numbers(run);
      assertEquals(offsets.length - 1, actual.length);
      for (int s = 0; s < actual.length; s++) {
        double[] part = Arrays.copyOfRange(values, (int) offsets[s], (int) offsets[s + 1]);
        judge(reduction, part, 1, part.length, new double[] {actual[s]});
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0,5,3 | offset 2 is 3; it must be from 5",
        "-1,5 | offset 0 is -1; it must be from 0",
        "0,11 | to 10"
      })
  void offsetsThatMakeNoSense(String offsets, String reason) throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[10], 10);
    long[] values = Arrays.stream(offsets.split(",")).mapToLong(Long::parseLong).toArray();
    Path ends = integers("offsets.npy", DType.I32, values, values.length);
    String[] command = {"reduce", in.toString(), "--op", "sum", "--segments", ends.toString()};
    CommandRun run = CommandRun.of(command);
    assertEquals(3, run.status());
    assertTrue(run.err().contains(ends.toString()) && run.err().contains(reason), run::err);
    assertEquals(2, CommandRun.of(with(command, "--axis", "all")).status());
    assertEquals(2, CommandRun.of(with(command, "-o", ends.toString())).status());
  }

  @Test
  void standardInputIsReadForOneInputOnly() {
    CommandRun run = CommandRun.of("reduce", "-", "--op", "sum", "--segments", "-");
    assertEquals(2, run.status());
    assertTrue(run.err().contains("only one of the inputs"), run::err);
  }

  @ParameterizedTest
  @EnumSource(names = {"I32", "I64"})
  void integersStayExact(DType dtype) throws IOException {
    long big = dtype == DType.I32 ? Integer.MAX_VALUE : Long.MAX_VALUE;
    long[] values = {big, -5, big, 7, 3, 3};
    Path in = integers("in.npy", dtype, values, 2, 3);
    for (ReductionReference reduction : ReductionReference.values()) {
      String[] command = {"reduce", in.toString(), "--op", name(reduction), "--axis", "all"};
      CommandRun run = CommandRun.of(command);
      switch (reduction) {
        case LOGSUMEXP, L2_NORM -> {
          assertEquals(3, run.status());
          assertTrue(run.err().contains("it is " + dtype), run::err);
        }
        case MEAN ->
            assertEquals(
                ReductionReference.meanOfIntegers(values), Double.parseDouble(run.out().strip()));
        default -> {
          assertEquals(reduction.ofIntegers(values), Long.parseLong(run.out().strip()));
          assertEquals(run.out(), CommandRun.of(8, new byte[0], command).out());
        }
      }
    }
    Map<String, Object> json =
        JsonText.parse(
            CommandRun.of("reduce", in.toString(), "--op", "argmax", "--axis", "0", "--json")
                .out());
    assertEquals(List.of(0L, 1L, 0L), json.get("values"));
  }

  @Test
  void anAxisThatIsNotThere() throws IOException {
    CommandRun run = printed(new double[6], 2, 3, "--op", "sum", "--axis", "2");
    assertEquals(3, run.status());
    assertTrue(run.err().contains("2 axes, there is no axis 2"), run::err);
    CommandRun word = printed(new double[6], 2, 3, "--op", "sum", "--axis", "middle");
    assertEquals(2, word.status());
    assertTrue(word.err().contains("not last, first, all or the number"), word::err);
  }

  private static String[] with(String[] command, String... more) {
    String[] all = Arrays.copyOf(command, command.length + more.length);
    System.arraycopy(more, 0, all, command.length, more.length);
    return all;
  }

  private Path integers(String name, DType dtype, long[] values, long... shape) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocate(values.length * dtype.bits() / 8).order(ByteOrder.LITTLE_ENDIAN);
    for (long value : values) {
      if (dtype == DType.I64) {
        bytes.putLong(value);
      } else {
        bytes.putInt(Math.toIntExact(value));
      }
    }
    Path path = folder.resolve(name);
    TensorSpec spec = new TensorSpec("", dtype, shape);
    try (TensorWriter writer = TensorWriter.create(path, List.of(spec), Map.of())) {
      writer.append("", MemorySegment.ofArray(bytes.array()));
      writer.commit();
    }
    return path;
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
    boolean exact =
        reduction == ReductionReference.MAX
            || reduction == ReductionReference.MIN
            || reduction.isIndex();
    // What cancels does not make a sum more exact: the bound is on the sum of the magnitudes.
    double magnitude = exact ? 0 : ReductionReference.sumOfMagnitudes(values);
    if (reduction == ReductionReference.MEAN) {
      magnitude /= length;
    } else if (reduction == ReductionReference.LOGSUMEXP) {
      magnitude = 10;
    }
    double absolute = Double.isFinite(magnitude) ? 1e-6 * magnitude : 0;
    Judgement.assertClose(truth, actual, exact ? 0 : 1e-6, absolute);
  }
}
