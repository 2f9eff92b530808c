package dev.culebra.io;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/**
 * Hands bytes on to a stream in the order in which they come, which is that of a single tensor. The
 * header goes with the first of them: what fails before has written nothing.
 */
final class StreamSink implements TensorWriter.Sink {
  private static final int CHUNK_BYTES = 1 << 16;

  private final OutputStream out;
  private final String name;
  private MemorySegment pendingHeader;
  private final byte[] chunk = new byte[CHUNK_BYTES];

  StreamSink(OutputStream out, String name, ByteBuffer header) {
    this.out = out;
    this.name = name;
    this.pendingHeader = MemorySegment.ofBuffer(header);
  }

  @Override
  public void write(long position, MemorySegment bytes) throws IOException {
    writeHeader();
    writeBytes(bytes);
  }

  @Override
  public void commit() throws IOException {
    writeHeader();
    call(out::flush);
  }

  private void writeHeader() throws IOException {
    MemorySegment header = pendingHeader;
    pendingHeader = MemorySegment.NULL;
    writeBytes(header);
  }

  private void writeBytes(MemorySegment bytes) throws IOException {
    MemorySegment copy = MemorySegment.ofArray(chunk);
    for (long done = 0; done < bytes.byteSize(); done += CHUNK_BYTES) {
      int size = (int) Math.min(CHUNK_BYTES, bytes.byteSize() - done);
      MemorySegment.copy(bytes, done, copy, 0, size);
      call(() -> out.write(chunk, 0, size));
    }
  }

  /** A stream's exceptions do not say which stream it was. */
  private void call(Operation operation) throws IOException {
    try {
      operation.run();
    } catch (IOException e) {
      throw new IOException(name + ": " + e.getMessage(), e);
    }
  }

  private interface Operation {
    void run() throws IOException;
  }

  @Override
  public void close() {
    // The stream is the caller's.
  }
}
