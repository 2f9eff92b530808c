package dev.culebra.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
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
 * operating system then faults whoever touches the lost part. {@link #read} notices that.
 */
public final class TensorFile implements AutoCloseable {
  private final String name;
  private final FileChannel channel;
  private final Arena arena;
  private final long mappedBytes;
  private final List<TensorData> tensors;
  private final Map<String, String> metadata;

  private TensorFile(Mapping mapping, List<TensorData> tensors, Map<String, String> metadata) {
    this.name = mapping.name;
    this.channel = mapping.channel;
    this.arena = mapping.arena;
    this.mappedBytes = mapping.bytes.byteSize();
    this.tensors = List.copyOf(tensors);
    this.metadata = Collections.unmodifiableMap(metadata);
  }

  /** A mapped file whose header has not been read. */
  private record Mapping(String name, FileChannel channel, Arena arena, MemorySegment bytes) {}

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
    try {
      return map(name, format, FileChannel.open(file, StandardOpenOption.READ));
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
    FileChannel channel =
        FileChannel.open(
            spool,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE);
    try {
      in.transferTo(Channels.newOutputStream(channel));
    } catch (Throwable e) {
      channel.close();
      throw e;
    }
    return map(name, TensorFileFormat.NPY, channel);
  }

  /** Maps and parses; the file that is returned owns the channel, which is closed on failure. */
  @SuppressWarnings("MustBeClosedChecker") // the file that is returned owns the arena
  private static TensorFile map(String name, TensorFileFormat format, FileChannel channel)
      throws IOException {
    // Shared, so that the thread that closes need not be the one that opened.
    Arena arena = Arena.ofShared();
    try {
      long size = channel.size();
      MemorySegment bytes = channel.map(FileChannel.MapMode.READ_ONLY, 0, size, arena);
      Mapping mapping = new Mapping(name, channel, arena, bytes);
      try {
        return switch (format) {
          case NPY -> ofNpy(mapping);
          case SAFETENSORS -> ofSafetensors(mapping);
        };
      } catch (InternalError e) {
        if (channel.size() < size) {
          throw shortened(name, e);
        }
        throw e;
      }
    } catch (Throwable e) {
      arena.close();
      channel.close();
      throw e;
    }
  }

  private static TensorFile ofNpy(Mapping mapping) throws IOException {
    NpyHeader header = NpyHeader.parse(mapping.name, mapping.bytes);
    TensorData tensor = new TensorData(header.spec(), mapping.bytes.asSlice(header.dataOffset()));
    return new TensorFile(mapping, List.of(tensor), Map.of());
  }

  private static TensorFile ofSafetensors(Mapping mapping) throws IOException {
    SafetensorsHeader header = SafetensorsHeader.parse(mapping.name, mapping.bytes);
    List<TensorData> tensors = new ArrayList<>();
    for (SafetensorsHeader.Entry entry : header.entries()) {
      MemorySegment bytes =
          mapping.bytes.asSlice(header.dataOffset() + entry.begin(), entry.end() - entry.begin());
      tensors.add(new TensorData(entry.spec(), bytes));
    }
    return new TensorFile(mapping, tensors, header.metadata());
  }

  /**
   * Runs what reads elements of this file through their segments, and notices if somebody shortened
   * the file meanwhile: then the JVM throws an {@link InternalError} out of the access, or, within
   * the file's last page, the elements read as 0.
   *
   * @param reading the access; on this thread and finished when it returns
   * @throws TensorFormatException if the file became shorter; what was read is then worth nothing
   */
  public void read(Runnable reading) throws IOException {
    try {
      reading.run();
    } catch (InternalError e) {
      if (channel.size() < mappedBytes) {
        throw shortened(name, e);
      }
      throw e;
    }
    if (channel.size() < mappedBytes) {
      throw shortened(name, null);
    }
  }

  private static TensorFormatException shortened(String name, @Nullable InternalError fault) {
    TensorFormatException e =
        new TensorFormatException(name, null, "it became shorter while it was read");
    if (fault != null) {
      e.initCause(fault);
    }
    return e;
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
      try {
        channel.close();
      } catch (IOException e) {
        throw new UncheckedIOException(name + ": " + e.getMessage(), e);
      }
    }
  }
}
