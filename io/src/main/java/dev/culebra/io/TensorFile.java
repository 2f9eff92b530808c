package dev.culebra.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A {@code .npy} or {@code .safetensors} file, mapped into memory for reading.
 *
 * <p>The header has been checked when the object is there: types, shapes and places of all tensors
 * agree with each other and with the size of the file. Elements are not looked at. Sizes are 64-bit
 * throughout.
 *
 * <p>The segments of the tensors are read-only views of the mapping; they end with {@link #close}.
 * All methods may be called from any thread. A file must not be shortened while it is mapped: the
 * operating system then faults whoever touches the lost part.
 */
public final class TensorFile implements AutoCloseable {
  private final String name;
  private final Arena arena;
  private final List<TensorData> tensors;
  private final Map<String, String> metadata;

  private TensorFile(
      String name, Arena arena, List<TensorData> tensors, Map<String, String> metadata) {
    this.name = name;
    this.arena = arena;
    this.tensors = List.copyOf(tensors);
    this.metadata = Collections.unmodifiableMap(metadata);
  }

  /**
   * Maps a file; its extension says the format.
   *
   * @throws TensorFormatException if the extension is unknown or the content is not what it should
   *     be
   * @throws IOException if the file is missing, unreadable or no regular file
   */
  public static TensorFile open(Path file) throws IOException {
    String name = file.toString();
    TensorFileFormat format =
        TensorFileFormat.of(name)
            .orElseThrow(
                () ->
                    new TensorFormatException(
                        name, null, "the extension must be .npy or .safetensors"));
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new TensorFormatException(
          name,
          null,
          Files.isDirectory(file)
              ? "it is a folder"
              : "it is not a regular file and cannot be mapped; a .npy can come from standard input");
    }
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return map(name, format, channel);
    } catch (NoSuchFileException e) {
      throw new NoSuchFileException(name, null, "no such file");
    }
  }

  /**
   * Reads a {@code .npy} to the end of a stream, by way of a temporary file: what a header claims
   * is never allocated before it is there.
   *
   * @param in the stream; left open
   * @param name what to call it in messages
   */
  public static TensorFile readNpy(InputStream in, String name) throws IOException {
    Path spool = Files.createTempFile("culebra", TensorFileFormat.NPY.extension());
    try (FileChannel channel =
        FileChannel.open(
            spool,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE)) {
      OutputStream out = Channels.newOutputStream(channel);
      in.transferTo(out);
      return map(name, TensorFileFormat.NPY, channel);
    }
  }

  @SuppressWarnings("MustBeClosedChecker") // the file that is returned owns the arena
  private static TensorFile map(String name, TensorFileFormat format, FileChannel channel)
      throws IOException {
    // Shared, so that the thread that closes need not be the one that opened.
    Arena arena = Arena.ofShared();
    try {
      MemorySegment file = channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
      return switch (format) {
        case NPY -> ofNpy(name, arena, file);
        case SAFETENSORS -> ofSafetensors(name, arena, file);
      };
    } catch (Throwable e) {
      arena.close();
      throw e;
    }
  }

  private static TensorFile ofNpy(String name, Arena arena, MemorySegment file) throws IOException {
    NpyHeader header = NpyHeader.parse(name, file);
    TensorData tensor = new TensorData(header.spec(), file.asSlice(header.dataOffset()));
    return new TensorFile(name, arena, List.of(tensor), Map.of());
  }

  private static TensorFile ofSafetensors(String name, Arena arena, MemorySegment file)
      throws IOException {
    SafetensorsHeader header = SafetensorsHeader.parse(name, file);
    List<TensorData> tensors = new ArrayList<>();
    for (SafetensorsHeader.Entry entry : header.entries()) {
      MemorySegment bytes =
          file.asSlice(header.dataOffset() + entry.begin(), entry.end() - entry.begin());
      tensors.add(new TensorData(entry.spec(), bytes));
    }
    return new TensorFile(name, arena, tensors, header.metadata());
  }

  /** The tensors, in the order of their data. */
  public List<TensorData> tensors() {
    return tensors;
  }

  /** The {@code __metadata__} of a {@code .safetensors} file; empty if there is none. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /**
   * The tensor of that name, or the only one if {@code tensorName} is null.
   *
   * @throws TensorFormatException if there is none, or several to choose from; it lists their names
   */
  public TensorData tensor(@Nullable String tensorName) throws TensorFormatException {
    if (tensorName == null) {
      if (tensors.size() == 1) {
        return tensors.getFirst();
      }
      throw new TensorFormatException(
          name,
          null,
          tensors.isEmpty()
              ? "the file has no tensors"
              : "the file has %d tensors; choose one: %s#NAME, of %s"
                  .formatted(tensors.size(), name, nameList()));
    }
    for (TensorData tensor : tensors) {
      if (tensor.spec().name().equals(tensorName)) {
        return tensor;
      }
    }
    throw new TensorFormatException(
        name, tensorName, "there is no such tensor; the file has " + nameList());
  }

  private String nameList() {
    int shown = 12;
    List<String> names = tensors.stream().limit(shown).map(tensor -> tensor.spec().name()).toList();
    int more = tensors.size() - names.size();
    return String.join(", ", names) + (more > 0 ? " and " + more + " more" : "");
  }

  /** Unmaps the file. Closing twice does nothing. */
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
    }
  }
}
