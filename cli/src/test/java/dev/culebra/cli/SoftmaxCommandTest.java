package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.cli.TensorFiles.Contents;
import dev.culebra.io.DType;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class SoftmaxCommandTest {
  private static final int ROWS = 6;
  private static final int LENGTH = 300;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16", "F32", "F64"})
  void everyTypeKeepsItsTypeAndShape(DType dtype) throws IOException {
    StorageType type = TensorFiles.storage(dtype);
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, type, 1);
    Path in = folder.resolve("in" + TensorFiles.extension(dtype));
    Path out = folder.resolve("out" + TensorFiles.extension(dtype));
    TensorFiles.write(in, dtype, logits, 2, 3, LENGTH);

    CommandRun run = CommandRun.of("softmax", in.toString(), "-o", out.toString());

    assertEquals(0, run.status(), run::err);
    Contents result = TensorFiles.read(out);
    assertEquals(dtype, result.spec().dtype());
    assertArrayEquals(new long[] {2, 3, LENGTH}, result.spec().shape());
    judge(type, logits, LENGTH, 1, false, result.values());
    assertTrue(run.out().contains("written to " + out), run::out);
  }

  @Test
  @Timeout(60)
  void manyRowsOfNothingAreDoneAtOnce() throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[0], 1L << 60, 0);
    Path out = folder.resolve("out.npy");
    CommandRun run = CommandRun.of("softmax", in.toString(), "-o", out.toString());
    assertEquals(0, run.status(), run::err);
    assertArrayEquals(new long[] {1L << 60, 0}, TensorFiles.read(out).spec().shape());
  }

  @ParameterizedTest
  @CsvSource({"naive", "safe", "online", "auto", "ONLINE"})
  void everyAlgorithm(String algorithm) throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 2);
    CommandRun run = softmaxOf(logits, LENGTH, "--algorithm", algorithm);
    assertEquals(0, run.status(), run::err);
    judge(StorageType.F32, logits, LENGTH, 1, false, read());
  }

  /** What the help says of it. */
  @ParameterizedTest
  @CsvSource({"F32, 89, -105", "BF16, 89, -105", "F64, 710, -746"})
  void naiveOverflowsAndUnderflowsAsTold(DType dtype, double high, double low) throws IOException {
    double[] logits = {high, 1, 2, low, low, low};
    String name = "in" + TensorFiles.extension(dtype);
    Path in = TensorFiles.write(folder.resolve(name), dtype, logits, 2, 3);
    Path out = folder.resolve("out.safetensors");
    String[] command = {"softmax", in.toString(), "-o", out.toString(), "--algorithm", "naive"};
    assertEquals(0, CommandRun.of(command).status());
    double nan = Double.NaN;
    assertArrayEquals(new double[] {nan, 0, 0, nan, nan, nan}, TensorFiles.read(out).values());
    String[] log = Arrays.copyOf(command, command.length + 1);
    log[command.length] = "--log";
    assertEquals(0, CommandRun.of(log).status());
    double inf = Double.POSITIVE_INFINITY;
    assertArrayEquals(
        new double[] {-inf, -inf, -inf, inf, inf, inf}, TensorFiles.read(out).values());
  }

  @Test
  void logAndScale() throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 3);
    CommandRun run = softmaxOf(logits, LENGTH, "--log", "--scale", "-0.125");
    assertEquals(0, run.status(), run::err);
    judge(StorageType.F32, logits, LENGTH, -0.125, true, read());
  }

  @ParameterizedTest
  @EnumSource(HardInput.class)
  void hardRowsKeepTheContract(HardInput input) throws IOException {
    double[] logits = input.rows(3, 97, StorageType.F32, 4);
    CommandRun run = softmaxOf(logits, 97);
    assertEquals(0, run.status(), run::err);
    judge(StorageType.F32, logits, 97, 1, false, read());
  }

  @Test
  void passesThroughTheDeviceInPieces() throws IOException {
    double[] logits = HardInput.NORMAL.rows(7, LENGTH, StorageType.F32, 5);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, logits, 7, LENGTH);
    Path whole = folder.resolve("whole.npy");
    Path pieces = folder.resolve("pieces.npy");
    CommandRun.of("softmax", in.toString(), "-o", whole.toString());

    CommandRun run =
        CommandRun.of(
            3 * 4 * LENGTH, new byte[0], "softmax", in.toString(), "-o", pieces.toString());

    assertEquals(0, run.status(), run::err);
    assertArrayEquals(Files.readAllBytes(whole), Files.readAllBytes(pieces));
  }

  /** Masks of every kind, and what they leave of some rows for the truth. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Masked(double[] logits, double[] sums, String[] options) {}

  private Masked masked(int rows, int length, double scale) throws IOException {
    double[] logits = HardInput.NORMAL.rows(rows, length, StorageType.F32, 31);
    double[] addends = HardInput.SOME_NEGATIVE_INFINITY.row(length, StorageType.F32, 32);
    byte[] bytes = new byte[rows / 2 * length];
    long[] lengths = new long[rows];
    double[] sums = new double[logits.length];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i % 5);
    }
    for (int row = 0; row < rows; row++) {
      lengths[row] = row == 0 ? Long.MAX_VALUE : row * length / rows;
      for (int i = 0; i < length; i++) {
        boolean counts = bytes[row / 2 * length + i] != 0 && i < lengths[row];
        int at = row * length + i;
        sums[at] = counts ? scale * logits[at] + addends[i] : Double.NEGATIVE_INFINITY;
      }
    }
    TensorSpec ofBytes = new TensorSpec("", DType.BOOL, rows / 2, 1, length);
    TensorSpec ofLengths = new TensorSpec("", DType.I64, rows / 2, 2);
    Path byteFile = folder.resolve("bytes.npy");
    Path lengthFile = folder.resolve("lengths.npy");
    write(byteFile, ofBytes, MemorySegment.ofArray(bytes));
    write(lengthFile, ofLengths, MemorySegment.ofArray(lengths));
    Path addendFile = TensorFiles.write(folder.resolve("addends.npy"), DType.F32, addends, length);
    return new Masked(
        logits,
        sums,
        new String[] {
          "--mask", byteFile.toString(),
          "--lengths", lengthFile.toString(),
          "--additive-mask", addendFile.toString(),
          "--scale", Double.toString(scale)
        });
  }

  private static void write(Path path, TensorSpec spec, MemorySegment bytes) throws IOException {
    try (TensorWriter writer = TensorWriter.create(path, List.of(spec), Map.of())) {
      writer.append("", bytes);
      writer.commit();
    }
  }

  /** A chunk for all, some rows a chunk, and rows in pieces that do not go up. */
  @ParameterizedTest
  @CsvSource({"1073741824, false", "2500, false", "1000, true", "500, false", "52, true"})
  void masksOfEveryKind(long chunkBytes, boolean log) throws IOException {
    Masked masked = masked(ROWS, LENGTH, -0.5);
    Path in = folder.resolve("in.npy");
    TensorFiles.write(in, DType.F32, masked.logits(), ROWS / 2, 2, LENGTH);
    Path out = folder.resolve("out.npy");
    List<String> command = new ArrayList<>(List.of("softmax", in.toString(), "-o", out.toString()));
    command.addAll(List.of(masked.options()));
    if (log) {
      command.add("--log");
    }

    CommandRun run = CommandRun.of(chunkBytes, new byte[0], command.toArray(String[]::new));

    assertEquals(0, run.status(), run::err);
    Judgement.assertClose(
        SoftmaxReference.rows(masked.sums(), LENGTH, 1, log), read(), 3e-6, log ? 2e-5 : 1e-7);
    String kernel =
        chunkBytes < 4 * LENGTH ? "softmax_additive_states_f32" : "softmax_additive_lanes4_f32";
    assertTrue(run.out().contains(kernel), run::out);
  }

  @ParameterizedTest
  @CsvSource({"F32, 256, auto", "BF16, 100, split", "F64, 100000, auto", "F16, 8, auto"})
  void rowsThatDoNotFitAreCut(DType dtype, long chunkBytes, String algorithm) throws IOException {
    int length = dtype == DType.F64 ? 20_000 : LENGTH;
    StorageType type = TensorFiles.storage(dtype);
    double[] logits = HardInput.NORMAL.rows(2, length, type, 33);
    Path in = folder.resolve("in" + TensorFiles.extension(dtype));
    Path out = folder.resolve("out" + TensorFiles.extension(dtype));
    TensorFiles.write(in, dtype, logits, 2, length);
    String[] command = {
      "softmax", in.toString(), "-o", out.toString(), "--algorithm", algorithm, "--json"
    };
    CommandRun run = CommandRun.of(chunkBytes, new byte[0], command);
    assertEquals(0, run.status(), run::err);
    judge(type, logits, length, 1, false, TensorFiles.read(out).values());
    Map<String, Object> json = JsonText.parse(run.out());
    assertEquals(3L * 2 * length * dtype.bits() / 8, json.get("trafficBytes"));
    assertTrue(String.valueOf(json.get("kernel")).contains("softmax_split_states"), run::out);
  }

  @Test
  void otherAlgorithmsKeepLongRowsWhole() throws IOException {
    double[] logits = HardInput.NORMAL.rows(2, LENGTH, StorageType.F32, 34);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, logits, 2, LENGTH);
    Path out = folder.resolve("out.npy");
    CommandRun run =
        CommandRun.of(
            64,
            new byte[0],
            "softmax",
            in.toString(),
            "-o",
            out.toString(),
            "--algorithm",
            "online");
    assertEquals(0, run.status(), run::err);
    judge(StorageType.F32, logits, LENGTH, 1, false, read());
  }

  @Test
  void emptyRowsAreZeroOnRequest() throws IOException {
    double inf = Double.POSITIVE_INFINITY;
    double[] logits = {-inf, -inf, 2, 2};
    assertEquals(0, softmaxOf(logits, 2, "--zero-empty-rows").status());
    assertArrayEquals(new double[] {0, 0, 0.5, 0.5}, read());
    assertEquals(0, softmaxOf(logits, 2).status());
    assertArrayEquals(new double[] {Double.NaN, Double.NaN, 0.5, 0.5}, read());
  }

  @ParameterizedTest
  @CsvSource({"false, 1073741824", "true, 1073741824", "false, 5000", "true, 100"})
  void theWayBack(boolean log, long chunkBytes) throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 35);
    double[] y =
        StorageType.F32.decode(
            MemorySegment.ofArray(
                StorageType.F32.encode(SoftmaxReference.rows(logits, LENGTH, 2, log))));
    double[] dy = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 36);
    Path in = TensorFiles.write(folder.resolve("y.npy"), DType.F32, y, ROWS, LENGTH);
    Path gradient = TensorFiles.write(folder.resolve("dy.npy"), DType.F32, dy, ROWS, LENGTH);
    List<String> command =
        new ArrayList<>(
            List.of(
                "softmax",
                in.toString(),
                "--gradient",
                gradient.toString(),
                "-o",
                folder.resolve("out.npy").toString(),
                "--scale",
                "2"));
    if (log) {
      command.add("--log");
    }
    CommandRun run = CommandRun.of(chunkBytes, new byte[0], command.toArray(String[]::new));
    assertEquals(0, run.status(), run::err);
    assertTrue(run.out().startsWith("gradient of " + (log ? "log-softmax" : "softmax")), run::out);
    double[] dx = read();
    for (int row = 0; row < ROWS; row++) {
      double sum = 0;
      for (int i = row * LENGTH; i < (row + 1) * LENGTH; i++) {
        sum += log ? dy[i] : y[i] * dy[i];
      }
      for (int i = row * LENGTH; i < (row + 1) * LENGTH; i++) {
        double wanted = 2 * (log ? dy[i] - Math.exp(y[i]) * sum : y[i] * (dy[i] - sum));
        assertEquals(wanted, dx[i], 1e-6 * (1 + Math.abs(wanted)));
      }
    }
  }

  @Test
  void whatDoesNotGoTogetherIsRefused() throws IOException {
    double[] logits = new double[2 * LENGTH];
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, logits, 2, LENGTH);
    Path turned = TensorFiles.write(folder.resolve("turned.npy"), DType.F32, logits, LENGTH, 2);
    Path doubles = TensorFiles.write(folder.resolve("f64.npy"), DType.F64, logits, 2, LENGTH);
    refused(2, in, "takes no masks", "--algorithm", "safe", "--additive-mask", in.toString());
    refused(2, in, "takes no masks", "--gradient", in.toString(), "--lengths", in.toString());
    refused(2, in, "no --algorithm", "--gradient", in.toString(), "--algorithm", "fused");
    refused(2, in, "standard input", "--mask", "-", "--lengths", "-");
    refused(2, in, "the output is the input", "--mask", folder.resolve("out.npy").toString());
    refused(3, in, "its shape is 300 x 2", "--additive-mask", turned.toString());
    refused(3, in, "F32 are taken", "--additive-mask", doubles.toString());
    refused(3, in, "BOOL, I8 and U8 are taken", "--mask", in.toString());
    refused(3, in, "I32 and I64 are taken", "--lengths", in.toString());
    refused(3, in, "type and shape of the result", "--gradient", doubles.toString());
    refused(3, in, "type and shape of the result", "--gradient", turned.toString());
    refused(3, in, "no such file", "--mask", folder.resolve("missing.npy").toString());
  }

  private void refused(int status, Path in, String told, String... options) {
    List<String> command =
        new ArrayList<>(
            List.of("softmax", in.toString(), "-o", folder.resolve("out.npy").toString()));
    command.addAll(List.of(options));
    CommandRun run = CommandRun.of(command.toArray(String[]::new));
    assertEquals(status, run.status(), run::err);
    assertTrue(run.err().contains(told), run::err);
    assertFalse(Files.exists(folder.resolve("out.npy")));
  }

  @Test
  void readsStandardInputAndWritesStandardOutput() throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F16, 6);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F16, logits, ROWS, LENGTH);

    CommandRun run = CommandRun.of(1 << 20, Files.readAllBytes(in), "softmax", "-", "-o", "-");

    assertEquals(0, run.status(), run::err);
    Path out = Files.write(folder.resolve("out.npy"), run.stdout());
    judge(StorageType.F16, logits, LENGTH, 1, false, read());
    assertEquals(Files.size(in), Files.size(out));
    assertTrue(run.err().startsWith("softmax of F16 6 x 300"), run::err);
  }

  @Test
  void choosesATensorByNameAndKeepsMetadata() throws IOException {
    Path in = folder.resolve("model.safetensors");
    double[] logits = HardInput.NORMAL.rows(2, 5, StorageType.BF16, 7);
    TensorSpec wanted = new TensorSpec("head/logits", DType.BF16, 2, 5);
    TensorSpec other = new TensorSpec("ids", DType.I64, 1);
    Map<String, String> metadata = Map.of("step", "12");
    try (TensorWriter writer = TensorWriter.create(in, List.of(other, wanted), metadata)) {
      writer.append("ids", MemorySegment.ofArray(new long[] {9}));
      writer.append("head/logits", MemorySegment.ofArray(StorageType.BF16.encode(logits)));
      writer.commit();
    }
    Path out = folder.resolve("out.safetensors");

    CommandRun run = CommandRun.of("softmax", in + "#head/logits", "-o", out + "#p");

    assertEquals(0, run.status(), run::err);
    Contents result = TensorFiles.read(out);
    assertEquals("p", result.spec().name());
    assertEquals(metadata, result.metadata());
    judge(StorageType.BF16, logits, 5, 1, false, result.values());
  }

  @ParameterizedTest
  @CsvSource({"0, 4", "3, 0"})
  void aZeroLengthAxisGivesAnEmptyResult(int rows, int length) throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[0], rows, length);
    Path out = folder.resolve("out.npy");
    CommandRun run = CommandRun.of("softmax", in.toString(), "-o", out.toString());
    assertEquals(0, run.status(), run::err);
    assertArrayEquals(Files.readAllBytes(in), Files.readAllBytes(out));
  }

  @Test
  void jsonIsOneObject() throws IOException {
    CommandRun run = softmaxOf(new double[] {1, 2, 3}, 3, "--json", "--algorithm", "safe");
    assertEquals(0, run.status(), run::err);
    Map<String, Object> json = JsonText.parse(run.out());
    assertEquals("softmax", json.get("operation"));
    assertEquals("F32", json.get("dtype"));
    assertEquals(List.of(1L, 3L), json.get("shape"));
    assertEquals(24L, json.get("trafficBytes"));
    assertTrue(
        json.get("kernel") instanceof String kernel && kernel.contains("softmax_safe_f32"),
        run::out);
  }

  private CommandRun softmaxOf(double[] logits, int length, String... options) throws IOException {
    Path in =
        TensorFiles.write(
            folder.resolve("in.npy"), DType.F32, logits, logits.length / length, length);
    String[] args = new String[4 + options.length];
    args[0] = "softmax";
    args[1] = in.toString();
    args[2] = "-o";
    args[3] = folder.resolve("out.npy").toString();
    System.arraycopy(options, 0, args, 4, options.length);
    return CommandRun.of(args);
  }

  private double[] read() throws IOException {
    return TensorFiles.read(folder.resolve("out.npy")).values();
  }

  private static void judge(
      StorageType type, double[] logits, int length, double scale, boolean log, double[] actual) {
    double[] truth = SoftmaxReference.rows(logits, length, scale, log);
    switch (type) {
      case F16, BF16 ->
          Judgement.assertAsGoodAsStraightforward(
              type, truth, SoftmaxReference.rows(logits, length, scale, log, type), actual);
      case F32 -> Judgement.assertClose(truth, actual, 2e-6, log ? 2e-6 : 0x1p-126);
      case F64 -> Judgement.assertClose(truth, actual, 1e-13, log ? 1e-13 : 1e-300);
    }
  }
}
