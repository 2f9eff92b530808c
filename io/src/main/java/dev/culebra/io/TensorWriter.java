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
  /**
   * A stream has no free space to ask for. No common file system holds a file of more, so whoever
   * asks for it made a mistake, and would find out in weeks.
   */
  private static final long MAX_STREAM_BYTES = 1L << 44;

  private final Sink sink;
  private final Map<String, Cursor> cursors;

  private TensorWriter(Sink sink, Map<String, Cursor> cursors) {
    this.sink = sink;
    this.cursors = cursors;
  }

  /**
   * Begins a file; its extension says the format.
   *
   * @param target where it will be; an existing file is replaced on commit, and links are followed
   * @param tensors what it will hold: exactly one tensor for {@code .npy}, whose name is not kept
   * @param metadata the file's {@code __metadata__}; only {@code .safetensors} has it
   * @throws IllegalArgumentException if the format cannot hold that
   * @throws IOException if the folder does not exist, cannot be written or has too little space
   */
  public static TensorWriter create(
      Path target, List<TensorSpec> tensors, Map<String, String> metadata) throws IOException {
    Plan plan = Plan.of(target, tensors, metadata);
    PartialFile file = PartialFile.create(target, plan.check(target));
    try {
      file.write(0, MemorySegment.ofBuffer(plan.header));
      return new TensorWriter(file, plan.cursors);
    } catch (Throwable e) {
      file.close();
      throw e;
    }
  }

  /**
   * Fails as {@link #create} with the same arguments would, and writes nothing: for those who have
   * long work to do before the first element is there.
   *
   * @param target where the file will be
   * @param tensors what it will hold
   * @param metadata its {@code __metadata__}
   * @throws IllegalArgumentException if the format cannot hold that
   * @throws IOException if the folder does not exist, cannot be written or has too little space
   */
  public static void check(Path target, List<TensorSpec> tensors, Map<String, String> metadata)
      throws IOException {
    Plan.of(target, tensors, metadata).check(target);
  }

  /**
   * Begins a {@code .npy} on a stream. What has been written cannot be taken back; {@link #commit}
   * flushes, and nothing closes the stream.
   *
   * @param out the stream
   * @param name what to call it in messages
   * @param spec what it will hold; its name is not kept
   * @throws IllegalArgumentException if {@code .npy} cannot hold that type
   * @throws IOException if it is larger than any file
   */
  public static TensorWriter npyTo(OutputStream out, String name, TensorSpec spec)
      throws IOException {
    Plan plan = Plan.ofNpy(List.of(spec));
    if (plan.bytes > MAX_STREAM_BYTES) {
      throw new IOException(
          "%s: %s takes %d bytes; more than %d are not written to a stream"
              .formatted(name, plan.content, plan.bytes, MAX_STREAM_BYTES));
    }
    return new TensorWriter(new StreamSink(out, name, plan.header), plan.cursors);
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

  /** A file's header, the places of its tensors, and its size. */
  private record Plan(String content, ByteBuffer header, Map<String, Cursor> cursors, long bytes) {

    static Plan of(Path target, List<TensorSpec> tensors, Map<String, String> metadata) {
      TensorFileFormat format =
          TensorFileFormat.of(target.toString())
              .orElseThrow(
                  () -> new IllegalArgumentException("the extension must be .npy or .safetensors"));
      return switch (format) {
        case NPY -> {
          if (tensors.size() != 1 || !metadata.isEmpty()) {
            throw new IllegalArgumentException(
                ".npy holds one tensor and no metadata; use .safetensors");
          }
          yield ofNpy(tensors);
        }
        case SAFETENSORS -> ofSafetensors(tensors, metadata);
      };
    }

    static Plan ofNpy(List<TensorSpec> tensors) {
      TensorSpec spec = tensors.getFirst();
      ByteBuffer header = NpyHeader.encode(spec);
      return new Plan(
          spec.toString(),
          header,
          Map.of(spec.name(), new Cursor(header.limit(), spec.byteSize())),
          saturatingAdd(header.limit(), spec.byteSize()));
    }

    static Plan ofSafetensors(List<TensorSpec> tensors, Map<String, String> metadata) {
      SafetensorsHeader.checkWritable(tensors, metadata);
      SafetensorsHeader header = SafetensorsHeader.layOut(tensors, metadata);
      ByteBuffer encoded = header.encode();
      Map<String, Cursor> cursors = new HashMap<>();
      long end = 0;
      for (SafetensorsHeader.Entry entry : header.entries()) {
        cursors.put(
            entry.spec().name(),
            new Cursor(encoded.limit() + entry.begin(), entry.spec().byteSize()));
        end = Math.max(end, entry.end());
      }
      String content =
          tensors.size() == 1 ? tensors.getFirst().toString() : tensors.size() + " tensors";
      return new Plan(content, encoded, cursors, saturatingAdd(encoded.limit(), end));
    }

    Path check(Path target) throws IOException {
      return PartialFile.check(target, content, bytes);
    }

    /** What overflows is larger than any disk, and said to be so. */
    private static long saturatingAdd(long a, long b) {
      return a > Long.MAX_VALUE - b ? Long.MAX_VALUE : a + b;
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
