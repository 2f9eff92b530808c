package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.DType;
import dev.culebra.io.TensorFile;
import dev.culebra.ops.Reduction;
import dev.culebra.ops.TopK;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.StorageType;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * That pieces are on their way while others are computed: of how many bytes work was enqueued and
 * not waited for. That what comes of them is right is told by the tests of the commands.
 */
class OverlapTest {
  private static final int ROWS = 64;
  private static final int LENGTH = 100;
  private static final long ROW_BYTES = 4 * LENGTH;

  /** Of this budget a slot has a quarter, two rows. */
  private static final long BUDGET = 8 * ROW_BYTES;

  @TempDir Path folder;

  private interface Use {
    void of(Surroundings surroundings, OpenDevice open, TensorFile file) throws IOException;
  }

  private void with(int rows, int length, Use use) throws IOException {
    double[] values = HardInput.NORMAL.rows(rows, length, StorageType.F32, 71);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, rows, length);
    Surroundings surroundings =
        Surroundings.of(
            new ByteArrayInputStream(new byte[0]),
            new ByteArrayOutputStream(),
            new PrintWriter(new StringWriter()),
            BUDGET);
    DeviceOption device = CommandLine.populateCommand(new DeviceOption());
    try (TensorFile file = TensorFile.open(in);
        OpenDevice open = OpenDevice.open(surroundings, device)) {
      use.of(surroundings, open, file);
    }
  }

  private void assertFourInFlight(
      int rows,
      int length,
      Function<TensorReduction.Job<?>, TensorReduction<?>> make,
      long pieceBytes,
      long results)
      throws IOException {
    with(
        rows,
        length,
        (surroundings, open, file) -> {
          TensorReduction<?> reduction =
              make.apply(
                  new TensorReduction.Job<>(
                      surroundings,
                      open,
                      Reduction.Op.SUM,
                      file,
                      file.tensor(null),
                      ElementType.F32));
          long[] bytes = new long[1];
          reduction.run(part -> bytes[0] += part.byteSize());
          assertEquals(results * Float.BYTES, bytes[0]);
          assertEquals(SlotRing.MOST_SLOTS * pieceBytes, reduction.mostInFlightBytes());
        });
  }

  @Test
  @DisplayName("reduce has four pieces on their way, whatever it reduces")
  void reduce() throws IOException {
    assertFourInFlight(ROWS, LENGTH, job -> new RowReduction<>(job), 2 * ROW_BYTES, ROWS);
    assertFourInFlight(ROWS, LENGTH, job -> new WholeReduction<>(job), 2 * ROW_BYTES, 1);
    assertFourInFlight(ROWS, LENGTH, job -> new ColumnReduction<>(job, 0), 2 * ROW_BYTES, LENGTH);
    long[] offsets = new long[ROWS * 2 + 1];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = i * (LENGTH / 2L);
    }
    assertFourInFlight(
        ROWS, LENGTH, job -> new SegmentReduction<>(job, offsets), 2 * ROW_BYTES, 2L * ROWS);
  }

  @Test
  @DisplayName("a row, a segment or a column larger than the budget is cut, and its pieces overlap")
  void reduceWhatIsCut() throws IOException {
    int length = 16 * LENGTH;
    assertFourInFlight(3, length, job -> new RowReduction<>(job), 2 * ROW_BYTES, 3);
    assertFourInFlight(
        3,
        length,
        job -> new SegmentReduction<>(job, new long[] {0, length, 3L * length}),
        2 * ROW_BYTES,
        2);
    assertFourInFlight(length, 3, job -> new ColumnReduction<>(job, 0), 66L * 3 * 4, 3);
  }

  @Test
  @DisplayName("top-k has four pieces on their way")
  void topK() throws IOException {
    with(
        ROWS,
        LENGTH,
        (surroundings, open, file) -> {
          TopK topK = TopK.of(open.context(), 2);
          try (RowPassage<ElementType.F32> rows =
              new RowPassage<>(
                  surroundings,
                  open,
                  file,
                  file.tensor(null),
                  ElementType.F32,
                  List.of(
                      new RowPassage.Result(ElementType.F32, 2),
                      new RowPassage.Result(ElementType.I64, 2)),
                  0,
                  (logits, first, out, stream) ->
                      topK.forward(
                          logits,
                          TensorView.of(out.get(0).as(ElementType.F32), logits.length(0), 2),
                          TensorView.of(out.get(1), logits.length(0), 2),
                          stream))) {
            long[] bytes = new long[2];
            rows.run((result, part) -> bytes[result] += part.byteSize());
            assertEquals(ROWS * 2L * Float.BYTES, bytes[0]);
            assertEquals(ROWS * 2L * Long.BYTES, bytes[1]);
            assertEquals(SlotRing.MOST_SLOTS * 2 * ROW_BYTES, rows.mostInFlightBytes());
          }
        });
  }
}
