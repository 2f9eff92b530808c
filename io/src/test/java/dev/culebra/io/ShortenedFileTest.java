package dev.culebra.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Somebody else shortens a file while it is mapped. */
class ShortenedFileTest {
  private static final int ELEMENTS = 1 << 18;

  @TempDir Path folder;

  /** 100 bytes less is within a page, where the system faults nobody. */
  @ParameterizedTest
  @ValueSource(ints = {100, 4 * ELEMENTS})
  void isNoticedBySize(int bytesLess) throws IOException {
    Path path = written();
    MemorySegment copy = MemorySegment.ofArray(new byte[4 * ELEMENTS]);
    try (TensorFile file = TensorFile.open(path)) {
      MemorySegment bytes = file.tensor(null).bytes();
      file.read(() -> copy.copyFrom(bytes));
      shorten(path, bytesLess);
      TensorFormatException e =
          assertThrows(TensorFormatException.class, () -> file.read(() -> copy.copyFrom(bytes)));
      assertEquals(path + ": it became shorter while it was read", e.getMessage());
    }
  }

  @Test
  void anotherFaultIsNotMistakenForIt() throws IOException {
    InternalError fault = new InternalError("of another kind");
    try (TensorFile file = TensorFile.open(written())) {
      InternalError thrown =
          assertThrows(
              InternalError.class,
              () ->
                  file.read(
                      () -> {
                        throw fault;
                      }));
      assertSame(fault, thrown);
    }
  }

  @Test
  void aFileThatGrowsIsReadAsItWas() throws IOException {
    Path path = written();
    try (TensorFile file = TensorFile.open(path)) {
      shorten(path, -100);
      boolean[] ran = new boolean[1];
      file.read(() -> ran[0] = true);
      assertTrue(ran[0]);
    }
  }

  private Path written() throws IOException {
    Path path = folder.resolve("a.npy");
    TensorSpec spec = new TensorSpec("", DType.F32, ELEMENTS);
    try (TensorWriter writer = TensorWriter.create(path, List.of(spec), Map.of())) {
      writer.append("", MemorySegment.ofArray(new float[ELEMENTS]));
      writer.commit();
    }
    return path;
  }

  private static void shorten(Path path, long bytes) throws IOException {
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.setLength(file.length() - bytes);
    }
  }
}
