package dev.culebra.io;

import static dev.culebra.io.Fixtures.fixture;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyTest {
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final double[] VALUES = {1, -2.5, 0, INF, -INF, 65504};

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"f4.npy", "f4_v2.npy", "f4_v3.npy"})
  void readsEveryVersion(String name) throws IOException {
    try (TensorFile file = TensorFile.open(fixture(name))) {
      TensorData tensor = file.tensor(null);
      assertEquals(new TensorSpec("", DType.F32, 2, 3), tensor.spec());
      assertTrue(tensor.bytes().isReadOnly());
      for (int i = 0; i < VALUES.length; i++) {
        assertEquals(
            (float) VALUES[i], tensor.bytes().getAtIndex(ValueLayout.JAVA_FLOAT_UNALIGNED, i));
      }
    }
  }

  @Test
  void readsHalves() throws IOException {
    try (TensorFile file = TensorFile.open(fixture("f2.npy"))) {
      TensorData tensor = file.tensor(null);
      assertEquals(DType.F16, tensor.spec().dtype());
      short[] bits = tensor.bytes().toArray(ValueLayout.JAVA_SHORT_UNALIGNED);
      for (int i = 0; i < VALUES.length; i++) {
        assertEquals((float) VALUES[i], Float.float16ToFloat(bits[i]));
      }
    }
  }

  @Test
  void readsDoubles() throws IOException {
    try (TensorFile file = TensorFile.open(fixture("f8.npy"))) {
      assertArrayEquals(
          VALUES, file.tensor(null).bytes().toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED));
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "i4.npy          | I32[2, 3]",
        "i8.npy          | I64[2, 3]",
        "u1.npy          | U8[2, 3]",
        "bool.npy        | BOOL[2]",
        "rank0.npy       | F32[]",
        "rank1.npy       | F32[5]",
        "rank4.npy       | F32[2, 1, 3, 4]",
        "zero_length.npy | F32[3, 0, 2]"
      })
  void recognisesTypesAndRanks(String name, String spec) throws IOException {
    try (TensorFile file = TensorFile.open(fixture(name))) {
      assertEquals(spec, file.tensor(null).spec().toString());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '~',
      value = {
        "truncated.npy ~ truncated: F32[2, 3] takes 24 bytes, the file has 23",
        "truncated_header.npy ~ truncated: the file ends within the header",
        "two_arrays.npy ~ 152 bytes follow the array F32[2, 3]; files of several arrays are not read",
        "big_endian.npy ~ the array is big-endian ('>f4'); save array.astype('<f4') instead",
        "fortran.npy ~ the array is in Fortran order; save numpy.ascontiguousarray(array) instead",
        "complex.npy ~ the type '<c16' is not supported",
        "structured.npy ~ structured arrays are not supported",
        "text.npy ~ the type '<U2' is not supported",
        "void2.npy ~ the type '|V2' is not supported (if it is bfloat16: that is read from"
            + " .safetensors only)"
      })
  void refusesWhatItCannotRead(String name, String reason) {
    Path path = fixture(name);
    TensorFormatException e =
        assertThrows(TensorFormatException.class, () -> TensorFile.open(path));
    assertEquals(reason, e.reason());
    assertEquals(path + ": " + reason, e.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{'descr': '<f4', 'fortran_order': False} | the key 'shape' is missing",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1} | the key 'x' is unknown",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)} | occurs twice",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)} | an axis' length is expected",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)} | is too large",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 2)} | addressed",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)} | True or False is expected",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x | text follows",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)} | is expected at character",
        "{'descr': 'f4', 'fortran_order': False, 'shape': (1,)} | does not say its byte order",
        "{'descr': '', 'fortran_order': False, 'shape': (1,)} | the type is empty",
        "[1] | '{' is expected at character 0"
      })
  void refusesMalformedHeaders(String dictionary, String reason) throws IOException {
    Path path = write(dictionary, 4);
    TensorFormatException e =
        assertThrows(TensorFormatException.class, () -> TensorFile.open(path));
    assertTrue(e.reason().contains(reason), e::reason);
  }

  @Test
  void readsHeadersThatOtherWritersFormat() throws IOException {
    Path path = write("{\"shape\":(2L,1,),\n'fortran_order' :False,'descr':'<f2'}", 4);
    try (TensorFile file = TensorFile.open(path)) {
      assertEquals("F16[2, 1]", file.tensor(null).spec().toString());
    }
  }

  @Test
  void refusesWhatIsNoFile() throws IOException {
    assertThrows(NoSuchFileException.class, () -> TensorFile.open(folder.resolve("missing.npy")));
    Path directory = Files.createDirectory(folder.resolve("folder.npy"));
    assertReason("it is a folder", directory);
    assertReason(
        "the extension must be .npy or .safetensors", Files.createFile(folder.resolve("a.bin")));
    assertReason("the magic bytes", Files.createFile(folder.resolve("empty.npy")));
    assertReason(
        "version 4.0",
        Files.write(
            folder.resolve("v4.npy"), new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 4, 0}));
    assertReason(
        "claims 4294967295 bytes",
        Files.write(
            folder.resolve("long.npy"),
            new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 2, 0, -1, -1, -1, -1}));
  }

  @Test
  void writesWhatNumPyWrites() throws IOException {
    for (String name :
        List.of(
            "f2.npy",
            "f4.npy",
            "f8.npy",
            "rank0.npy",
            "rank1.npy",
            "rank4.npy",
            "zero_length.npy",
            "u1.npy")) {
      Path copy = folder.resolve(name);
      try (TensorFile file = TensorFile.open(fixture(name))) {
        TensorData tensor = file.tensor(null);
        try (TensorWriter writer = TensorWriter.create(copy, List.of(tensor.spec()), Map.of())) {
          writer.append("", tensor.bytes());
          writer.commit();
        }
      }
      assertArrayEquals(Files.readAllBytes(fixture(name)), Files.readAllBytes(copy), name);
    }
  }

  @Test
  void goesThroughStreams() throws IOException {
    byte[] whole = Files.readAllBytes(fixture("f4.npy"));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (TensorFile file = TensorFile.readNpy(new ByteArrayInputStream(whole), "standard input")) {
      TensorData tensor = file.tensor(null);
      try (TensorWriter writer = TensorWriter.npyTo(out, "standard output", tensor.spec())) {
        assertEquals(0, out.size(), "what fails before the first element has written nothing");
        writer.append("", tensor.bytes().asSlice(0, 5));
        writer.append("", tensor.bytes().asSlice(5));
        writer.commit();
      }
    }
    assertArrayEquals(whole, out.toByteArray());
    TensorFormatException e =
        assertThrows(
            TensorFormatException.class,
            () -> TensorFile.readNpy(new ByteArrayInputStream(whole, 0, 140), "standard input"));
    assertTrue(e.getMessage().startsWith("standard input: truncated"), e::getMessage);
  }

  @Test
  void namesTheStreamThatCannotBeWritten() throws IOException {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("it is full");
          }
        };
    TensorSpec spec = new TensorSpec("", DType.F32, 1);
    try (TensorWriter writer = TensorWriter.npyTo(full, "standard output", spec)) {
      IOException e =
          assertThrows(
              IOException.class, () -> writer.append("", MemorySegment.ofArray(new float[1])));
      assertEquals("standard output: it is full", e.getMessage());
    }
  }

  @Test
  void mapsMoreThanTwoGibibytes() throws IOException {
    long length = (1L << 31) + 10;
    Path path = folder.resolve("large.npy");
    Files.write(
        path,
        header("{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }".formatted(length)));
    long dataOffset = Files.size(path);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(dataOffset + length); // sparse: takes no room on the disk
      file.seek(dataOffset);
      file.write(17);
      file.seek(dataOffset + length - 1);
      file.write(19);
    }
    try (TensorFile file = TensorFile.open(path)) {
      MemorySegment bytes = file.tensor(null).bytes();
      assertEquals(length, bytes.byteSize());
      assertEquals(17, bytes.get(ValueLayout.JAVA_BYTE, 0));
      assertEquals(19, bytes.get(ValueLayout.JAVA_BYTE, length - 1));
    }
  }

  @Test
  void bytesEndWithTheFile() throws IOException {
    TensorFile file = TensorFile.open(fixture("f4.npy"));
    MemorySegment bytes = file.tensor(null).bytes();
    file.close();
    file.close();
    assertThrows(IllegalStateException.class, () -> bytes.get(ValueLayout.JAVA_BYTE, 0));
  }

  private static void assertReason(String reason, Path path) {
    TensorFormatException e =
        assertThrows(TensorFormatException.class, () -> TensorFile.open(path));
    assertTrue(e.reason().contains(reason), e::reason);
  }

  private Path write(String dictionary, int dataBytes) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.write(header(dictionary));
    content.write(new byte[dataBytes]);
    return Files.write(folder.resolve("case.npy"), content.toByteArray());
  }

  private static byte[] header(String dictionary) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    content.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0});
    content.write(dictionary.length());
    content.write(dictionary.length() >> 8);
    content.write(dictionary.getBytes(StandardCharsets.ISO_8859_1));
    return content.toByteArray();
  }
}
