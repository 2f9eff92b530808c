package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.cli.TensorFiles.Contents;
import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.ops.TopK;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import dev.culebra.testkit.TopKReference;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class TopKCommandTest {
  private static final int ROWS = 6;
  private static final int LENGTH = 300;

  @TempDir Path folder;

  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16", "F32"})
  void probabilitiesKeepTheTypeAndIndicesAreExact(DType dtype) throws IOException {
    StorageType type = TensorFiles.storage(dtype);
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, type, 1);
    Path in = folder.resolve("in" + TensorFiles.extension(dtype));
    TensorFiles.write(in, dtype, logits, 2, 3, LENGTH);

    CommandRun run = topK(in, "-k", "5");

    assertEquals(0, run.status(), run::err);
    Contents values = TensorFiles.read(out() + "#probabilities");
    assertEquals(dtype, values.spec().dtype());
    assertArrayEquals(new long[] {2, 3, 5}, values.spec().shape());
    int[] indices = TopKReference.indices(logits, LENGTH, 5, false);
    assertArrayEquals(indices, indices(DType.I32));
    double[] truth = pick(SoftmaxReference.rows(logits, LENGTH, 1, false), indices);
    if (type == StorageType.F32) {
      Judgement.assertClose(truth, values.values(), 2e-6, 0x1p-126);
    } else {
      double[] plain = pick(SoftmaxReference.rows(logits, LENGTH, 1, false, type), indices);
      Judgement.assertAsGoodAsStraightforward(type, truth, plain, values.values());
    }
    assertTrue(run.out().startsWith("top-5 of " + dtype + " 2 x 3 x 300"), run::out);
    assertTrue(run.out().contains("written to " + out()), run::out);
  }

  private static double[] pick(double[] values, int[] indices) {
    return TopKReference.pick(values, LENGTH, indices, 5);
  }

  @ParameterizedTest
  @CsvSource({"fused", "safe", "online", "ONLINE"})
  void everyAlgorithm(String algorithm) throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 2);
    CommandRun run = topK(write(logits), "-k", "5", "--algorithm", algorithm);
    assertEquals(0, run.status(), run::err);
    assertArrayEquals(TopKReference.indices(logits, LENGTH, 5, false), indices(DType.I32));
  }

  @Test
  void logScaleAndWideIndices() throws IOException {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 3);
    CommandRun run =
        topK(write(logits), "-k", "5", "--log", "--scale", "-0.125", "--index-type", "i64");
    assertEquals(0, run.status(), run::err);
    int[] indices = TopKReference.indices(logits, LENGTH, 5, true);
    assertArrayEquals(indices, indices(DType.I64));
    Judgement.assertClose(
        pick(SoftmaxReference.rows(logits, LENGTH, -0.125, true), indices),
        TensorFiles.read(out() + "#log_probabilities").values(),
        2e-6,
        2e-6);
  }

  @Test
  void elementsWithoutASoftmax() throws IOException {
    double[] logits = HardInput.MIXED.rows(ROWS, LENGTH, StorageType.F32, 3);
    assertEquals(0, topK(write(logits), "-k", "5", "--no-softmax").status());
    int[] indices = TopKReference.indices(logits, LENGTH, 5, false);
    assertArrayEquals(indices, indices(DType.I32));
    assertArrayEquals(pick(logits, indices), TensorFiles.read(out() + "#elements").values());
  }

  @Test
  void passesThroughTheDeviceInPieces() throws IOException {
    Path in = write(HardInput.NORMAL.rows(7, LENGTH, StorageType.F32, 5));
    Path whole = folder.resolve("whole.safetensors");
    CommandRun.of("topk", in.toString(), "-o", whole.toString(), "-k", "9");
    CommandRun run =
        CommandRun.of(
            3 * 4 * LENGTH, new byte[0], "topk", in.toString(), "-o", out().toString(), "-k", "9");
    assertEquals(0, run.status(), run::err);
    assertArrayEquals(Files.readAllBytes(whole), Files.readAllBytes(out()));
  }

  @Test
  void readsStandardInputOrATensorByNameAndKeepsMetadata() throws IOException {
    double[] logits = HardInput.NORMAL.rows(2, 5, StorageType.BF16, 7);
    Path in = folder.resolve("model.safetensors");
    TensorSpec wanted = new TensorSpec("head/logits", DType.BF16, 2, 5);
    try (TensorWriter writer = TensorWriter.create(in, List.of(wanted), Map.of("step", "12"))) {
      writer.append("head/logits", MemorySegment.ofArray(StorageType.BF16.encode(logits)));
      writer.commit();
    }
    CommandRun run = CommandRun.of("topk", in + "#head/logits", "-o", out().toString(), "-k", "2");
    assertEquals(0, run.status(), run::err);
    Contents result = TensorFiles.read(out() + "#probabilities");
    assertEquals(Map.of("step", "12"), result.metadata());
    assertArrayEquals(TopKReference.indices(logits, 5, 2, false), indices(DType.I32));

    Path npy = write(HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 6));
    run =
        CommandRun.of(
            1 << 20, Files.readAllBytes(npy), "topk", "-", "-o", out().toString(), "-k", "2");
    assertEquals(0, run.status(), run::err);
  }

  @Test
  void noRowsGiveAnEmptyResult() throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[0], 0, 4);
    assertEquals(0, topK(in, "-k", "3").status());
    assertArrayEquals(new long[] {0, 3}, TensorFiles.read(out() + "#probabilities").spec().shape());
  }

  @Test
  void jsonIsOneObject() throws IOException {
    CommandRun run = topK(write(new double[LENGTH]), "-k", "100", "--json");
    assertEquals(0, run.status(), run::err);
    Map<String, Object> json = JsonText.parse(run.out());
    assertEquals("top-100", json.get("operation"));
    assertEquals("culebra_topk_large_f32", json.get("kernel"));
    assertEquals((LENGTH + 100 + 100) * 4L, json.get("trafficBytes"));
  }

  @Test
  void theHelpKnowsTheLargestK() {
    String help = CommandRun.of("topk", "--help").out().replaceAll("\\s+", " ");
    assertTrue(help.contains("from 1 to " + TopK.mostK()), help);
  }

  @Test
  void whatCannotBeIsRefused() throws IOException {
    Path in = write(new double[LENGTH]);
    refused(2, topK(in, "-k", "0"), "-k 0: it must be from 1 to 1024");
    refused(2, topK(in, "-k", "1025"), "-k 1025: it must be from 1 to 1024");
    refused(2, topK(in, "-k", "301"), "-k 301: a row of the input has only 300 elements");
    refused(2, topK(in), "-k");
    refused(2, topK(in, "-k", "2", "--scale", "2e38"), "--scale 2.0E38: for F32 it may be");
    refused(2, topK(in, "-k", "2", "--scale", "NaN"), "--scale NaN");
    refused(2, topK(in, "-k", "2", "--log", "--no-softmax"), "--log", "--no-softmax");
    refused(
        2,
        topK(in, "-k", "2", "--algorithm", "safe", "--no-softmax"),
        "--algorithm safe",
        "--no-softmax");
    refused(
        2,
        CommandRun.of("topk", in.toString(), "-k", "2", "-o", folder + "/out.npy"),
        "out.npy: .npy holds one tensor");
    refused(
        2,
        CommandRun.of("topk", in.toString(), "-k", "2", "-o", "-"),
        "standard output: it takes a .npy of one tensor");
    refused(2, CommandRun.of("topk", in.toString(), "-k", "2", "-o", out() + "#p"), "leave out #p");
    assertFalse(Files.exists(out()));
    Path wide = TensorFiles.write(folder.resolve("wide.npy"), DType.F64, new double[] {1, 2}, 2);
    refused(3, topK(wide, "-k", "1"), "it is F64; F16, BF16 and F32 are taken");
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

  private CommandRun topK(Path in, String... options) {
    String[] args = new String[4 + options.length];
    args[0] = "topk";
    args[1] = in.toString();
    args[2] = "-o";
    args[3] = out().toString();
    System.arraycopy(options, 0, args, 4, options.length);
    return CommandRun.of(args);
  }

  private int[] indices(DType type) throws IOException {
    try (TensorFile file = TensorFile.open(out())) {
      TensorData tensor = file.tensor("indices");
      assertEquals(type, tensor.spec().dtype());
      int[] indices = new int[Math.toIntExact(tensor.spec().elementCount())];
      for (int i = 0; i < indices.length; i++) {
        indices[i] =
            type == DType.I32
                ? tensor.bytes().get(ValueLayout.JAVA_INT_UNALIGNED, i * 4L)
                : Math.toIntExact(tensor.bytes().get(ValueLayout.JAVA_LONG_UNALIGNED, i * 8L));
      }
      return indices;
    }
  }
}
