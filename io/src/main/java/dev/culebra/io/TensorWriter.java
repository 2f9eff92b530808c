package dev.culebra.io;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes a {@code .npy} or {@code .safetensors} file whose types and shapes are known beforehand.
 * Each tensor is written front to back; several may grow side by side.
 *
 * <p>A file appears under its name complete or not at all: it is written beside its place and
 * renamed by {@link #commit}; closed without that, or at an orderly end of the process, it is
 * deleted. Data are written through a channel and not through a mapping, so that a full disk is an
 * exception and not a fault.
 *
 * <p>A writer belongs to one thread at a time.
 */
public final class TensorWriter implements Closeable {
  private final Sink sink;
  private final Map<String, Cursor> cursors = new HashMap<>();

  private TensorWriter(Sink sink) {
    this.sink = sink;
  }

  /**
   * Begins a file; its extension says the format.
   *
   * @param target where it will be; an existing file is replaced on commit
   * @param tensors what it will hold: exactly one tensor for {@code .npy}, whose name is not kept
   * @param metadata the file's {@code __metadata__}; only {@code .safetensors} has it
   * @throws IllegalArgumentException if the format cannot hold that
   * @throws IOException if the folder does not exist, cannot be written or has too little space
   */
  public static TensorWriter create(
      Path target, List<TensorSpec> tensors, Map<String, String> metadata) throws IOException {
    TensorFileFormat format =
        TensorFileFormat.of(target.toString())
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        target + ": the extension must be .npy or .safetensors"));
    return switch (format) {
      case NPY -> {
        if (tensors.size() != 1 || !metadata.isEmpty()) {
          throw new IllegalArgumentException(
              target + ": .npy holds one tensor and no metadata; use .safetensors");
        }
        TensorSpec spec = tensors.getFirst();
        ByteBuffer header = NpyHeader.encode(spec);
        TensorWriter writer = ofFile(target, header, spec.byteSize());
        writer.cursors.put(spec.name(), new Cursor(header.limit(), spec.byteSize()));
        yield writer;
      }
      case SAFETENSORS -> {
        checkNames(tensors);
        SafetensorsHeader header = SafetensorsHeader.layOut(tensors, metadata);
        ByteBuffer encoded = header.encode();
        long dataBytes =
            header.entries().stream().mapToLong(SafetensorsHeader.Entry::end).max().orElse(0);
        TensorWriter writer = ofFile(target, encoded, dataBytes);
        for (SafetensorsHeader.Entry entry : header.entries()) {
          writer.cursors.put(
              entry.spec().name(),
              new Cursor(encoded.limit() + entry.begin(), entry.spec().byteSize()));
        }
        yield writer;
      }
    };
  }

  /**
   * Begins a {@code .npy} on a stream. What has been written cannot be taken back; {@link #commit}
   * flushes, and nothing closes the stream.
   *
   * @param out the stream
   * @param name what to call it in messages
   * @param spec what it will hold; its name is not kept
   * @throws IllegalArgumentException if {@code .npy} cannot hold that type
   */
  public static TensorWriter npyTo(OutputStream out, String name, TensorSpec spec) {
    ByteBuffer header = NpyHeader.encode(spec);
    TensorWriter writer = new TensorWriter(new StreamSink(out, name, header));
    writer.cursors.put(spec.name(), new Cursor(header.limit(), spec.byteSize()));
    return writer;
  }

  /**
   * Appends to a tensor.
   *
   * @param tensorName its name as in the {@link TensorSpec}
   * @param bytes the next elements, little-endian; any number that still fits
   * @throws IllegalArgumentException if there is no such tensor, or more comes than its shape takes
   */
  public void append(String tensorName, MemorySegment bytes) throws IOException {
    Cursor cursor = cursors.get(tensorName);
    if (cursor == null) {
      throw new IllegalArgumentException(
          "no tensor '" + tensorName + "'; there are " + cursors.keySet());
    }
    if (bytes.byteSize() > cursor.remaining) {
      throw new IllegalArgumentException(
          "%d bytes for tensor '%s', which takes %d more"
              .formatted(bytes.byteSize(), tensorName, cursor.remaining));
    }
    sink.write(cursor.position, bytes);
    cursor.position += bytes.byteSize();
    cursor.remaining -= bytes.byteSize();
  }

  /**
   * Puts the complete file in its place.
   *
   * @throws IllegalStateException if a tensor is not complete
   */
  public void commit() throws IOException {
    cursors.forEach(
        (name, cursor) -> {
          if (cursor.remaining != 0) {
            throw new IllegalStateException(
                "tensor '" + name + "' lacks " + cursor.remaining + " bytes");
          }
        });
    sink.commit();
  }

  /** Deletes what was written, unless it was committed. */
  @Override
  public void close() throws IOException {
    sink.close();
  }

  private static TensorWriter ofFile(Path target, ByteBuffer header, long dataBytes)
      throws IOException {
    PartialFile file = PartialFile.create(target, Math.addExact(header.limit(), dataBytes));
    try {
      file.write(0, MemorySegment.ofBuffer(header));
      return new TensorWriter(file);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  private static void checkNames(List<TensorSpec> tensors) {
    Map<String, TensorSpec> seen = new HashMap<>();
    for (TensorSpec spec : tensors) {
      if (spec.name().equals(SafetensorsHeader.METADATA_KEY)
          || seen.put(spec.name(), spec) != null) {
        throw new IllegalArgumentException(
            "the name '" + spec.name() + "' is taken; every tensor needs its own");
      }
    }
  }

  /** Where the bytes go. */
  sealed interface Sink extends Closeable permits PartialFile, StreamSink {
    void write(long position, MemorySegment bytes) throws IOException;

    void commit() throws IOException;
  }

  /** The next byte of a tensor in the file, and how many are to come. */
  private static final class Cursor {
    private long position;
    private long remaining;

    private Cursor(long position, long remaining) {
      this.position = position;
      this.remaining = remaining;
    }
  }
}
