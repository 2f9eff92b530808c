package dev.culebra.io;

import static dev.culebra.io.Fixtures.fixture;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SafetensorsTest {
  @TempDir Path folder;

  @Test
  void readsWhatTheLibraryWrites() throws IOException {
    try (TensorFile file = TensorFile.open(fixture("several.safetensors"))) {
      assertEquals(Map.of("format", "pt", "author", "Culebra"), file.metadata());
      assertEquals("f32 F32[2, 3]", file.tensor("f32").spec().toString());
      assertEquals("f16 F16[2, 3]", file.tensor("f16").spec().toString());
      assertEquals("f64 F64[2, 3]", file.tensor("f64").spec().toString());
      assertEquals("scalar F32[]", file.tensor("scalar").spec().toString());
      assertEquals("empty F32[3, 0]", file.tensor("empty").spec().toString());
      assertEquals(7f, file.tensor("scalar").bytes().get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0));
      assertArrayEquals(
          new long[] {0, 1, 2},
          file.tensor("i64").bytes().toArray(ValueLayout.JAVA_LONG_UNALIGNED));
      assertArrayEquals(
          new float[] {0, 1},
          file.tensor("name with # and ü").bytes().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
    }
  }

  @Test
  void readsBfloat16() throws IOException {
    try (TensorFile file = TensorFile.open(fixture("bf16.safetensors"))) {
      TensorData tensor = file.tensor(null);
      assertEquals("bf16 BF16[2, 3]", tensor.spec().toString());
      short[] bits = tensor.bytes().toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
      assertEquals(-2.5f, Float.intBitsToFloat(bits[1] << 16));
      assertEquals(65536f, Float.intBitsToFloat(bits[5] << 16));
    }
  }

  @Test
  void aSingleTensorNeedsNoName() throws IOException {
    try (TensorFile file = TensorFile.open(fixture("single.safetensors"))) {
      assertEquals("logits", file.tensor(null).spec().name());
    }
    try (TensorFile file = TensorFile.open(fixture("several.safetensors"))) {
      TensorFormatException several =
          assertThrows(TensorFormatException.class, () -> file.tensor(null));
      assertTrue(several.reason().contains("the file has 7 tensors; choose one"), several::reason);
      TensorFormatException missing =
          assertThrows(TensorFormatException.class, () -> file.tensor("f3"));
      assertTrue(
          missing.reason().contains("there is no such tensor; the file has"), missing::reason);
      assertTrue(missing.reason().contains("f32"), missing::reason);
      assertEquals("f3", missing.tensor());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      nullValues = "-",
      value = {
        "{\"__metadata__\":{\"k\":\"\\udfff\"}} | 0 | - | __metadata__ entry k has half of a surrogate pair, \\udfff",
        "{\"__metadata__\":{\"\\ud800\":\"\"}} | 0 | - | not valid JSON: Broken surrogate pair",
        "{\"a\\udc00b\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}} | 0 | - | not valid JSON: Unexpected low surrogate",
        "not json | 8 | - | the header does not begin with '{'",
        "{\"a\": | 8 | - | the header is not valid JSON",
        "{} x | 0 | - | the header is not valid JSON",
        "{} {} | 0 | - | text follows the JSON object",
        "[] | 0 | - | the header does not begin with '{'",
        "{\"a\":1} | 0 | a | the entry must be an object",
        "{\"a\":{}} | 0 | a | needs dtype, shape and data_offsets",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}} | 8 | a | unknown key x",
        "{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}} | 8 | a | two dtype",
        "{\"a\":{\"dtype\":\"F33\",\"shape\":[2],\"data_offsets\":[0,8]}} | 8 | a | the type F33 is unknown",
        "{\"a\":{\"dtype\":32,\"shape\":[2],\"data_offsets\":[0,8]}} | 8 | a | dtype must be a string",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}} | 8 | a | shape must be a list",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2.0],\"data_offsets\":[0,8]}} | 8 | a | each of shape must be a whole",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}} | 8 | a | negative number -2",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,8]}} | 8 | - | not valid JSON",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,2],\"data_offsets\":[0,8]}} | 8 | a | addressed",
        "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}} | 1 | a | do not fill whole bytes",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[3],\"data_offsets\":[0,8]}} | 8 | a | takes 12 bytes, data_offsets give it 8",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,0]}} | 8 | a | must be a begin and an end",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0]}} | 8 | a | must be a begin and an end",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}} | 7 | a | truncated: the data end at byte 8, the file has 7",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}} | 9 | - | 1 bytes at the end of the file belong to no",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}} | 8 | a | 4 bytes between it and the header",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[4,12]}} | 12 | b | overlaps tensor a",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}} | 0 | a | two tensors of this name",
        "{\"__metadata__\":{\"a\":1}} | 0 | - | __metadata__ entry a must be a string",
        "{\"__metadata__\":{\"a\":\"b\",\"a\":\"c\"}} | 0 | - | two entries a",
        "{\"__metadata__\":{},\"__metadata__\":{}} | 0 | - | two __metadata__"
      })
  void refusesHeadersThatLie(String json, int dataBytes, String tensor, String reason)
      throws IOException {
    byte[] header = json.getBytes(StandardCharsets.UTF_8);
    Path path = write(header.length, header, dataBytes);
    TensorFormatException e =
        assertThrows(TensorFormatException.class, () -> TensorFile.open(path));
    assertTrue(e.reason().contains(reason), e::getMessage);
    assertEquals(tensor, e.tensor());
    assertTrue(e.getMessage().startsWith(path.toString()), e::getMessage);
  }

  @Test
  void refusesLengthsThatLie() throws IOException {
    byte[] json = "{}".getBytes(StandardCharsets.UTF_8);
    assertReason("truncated: the header claims 3 bytes, the file has 2", write(3, json, 0));
    assertReason("claims 100000001 bytes; the format allows", write(100_000_001, json, 0));
    assertReason("claims 18446744073709551615 bytes", write(-1, json, 0));
    assertReason(
        "begins with 8 bytes, this has 0",
        Files.write(folder.resolve("0.safetensors"), new byte[0]));
    assertReason("not UTF-8", write(3, new byte[] {'{', (byte) 0xFF, '}'}, 0));
    // A UTF-16 header must not be taken for one that happens to parse.
    assertReason("not valid JSON", write(4, new byte[] {'{', 0, '}', 0}, 0));
    // Nesting deep enough to exhaust a recursive reader.
    byte[] deep = ("{\"a\":" + "[".repeat(100_000)).getBytes(StandardCharsets.UTF_8);
    assertReason("the entry must be an object", write(deep.length, deep, 0));
  }

  @Test
  void readsAnEmptyFileOfTensors() throws IOException {
    try (TensorFile file = TensorFile.open(write(3, "{} ".getBytes(StandardCharsets.UTF_8), 0))) {
      assertEquals(List.of(), file.tensors());
      TensorFormatException e = assertThrows(TensorFormatException.class, () -> file.tensor(null));
      assertEquals("the file has no tensors", e.reason());
    }
  }

  @Test
  void writesAlignedAndKeepsMetadata() throws IOException {
    Path path = folder.resolve("out.safetensors");
    TensorSpec half = new TensorSpec("half \"quoted\"", DType.F16, 3);
    TensorSpec wide = new TensorSpec("wide", DType.F64, 1, 2);
    TensorSpec nothing = new TensorSpec("nothing", DType.F32, 0);
    Map<String, String> metadata = Map.of("made by", "a test\n");
    try (TensorWriter writer = TensorWriter.create(path, List.of(half, wide, nothing), metadata)) {
      // Side by side and in pieces, as a program does that makes two results a row.
      writer.append(half.name(), MemorySegment.ofArray(new short[] {1}));
      writer.append("wide", MemorySegment.ofArray(new double[] {1.5}));
      writer.append(half.name(), MemorySegment.ofArray(new short[] {2, 3}));
      writer.append("wide", MemorySegment.ofArray(new double[] {2.5}));
      writer.commit();
    }
    try (TensorFile file = TensorFile.open(path)) {
      assertEquals(metadata, file.metadata());
      assertArrayEquals(
          new short[] {1, 2, 3},
          file.tensor(half.name()).bytes().toArray(ValueLayout.JAVA_SHORT_UNALIGNED));
      assertArrayEquals(
          new double[] {1.5, 2.5},
          file.tensor("wide").bytes().toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED));
      for (TensorData tensor : file.tensors()) {
        assertEquals(0, tensor.bytes().address() % (tensor.spec().dtype().bits() / 8));
      }
    }
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(path)).order(ByteOrder.LITTLE_ENDIAN);
    assertEquals(0, bytes.getLong(0) % 8);
  }

  @Test
  void refusesNamesThatClash() {
    TensorSpec spec = new TensorSpec("a", DType.F32, 1);
    Path path = folder.resolve("x.safetensors");
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.create(path, List.of(spec, spec), Map.of()));
    TensorSpec metadata = new TensorSpec("__metadata__", DType.F32, 1);
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.create(path, List.of(metadata), Map.of()));
  }

  private static void assertReason(String reason, Path path) {
    TensorFormatException e =
        assertThrows(TensorFormatException.class, () -> TensorFile.open(path));
    assertTrue(e.reason().contains(reason), e::reason);
  }

  private Path write(long claimedLength, byte[] json, int dataBytes) throws IOException {
    ByteBuffer content =
        ByteBuffer.allocate(8 + json.length + dataBytes).order(ByteOrder.LITTLE_ENDIAN);
    content.putLong(claimedLength).put(json);
    return Files.write(folder.resolve("case.safetensors"), content.array());
  }
}
