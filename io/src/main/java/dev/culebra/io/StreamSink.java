package dev.culebra.io;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.MemorySegment;

/** Hands bytes on to a stream in the order in which they come, which is that of a single tensor. */
final class StreamSink implements TensorWriter.Sink {
  private static final int CHUNK_BYTES = 1 << 16;

  private final OutputStream out;
  private final byte[] chunk = new byte[CHUNK_BYTES];

  StreamSink(OutputStream out) {
    this.out = out;
  }

  @Override
  public void write(long position, MemorySegment bytes) throws IOException {
    MemorySegment copy = MemorySegment.ofArray(chunk);
    for (long done = 0; done < bytes.byteSize(); done += CHUNK_BYTES) {
      int size = (int) Math.min(CHUNK_BYTES, bytes.byteSize() - done);
      MemorySegment.copy(bytes, done, copy, 0, size);
      out.write(chunk, 0, size);
    }
  }

  @Override
  public void commit() throws IOException {
    out.flush();
  }

  @Override
  public void close() {
    // The stream is the caller's.
  }
}
