package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.io.DType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Somebody shortens the input while a command reads it. */
class ShortenedInputTest {
  private static final int ROWS = 20_000;
  private static final int LENGTH = 16;

  /** A piece a row: thousands are to come when the first has been written. */
  private static final long CHUNK_BYTES = 4 * LENGTH;

  @TempDir Path folder;

  @Test
  @Timeout(120)
  void softmaxSaysSo() throws Exception {
    refuses("softmax");
  }

  @Test
  @Timeout(120)
  void reduceSaysSo() throws Exception {
    refuses("reduce", "--op", "sum");
  }

  private void refuses(String... command) throws Exception {
    Path in =
        TensorFiles.write(
            folder.resolve("in.npy"), DType.F32, new double[ROWS * LENGTH], ROWS, LENGTH);
    List<String> args = new java.util.ArrayList<>(List.of(command));
    args.addAll(List.of(in.toString(), "-o", folder.resolve("out.npy").toString()));
    CompletableFuture<CommandRun> running =
        CompletableFuture.supplyAsync(
            () -> CommandRun.of(CHUNK_BYTES, new byte[0], args.toArray(String[]::new)));
    while (names().size() < 2) {
      assertTrue(!running.isDone(), "it was done before the input could be shortened");
      Thread.onSpinWait();
    }
    try (RandomAccessFile file = new RandomAccessFile(in.toFile(), "rw")) {
      file.setLength(200);
    }
    CommandRun run = running.get();
    assertEquals(3, run.status(), run::err);
    assertEquals(
        "culebra: " + in + ": it became shorter while it was read" + System.lineSeparator(),
        run.err());
    assertEquals(List.of("in.npy"), names());
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
