package dev.culebra.io;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TensorWriterTest {
  private static final TensorSpec FOUR = new TensorSpec("", DType.F32, 4);
  private static final MemorySegment DATA = MemorySegment.ofArray(new float[] {1, 2, 3, 4});

  @TempDir Path folder;

  @Test
  void nothingAppearsBeforeTheCommit() throws IOException {
    Path path = folder.resolve("a.npy");
    try (TensorWriter writer = TensorWriter.create(path, List.of(FOUR), Map.of())) {
      writer.append("", DATA);
      assertFalse(Files.exists(path));
      writer.commit();
      assertEquals(List.of("a.npy"), names());
    }
    assertEquals(List.of("a.npy"), names());
  }

  @Test
  void nothingStaysWithoutACommit() throws IOException {
    Path path = folder.resolve("a.npy");
    Files.writeString(path, "old");
    try (TensorWriter writer = TensorWriter.create(path, List.of(FOUR), Map.of())) {
      writer.append("", DATA.asSlice(0, 8));
      IllegalStateException e = assertThrows(IllegalStateException.class, writer::commit);
      assertEquals("tensor '' lacks 8 bytes", e.getMessage());
    }
    assertEquals(List.of("a.npy"), names());
    assertEquals("old", Files.readString(path));
  }

  @Test
  void takesNoMoreThanTheShape() throws IOException {
    try (TensorWriter writer =
        TensorWriter.create(folder.resolve("a.npy"), List.of(FOUR), Map.of())) {
      writer.append("", DATA);
      assertThrows(IllegalArgumentException.class, () -> writer.append("", DATA.asSlice(0, 4)));
      assertThrows(IllegalArgumentException.class, () -> writer.append("b", DATA));
    }
  }

  @Test
  void keepsTheModeOfAFileItReplacesAndFollowsLinks() throws IOException {
    Path path = folder.resolve("a.npy");
    Files.createFile(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r-----"));
    Path link = Files.createSymbolicLink(folder.resolve("link.npy"), path);
    try (TensorWriter writer = TensorWriter.create(link, List.of(FOUR), Map.of())) {
      writer.append("", DATA);
      writer.commit();
    }
    assertTrue(Files.isSymbolicLink(link));
    assertEquals(144, Files.size(path));
    assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(path)));
  }

  @Test
  void saysWhyItCannotBegin() throws IOException {
    NoSuchFileException missing =
        assertThrows(
            NoSuchFileException.class,
            () -> TensorWriter.create(folder.resolve("no/where/a.npy"), List.of(FOUR), Map.of()));
    assertTrue(String.valueOf(missing.getReason()).contains("no/where does not exist"));

    Path directory = Files.createDirectory(folder.resolve("d.npy"));
    IOException isFolder =
        assertThrows(
            IOException.class, () -> TensorWriter.create(directory, List.of(FOUR), Map.of()));
    assertTrue(String.valueOf(isFolder.getMessage()).endsWith("it is a folder"));

    TensorSpec enormous = new TensorSpec("", DType.F64, 1L << 59);
    IOException full =
        assertThrows(
            IOException.class,
            () -> TensorWriter.create(folder.resolve("a.npy"), List.of(enormous), Map.of()));
    assertTrue(
        String.valueOf(full.getMessage())
            .contains("F64[576460752303423488] takes 4611686018427388032 bytes, the disk has"));

    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.create(folder.resolve("a.txt"), List.of(FOUR), Map.of()));
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.create(folder.resolve("a.npy"), List.of(FOUR, FOUR), Map.of()));
    IllegalArgumentException bf16 =
        assertThrows(
            IllegalArgumentException.class,
            () ->
                TensorWriter.create(
                    folder.resolve("a.npy"), List.of(new TensorSpec("", DType.BF16, 1)), Map.of()));
    assertTrue(String.valueOf(bf16.getMessage()).contains("write a .safetensors file"));
    assertEquals(List.of("d.npy"), names());
  }

  @Test
  void aCheckFailsAsCreateWouldAndWritesNothing() throws IOException {
    TensorWriter.check(folder.resolve("a.npy"), List.of(FOUR), Map.of());
    assertThrows(
        NoSuchFileException.class,
        () -> TensorWriter.check(folder.resolve("no/a.npy"), List.of(FOUR), Map.of()));
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.check(folder.resolve("a.npy"), List.of(FOUR, FOUR), Map.of()));
    assertEquals(List.of(), names());
  }

  @Test
  void moreThanAnyFileIsNotBegun() {
    TensorSpec enormous = new TensorSpec("a", DType.U8, Long.MAX_VALUE);
    TensorSpec more = new TensorSpec("b", DType.U8, 1);
    for (String name : List.of("a.npy", "a.safetensors")) {
      IOException e =
          assertThrows(
              IOException.class,
              () -> TensorWriter.create(folder.resolve(name), List.of(enormous), Map.of()));
      assertTrue(String.valueOf(e.getMessage()).contains("U8[9223372036854775807] takes"), name);
    }
    assertThrows(
        IllegalArgumentException.class,
        () ->
            TensorWriter.create(
                folder.resolve("a.safetensors"), List.of(enormous, more), Map.of()));
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    TensorSpec large = new TensorSpec("", DType.F32, 1L << 60);
    IOException e =
        assertThrows(IOException.class, () -> TensorWriter.npyTo(stream, "standard output", large));
    assertTrue(
        String.valueOf(e.getMessage())
            .startsWith("standard output: F32[1152921504606846976] takes"));
    assertEquals(0, stream.size());
  }

  @Test
  void writesWhereALinkPointsThoughNothingIsThereYet() throws IOException {
    Path folders = Files.createDirectory(folder.resolve("sub"));
    Path link = Files.createSymbolicLink(folder.resolve("link.npy"), Path.of("sub/second.npy"));
    Files.createSymbolicLink(folders.resolve("second.npy"), Path.of("third.npy"));
    try (TensorWriter writer = TensorWriter.create(link, List.of(FOUR), Map.of())) {
      writer.append("", DATA);
      writer.commit();
    }
    assertTrue(Files.isSymbolicLink(link));
    assertEquals(144, Files.size(folders.resolve("third.npy")));
    assertTrue(Files.isSymbolicLink(folders.resolve("second.npy")));

    Path nowhere = Files.createSymbolicLink(folder.resolve("n.npy"), Path.of("no/where.npy"));
    NoSuchFileException missing =
        assertThrows(
            NoSuchFileException.class, () -> TensorWriter.create(nowhere, List.of(FOUR), Map.of()));
    assertTrue(String.valueOf(missing.getReason()).endsWith("no does not exist"));
    Path circle = Files.createSymbolicLink(folder.resolve("c.npy"), Path.of("c.npy"));
    assertThrows(
        FileSystemLoopException.class, () -> TensorWriter.create(circle, List.of(FOUR), Map.of()));
  }

  @Test
  void refusesNamesThatNoHeaderCanHold() {
    Path path = folder.resolve("a.safetensors");
    for (String name : List.of("__metadata__", "a\udfff", "\ud800")) {
      assertThrows(
          IllegalArgumentException.class,
          () -> TensorWriter.create(path, List.of(new TensorSpec(name, DType.F32, 4)), Map.of()),
          name);
    }
    TensorSpec named = new TensorSpec("\ud83d\ude00", DType.F32, 4); // a whole pair is a text
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.create(path, List.of(named), Map.of("k", "\udfff")));
    assertThrows(
        IllegalArgumentException.class,
        () -> TensorWriter.create(path, List.of(named, named), Map.of()));
  }

  @Test
  void aTerminatedProcessLeavesNothing() throws Exception {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path", ""),
                Unfinished.class.getName(),
                folder.resolve("a.npy").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (var lines = process.inputReader()) {
      assertEquals("begun", lines.readLine());
      assertEquals(1, names().size(), "the partial file is there while the process runs");
      process.destroy(); // SIGTERM
      assertTrue(process.waitFor(30, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    assertEquals(List.of(), names());
  }

  /** Begins a file and never finishes it. */
  static final class Unfinished {
    private Unfinished() {}

    public static void main(String[] args) throws Exception {
      TensorWriter writer = TensorWriter.create(Path.of(args[0]), List.of(FOUR), Map.of());
      writer.append("", DATA.asSlice(0, 4));
      System.out.println("begun");
      Thread.sleep(60_000);
    }
  }

  @Test
  void writesFromHeapAndNativeMemoryAlike() throws IOException {
    int count = 100_000; // more than one scratch buffer
    float[] values = new float[count];
    for (int i = 0; i < count; i++) {
      values[i] = i;
    }
    TensorSpec spec = new TensorSpec("", DType.F32, count);
    Path heap = write("heap.npy", spec, MemorySegment.ofArray(values));
    Path off;
    try (var arena = Arena.ofConfined()) {
      off = write("native.npy", spec, arena.allocateFrom(ValueLayout.JAVA_FLOAT, values));
    }
    assertArrayEquals(Files.readAllBytes(heap), Files.readAllBytes(off));
    try (TensorFile file = TensorFile.open(heap)) {
      assertArrayEquals(
          values, file.tensor(null).bytes().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED));
    }
  }

  private Path write(String name, TensorSpec spec, MemorySegment bytes) throws IOException {
    Path path = folder.resolve(name);
    try (TensorWriter writer = TensorWriter.create(path, List.of(spec), Map.of())) {
      writer.append("", bytes);
      writer.commit();
    }
    return path;
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
