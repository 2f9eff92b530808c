package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.io.DType;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each bad input: a message that names the thing, the right exit status, nothing written. */
class BadInputTest {
  @TempDir Path folder;

  @Test
  void aMissingFile() throws IOException {
    Path in = folder.resolve("missing.npy");
    assertRefused(3, softmax(in), in + ": no such file");
  }

  @Test
  void anUnreadableFile() throws IOException {
    Path in = valid("in.npy");
    Files.setPosixFilePermissions(in, PosixFilePermissions.fromString("---------"));
    assumeFalse(Files.isReadable(in), "this user may read everything");
    assertRefused(3, softmax(in), in + ": permission denied");
  }

  @Test
  void aFolder() throws IOException {
    Path in = Files.createDirectory(folder.resolve("in.npy"));
    assertRefused(3, softmax(in), in + ": it is a folder");
  }

  @Test
  void anUnknownFormat() throws IOException {
    Path in = Files.createFile(folder.resolve("in.bin"));
    assertRefused(3, softmax(in), in + ": the extension must be");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } ~ 23 ~ truncated: F32[2, 3] takes 24 bytes, the file has 23",
        "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), } ~ 24 ~ big-endian",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), } ~ 24 ~ Fortran order",
        "{'descr': '<c16', 'fortran_order': False, 'shape': (2,), } ~ 32 ~ the type '<c16' is not supported",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), } ~ 12 ~ it is I16; F16, BF16, F32",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (), } ~ 4 ~ it is a scalar and has no last axis"
      })
  void anNpyThatIsNotTaken(String dictionary, int dataBytes, String reason) throws IOException {
    Path in = npy(dictionary, dataBytes);
    assertRefused(3, softmax(in), in + ": ", reason);
    assertRefused(3, CommandRun.of("reduce", in.toString(), "--op", "sum"), in + ": ", reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      quoteCharacter = '`',
      value = {
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,8]}} ~ 8 ~ #a: F32[4] takes 16 bytes, data_offsets give it 8",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}} ~ 8 ~ #a: truncated",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[2,6]}} ~ 6 ~ #b: overlaps tensor a",
        "{\"a\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[0,8]}} ~ 8 ~ #a: it is I64",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}} ~ 4 ~ #a: it is a scalar",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"b\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}} ~ 0 ~ : the file has 2 tensors; choose one",
        "this is no JSON ~ 0 ~ : the header does not begin with '{'",
        "{\"a\" ~ 0 ~ : the header is not valid JSON"
      })
  void aSafetensorsFileThatLies(String json, int dataBytes, String message) throws IOException {
    byte[] header = json.getBytes(StandardCharsets.UTF_8);
    ByteBuffer content =
        ByteBuffer.allocate(8 + header.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
    Path in =
        Files.write(
            folder.resolve("in.safetensors"), content.putLong(header.length).put(header).array());
    assertRefused(3, softmax(in), in + message);
  }

  @ParameterizedTest
  @CsvSource({"F16, 2e38", "F32, 2e38", "F32, -1e39", "F64, 1e308"})
  void aScaleThatOverflows(DType dtype, String scale) throws IOException {
    Path in = TensorFiles.write(folder.resolve("in.npy"), dtype, new double[] {1, 2}, 1, 2);
    Path out = folder.resolve("out.npy");
    CommandRun run =
        CommandRun.of("softmax", in.toString(), "-o", out.toString(), "--scale", scale);
    assertRefused(2, run, "--scale ", "for " + dtype + " it may be at most ");
    assertFalse(Files.exists(out));
  }

  @Test
  void standardInputThatIsNoTensor() throws IOException {
    CommandRun run =
        CommandRun.of(1 << 20, "hello".getBytes(StandardCharsets.UTF_8), "softmax", "-", "-o", "-");
    assertRefused(3, run, "standard input: not a .npy file");
    assertEquals(0, run.stdout().length);
  }

  @Test
  void anOutputFolderThatDoesNotExist() throws IOException {
    Path in = valid("in.npy");
    Path out = folder.resolve("nowhere").resolve("out.npy");
    CommandRun run = CommandRun.of("softmax", in.toString(), "-o", out.toString());
    assertRefused(3, run, out + ": the folder " + folder.resolve("nowhere") + " does not exist");
  }

  @Test
  void anOutputThatIsTheInput() throws IOException {
    Path in = valid("in.npy");
    byte[] before = Files.readAllBytes(in);
    Path around = Files.createDirectory(folder.resolve("sub")).resolve("..").resolve("in.npy");
    Path link = Files.createSymbolicLink(folder.resolve("link.npy"), in);
    for (Path out : new Path[] {in, around, link}) {
      CommandRun run = CommandRun.of("softmax", in.toString(), "-o", out.toString());
      assertRefused(2, run, out + ": the output is the input");
    }
    assertArrayEquals(before, Files.readAllBytes(in));
  }

  @Test
  void anOutputOfUnknownFormat() throws IOException {
    Path in = valid("in.npy");
    CommandRun run = CommandRun.of("softmax", in.toString(), "-o", folder + "/out.txt");
    assertRefused(2, run, "/out.txt: an output's name must end in .npy or .safetensors");
  }

  /** A result of 2^62 bytes, of an input of none. */
  @ParameterizedTest
  @CsvSource({"out.npy", "out.safetensors", "-"})
  void aResultLargerThanAnyDisk(String name) throws IOException {
    long rows = 1L << 60;
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[0], rows, 0);
    String out = name.equals("-") ? name : folder.resolve(name).toString();
    CommandRun run = CommandRun.of("reduce", in.toString(), "--op", "sum", "-o", out);
    assertRefused(3, run, (name.equals("-") ? "standard output" : out) + ": ");
    assertRefused(3, run, "F32[" + rows + "] takes 46116860184273", " bytes");
    assertEquals(0, run.stdout().length);
  }

  /** Of an input that has its size but takes no space. */
  @Test
  void aSoftmaxLargerThanTheDisk() throws IOException {
    long length = 1L << 40;
    assumeTrue(Files.getFileStore(folder).getUsableSpace() < 4 * length, "this disk has space");
    Path in = TensorFiles.sparse(folder.resolve("in.npy"), length);
    assertRefused(
        3, softmax(in), "F32[1, " + length + "] takes 4398046511", " bytes, the disk has");
  }

  @ParameterizedTest
  @ValueSource(strings = {"softmax", "reduce"})
  void aNameThatTheFormatKeepsForItself(String command) throws IOException {
    Path in = valid("in.npy");
    String out = folder.resolve("out.safetensors") + "#__metadata__";
    String[] args = {command, in.toString(), "-o", out};
    if (command.equals("reduce")) {
      args = new String[] {command, in.toString(), "-o", out, "--op", "sum"};
    }
    assertRefused(2, CommandRun.of(args), out + ": no tensor can have the name __metadata__");
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\ud800", "\\udfff"})
  void metadataThatIsNoText(String escape) throws IOException {
    String json =
        "{\"__metadata__\":{\"k\":\"%s\"},\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}"
            .formatted(escape);
    byte[] header = json.getBytes(StandardCharsets.UTF_8);
    ByteBuffer content = ByteBuffer.allocate(8 + header.length + 4).order(ByteOrder.LITTLE_ENDIAN);
    Path in =
        Files.write(
            folder.resolve("in.safetensors"), content.putLong(header.length).put(header).array());
    assertRefused(3, softmax(in), in + ": __metadata__ entry k has half of a surrogate pair");
  }

  @Test
  void whatATerminalWouldObeyIsEscaped() throws IOException {
    Path in = folder.resolve("a\u001b[31m\nb.npy");
    assertRefused(3, softmax(in), "a\\x1b[31m\\nb.npy: no such file");
    Path written = TensorFiles.write(in, DType.F32, new double[] {1}, 1);
    Path out = folder.resolve("c\u001b.npy");
    CommandRun run = CommandRun.of("softmax", written.toString(), "-o", out.toString());
    assertEquals(0, run.status(), run::err);
    assertTrue(run.out().contains("c\\x1b.npy"), run::out);
    assertRefused(2, CommandRun.of("softmax\u001b[31m"), "softmax\\x1b[31m");
    assertRefused(4, CommandRun.of("info", "--device=\u001b\n"), "--device \\x1b\\n: ");
    assertRefused(2, CommandRun.of("softmax", "in\0.npy", "-o", "o.npy"), "in\\x00.npy");
    assertRefused(2, CommandRun.of("softmax", in.toString(), "-o", "o\0.npy"), "o\\x00.npy");
    assertRefused(2, CommandRun.of("demo", "--text", "t\0"), "--text", "t\\x00");
  }

  @Test
  void anArgumentIsNoListOfArguments() throws IOException {
    Path list = Files.writeString(folder.resolve("list"), "--version");
    assertRefused(2, CommandRun.of("@" + list), "@" + list);
  }

  @Test
  void anErrorOfTheJvmIsNoTrace() {
    StringWriter err = new StringWriter();
    int status =
        Failures.onThrowable(new OutOfMemoryError("Java heap space"), new PrintWriter(err, true));
    assertEquals(3, status);
    assertTrue(
        err.toString().startsWith("culebra: this machine or this JVM has too little memory"));
    assertEquals(1, err.toString().lines().count());
    StringWriter bug = new StringWriter();
    assertEquals(1, Failures.onThrowable(new AssertionError(), new PrintWriter(bug, true)));
    assertTrue(bug.toString().contains("\tat "));
  }

  @Test
  void bfloat16IntoNpy() throws IOException {
    Path in = folder.resolve("in.safetensors");
    TensorFiles.write(in, DType.BF16, new double[] {1, 2}, 1, 2);
    Path out = folder.resolve("out.npy");
    CommandRun run = CommandRun.of("softmax", in.toString(), "-o", out.toString());
    assertRefused(2, run, out + ": .npy cannot hold BF16; write a .safetensors file");
  }

  @Test
  void aTensorThatIsNotThere() throws IOException {
    Path in = folder.resolve("in.safetensors");
    TensorFiles.write(in, DType.F32, new double[] {1, 2}, 1, 2);
    Path out = folder.resolve("out.npy");
    CommandRun run = CommandRun.of("softmax", in + "#logit", "-o", out.toString());
    assertRefused(3, run, in + "#logit: there is no such tensor; the file has logits");
  }

  @ParameterizedTest
  @CsvSource({"99", "-1", "GPU-00000000-dead-beef-0000-000000000000", "x", "999999999999"})
  void aDeviceThatIsNotThere(String name) throws IOException {
    Path in = valid("in.npy");
    Path out = folder.resolve("out.npy");
    CommandRun run =
        CommandRun.of("softmax", in.toString(), "-o", out.toString(), "--device=" + name);
    assertRefused(4, run, "--device " + name + ": there is no such device; there are", "  0  GPU-");
    assertRefused(4, CommandRun.of("info", "--device=" + name), "--device " + name);
  }

  @Test
  void aWrongCommandLine() throws IOException {
    Path in = valid("in.npy");
    String out = folder.resolve("out.npy").toString();
    assertRefused(2, CommandRun.of(), "a command is missing", "Try 'culebra --help'");
    assertRefused(2, CommandRun.of("softmx"), "softmx", "softmax");
    assertRefused(
        2,
        CommandRun.of("softmax", in.toString(), "-o", out, "--algo"),
        "'--algo'",
        "--algorithm",
        "Try 'culebra softmax --help'");
    assertRefused(2, CommandRun.of("softmax", in.toString()), "--output");
    assertRefused(2, CommandRun.of("softmax", "-o", out), "IN");
    assertRefused(
        2,
        CommandRun.of("softmax", in.toString(), "-o", out, "--algorithm", "fast"),
        "--algorithm",
        "fast",
        "naive, safe, online, split, fused, auto");
    assertRefused(
        2, CommandRun.of("softmax", in.toString(), "-o", out, "--scale", "big"), "--scale", "big");
    assertRefused(
        2,
        CommandRun.of("softmax", in.toString(), "-o", "-", "--json"),
        "--json",
        "standard output");
    assertRefused(2, CommandRun.of("reduce", in.toString()), "--op");
    assertRefused(
        2,
        CommandRun.of("reduce", in.toString(), "--op", "median"),
        "median",
        "sum, max, min, mean");
    assertRefused(2, CommandRun.of("demo", "--order", "0"), "--order 0", "1 to 8");
  }

  @Test
  void aTextThatCannotBeCounted() throws IOException {
    Path missing = folder.resolve("missing.txt");
    assertRefused(
        3, CommandRun.of("demo", "--text", missing.toString()), missing + ": no such file");
    Path brief = Files.writeString(folder.resolve("brief.txt"), "abc");
    assertRefused(
        3, CommandRun.of("demo", "--text", brief.toString()), brief + ": ", "3 characters");
    Path binary = Files.write(folder.resolve("binary.txt"), new byte[] {(byte) 0xC3, 0x28, 0, 1});
    assertRefused(
        3, CommandRun.of("demo", "--text", binary.toString()), binary + ": it is not a UTF-8");
  }

  private CommandRun softmax(Path in) {
    return CommandRun.of("softmax", in.toString(), "-o", folder.resolve("out.npy").toString());
  }

  private void assertRefused(int status, CommandRun run, String... fragments) throws IOException {
    assertEquals(status, run.status(), run::err);
    assertTrue(run.err().startsWith("culebra: "), run::err);
    for (String fragment : fragments) {
      assertTrue(run.err().contains(fragment), () -> "'" + fragment + "' is not in: " + run.err());
    }
    assertFalse(run.err().contains("\tat "), run::err);
    try (Stream<Path> files = Files.walk(folder)) {
      assertFalse(
          files.anyMatch(
              file ->
                  file.endsWith("out.npy")
                      || file.endsWith("out.safetensors")
                      || file.endsWith("out.txt")
                      || file.toString().endsWith(".partial")));
    }
  }

  private Path valid(String name) throws IOException {
    return TensorFiles.write(folder.resolve(name), DType.F32, new double[] {1, 2, 3, 4}, 2, 2);
  }

  private Path npy(String dictionary, int dataBytes) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0});
    content.write(dictionary.length());
    content.write(dictionary.length() >> 8);
    content.write(dictionary.getBytes(StandardCharsets.ISO_8859_1));
    content.write(new byte[dataBytes]);
    return Files.write(folder.resolve("in.npy"), content.toByteArray());
  }
}
