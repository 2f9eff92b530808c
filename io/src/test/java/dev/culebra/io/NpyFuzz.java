package dev.culebra.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * What a fuzzer calls with bytes for a {@code .npy} file: the answer is a header that fits the
 * bytes, or a {@link TensorFormatException}.
 */
public final class NpyFuzz {
  private NpyFuzz() {}

  /** Called by Jazzer, and by {@link FuzzRegressionTest} with what was found. */
  public static void fuzzerTestOneInput(byte[] data) throws IOException {
    NpyHeader header;
    try {
      header = NpyHeader.parse("fuzz.npy", MemorySegment.ofArray(data));
    } catch (TensorFormatException e) {
      FuzzRegressionTest.checkMessage(e);
      return;
    }
    if (header.dataOffset() + header.spec().byteSize() != data.length) {
      throw new AssertionError(header + " does not fit " + data.length + " bytes");
    }
    if (!header.spec().dtype().isInNpy()) {
      throw new AssertionError(".npy cannot hold " + header.spec());
    }
  }
}
