package dev.culebra.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Set;

/**
 * What a fuzzer calls with bytes for a {@code .safetensors} file: the answer is a header whose
 * tensors tile the rest of the bytes, or a {@link TensorFormatException}.
 */
public final class SafetensorsFuzz {
  private SafetensorsFuzz() {}

  /** Called by Jazzer, and by {@link FuzzRegressionTest} with what was found. */
  public static void fuzzerTestOneInput(byte[] data) throws IOException {
    SafetensorsHeader header;
    try {
      header = SafetensorsHeader.parse("fuzz.safetensors", MemorySegment.ofArray(data));
    } catch (TensorFormatException e) {
      FuzzRegressionTest.checkMessage(e);
      return;
    }
    long end = 0;
    Set<String> names = new HashSet<>();
    for (SafetensorsHeader.Entry entry : header.entries()) {
      if (entry.begin() != end || entry.end() - entry.begin() != entry.spec().byteSize()) {
        throw new AssertionError(entry + " leaves a hole or overlaps behind " + end);
      }
      end = entry.end();
      if (!names.add(entry.spec().name())) {
        throw new AssertionError("two tensors are called " + entry.spec().name());
      }
    }
    if (header.dataOffset() + end != data.length) {
      throw new AssertionError("the tensors end at " + end + " of " + data.length + " bytes");
    }
  }
}
