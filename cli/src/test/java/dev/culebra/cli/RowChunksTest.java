package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.culebra.cli.RowChunks.Chunk;
import dev.culebra.io.DType;
import dev.culebra.io.TensorSpec;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RowChunksTest {
  @Test
  void cutsAtRows() {
    RowChunks chunks = RowChunks.of(new TensorSpec("", DType.F32, 7, 10), 3 * 40 + 39);
    assertEquals(List.of(new Chunk(0, 3), new Chunk(3, 3), new Chunk(6, 1)), list(chunks));
  }

  @Test
  void foldsLeadingAxes() {
    RowChunks chunks = RowChunks.of(new TensorSpec("", DType.F16, 2, 3, 5), 1 << 20);
    assertEquals(List.of(new Chunk(0, 6)), list(chunks));
    assertEquals(5, chunks.rowLength());
    assertEquals(
        List.of(new Chunk(0, 1)), list(RowChunks.of(new TensorSpec("", DType.F64, 9), 1 << 20)));
  }

  @Test
  void aRowIsNeverCut() {
    assertEquals(
        List.of(new Chunk(0, 1), new Chunk(1, 1)),
        list(RowChunks.of(new TensorSpec("", DType.F64, 2, 1000), 16)));
  }

  @Test
  void emptyTensors() {
    assertFalse(RowChunks.of(new TensorSpec("", DType.F32, 0, 4), 100).iterator().hasNext());
    assertEquals(
        List.of(new Chunk(0, 3)), list(RowChunks.of(new TensorSpec("", DType.F32, 3, 0), 100)));
  }

  @Test
  void noPiecesOfNoElements() {
    for (long[] shape : new long[][] {{1L << 60, 0}, {1L << 30, 1L << 30, 0}, {0, 1L << 60}}) {
      RowChunks chunks = RowChunks.ofElements(new TensorSpec("", DType.F32, shape), 100);
      assertFalse(chunks.iterator().hasNext());
      assertEquals(0, chunks.rowsPerChunk() * chunks.rowLength());
    }
    TensorSpec some = new TensorSpec("", DType.F32, 7, 10);
    assertEquals(RowChunks.of(some, 100), RowChunks.ofElements(some, 100));
  }

  @Test
  void sizesBeyondTwoGibibytes() {
    RowChunks chunks = RowChunks.of(new TensorSpec("", DType.F32, 3, 1L << 31), 128L << 20);
    assertEquals(3, list(chunks).size());
    assertEquals(1L << 31, chunks.rowLength());
  }

  private static List<Chunk> list(RowChunks chunks) {
    List<Chunk> list = new ArrayList<>();
    chunks.forEach(list::add);
    return list;
  }
}
