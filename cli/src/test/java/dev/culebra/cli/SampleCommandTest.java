package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.PhiloxReference;
import dev.culebra.testkit.SamplingReference;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SampleCommandTest {
  private static final int ROWS = 6;
  private static final int LENGTH = 300;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16", "F32"})
  void theBitsFallOnTheTokens(DType dtype) throws IOException {
    StorageType type = TensorFiles.storage(dtype);
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, type, 1);
    Path in = folder.resolve("in" + TensorFiles.extension(dtype));
    TensorFiles.write(in, dtype, logits, 2, 3, LENGTH);

    CommandRun run =
        sample(
            in,
            "--temperature",
            "0.5",
            "--top-k",
            "40",
            "--top-p",
            "0.875",
            "--min-p",
            "0.0625",
            "--seed",
            "7",
            "--offset",
            "9");

    assertEquals(0, run.status(), run::err);
    TensorFiles.Contents probabilities = TensorFiles.read(out() + "#probabilities");
    assertArrayEquals(new long[] {2, 3}, probabilities.spec().shape());
    long[] tokens = tokens(out(), DType.I32);
    for (int row = 0; row < ROWS; row++) {
      new SamplingReference(
              Arrays.copyOfRange(logits, row * LENGTH, (row + 1) * LENGTH),
              0.5,
              40,
              0.875,
              0.0625,
              1e-5)
          .judge(PhiloxReference.bits(7, 9, row), tokens[row], probabilities.values()[row]);
    }
    assertTrue(run.out().startsWith("sample of " + dtype + " 2 x 3 x 300"), run::out);
  }

  @Test
  void passesThroughTheDeviceInPieces() throws IOException {
    Path in = write(HardInput.NORMAL.rows(7, LENGTH, StorageType.F32, 5));
    assertEquals(0, sample(in).status());
    byte[] whole = Files.readAllBytes(out());
    CommandRun run =
        CommandRun.of(3 * 4 * LENGTH, new byte[0], "sample", in.toString(), "-o", out().toString());
    assertEquals(0, run.status(), run::err);
    assertArrayEquals(whole, Files.readAllBytes(out()));
  }

  @Test
  void anNpyHasTheTokensAlone() throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 2);
    Path tokens = folder.resolve("tokens.npy");
    CommandRun run =
        CommandRun.of(
            "sample",
            write(logits).toString(),
            "-o",
            tokens.toString(),
            "--temperature",
            "0",
            "--index-type",
            "i64");
    assertEquals(0, run.status(), run::err);
    long[] drawn = tokens(tokens, DType.I64);
    for (int row = 0; row < ROWS; row++) {
      double[] values = Arrays.copyOfRange(logits, row * LENGTH, (row + 1) * LENGTH);
      assertEquals(Arrays.stream(values).max().getAsDouble(), values[(int) drawn[row]]);
    }
  }

  @Test
  void jsonIsOneObject() throws IOException {
    CommandRun run = sample(write(new double[LENGTH]), "--json");
    assertEquals(0, run.status(), run::err);
    Map<String, Object> json = JsonText.parse(run.out());
    assertEquals("sample", json.get("operation"));
    assertEquals("culebra_sampling_block_f32", json.get("kernel"));
    assertEquals((LENGTH + 2) * 4L, json.get("trafficBytes"));
  }

  @Test
  void whatCannotBeIsRefused() throws IOException {
    Path in = write(new double[LENGTH]);
    refused(2, sample(in, "--temperature", "-1"), "--temperature -1.0");
    refused(2, sample(in, "--top-k", "-2"), "--top-k -2", "0 keeps all");
    refused(2, sample(in, "--top-p", "0"), "--top-p 0.0");
    refused(2, sample(in, "--min-p", "1.5"), "--min-p 1.5");
    refused(2, sample(in, "--seed", "x"), "--seed");
    refused(2, CommandRun.of("sample", in.toString(), "-o", out() + "#t"), "leave out #t");
    Path wide = TensorFiles.write(folder.resolve("wide.npy"), DType.F64, new double[] {1, 2}, 2);
    refused(3, sample(wide), "it is F64; F16, BF16 and F32 are taken");
    Path empty = TensorFiles.write(folder.resolve("empty.npy"), DType.F32, new double[0], 2, 0);
    refused(3, sample(empty), "a row has 0 elements");
    assertFalse(Files.exists(out()));
  }

  private static void refused(int status, CommandRun run, String... told) {
    assertEquals(status, run.status(), run::err);
    for (String part : told) {
      assertTrue(run.err().contains(part), () -> part + " is not in: " + run.err());
    }
  }

  private Path out() {
    return folder.resolve("out.safetensors");
  }

  private Path write(double[] logits) throws IOException {
    return TensorFiles.write(
        folder.resolve("in.npy"), DType.F32, logits, logits.length / LENGTH, LENGTH);
  }

  private CommandRun sample(Path in, String... options) {
    String[] args = new String[4 + options.length];
    args[0] = "sample";
    args[1] = in.toString();
    args[2] = "-o";
    args[3] = out().toString();
    System.arraycopy(options, 0, args, 4, options.length);
    return CommandRun.of(args);
  }

  private static long[] tokens(Path path, DType type) throws IOException {
    try (TensorFile file = TensorFile.open(path)) {
      TensorData tensor = file.tensor(path.toString().endsWith(".npy") ? null : "tokens");
      assertEquals(type, tensor.spec().dtype());
      long[] tokens = new long[Math.toIntExact(tensor.spec().elementCount())];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] =
            type == DType.I32
                ? tensor.bytes().get(ValueLayout.JAVA_INT_UNALIGNED, i * 4L)
                : tensor.bytes().get(ValueLayout.JAVA_LONG_UNALIGNED, i * 8L);
      }
      return tokens;
    }
  }
}
