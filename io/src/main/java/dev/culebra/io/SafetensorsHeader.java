package dev.culebra.io;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * The header of a {@code .safetensors} file.
 *
 * @param entries the tensors, in the order of their data
 * @param metadata the file's {@code __metadata__}, empty if there is none
 * @param dataOffset where the data begin, in bytes; the entries' offsets count from there
 */
record SafetensorsHeader(
    List<Entry> entries, SequencedMap<String, String> metadata, long dataOffset) {

  /** A tensor and the place of its bytes, {@code [begin, end)} from the start of the data. */
  record Entry(TensorSpec spec, long begin, long end) {}

  static final String METADATA_KEY = "__metadata__";

  /** The format's own limit; it keeps a lying length from exhausting the memory. */
  private static final long MAX_JSON_BYTES = 100_000_000;

  private static final int LENGTH_BYTES = Long.BYTES;
  private static final int ALIGNMENT = 8;
  private static final ValueLayout.OfLong U64 =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /** Parses the beginning of {@code file}; entries tile the rest of it without overlap or hole. */
  static SafetensorsHeader parse(String fileName, MemorySegment file) throws IOException {
    if (file.byteSize() < LENGTH_BYTES) {
      throw bad(
          fileName,
          "truncated: a .safetensors file begins with 8 bytes, this has " + file.byteSize());
    }
    long length = file.get(U64, 0);
    if (Long.compareUnsigned(length, MAX_JSON_BYTES) > 0) {
      throw bad(
          fileName,
          "the header claims %s bytes; the format allows %d"
              .formatted(Long.toUnsignedString(length), MAX_JSON_BYTES));
    }
    if (length > file.byteSize() - LENGTH_BYTES) {
      throw bad(
          fileName,
          "truncated: the header claims %d bytes, the file has %d"
              .formatted(length, file.byteSize() - LENGTH_BYTES));
    }
    String json = decode(fileName, file.asSlice(LENGTH_BYTES, length));
    SafetensorsJson content = SafetensorsJson.parse(fileName, json);
    List<Entry> entries = new ArrayList<>(content.entries());
    entries.sort(Comparator.comparingLong(Entry::begin).thenComparingLong(Entry::end));
    checkTiling(fileName, entries, file.byteSize() - LENGTH_BYTES - length);
    return new SafetensorsHeader(entries, content.metadata(), LENGTH_BYTES + length);
  }

  /**
   * Lays out {@code specs}: the widest types first, so that every tensor is aligned though the
   * format allows no padding between them; otherwise in the order given.
   */
  static SafetensorsHeader layOut(List<TensorSpec> specs, Map<String, String> metadata) {
    List<TensorSpec> ordered = new ArrayList<>(specs);
    ordered.sort(Comparator.comparingInt((TensorSpec spec) -> spec.dtype().bits()).reversed());
    List<Entry> entries = new ArrayList<>();
    long end = 0;
    for (TensorSpec spec : ordered) {
      long begin = end;
      try {
        end = Math.addExact(begin, spec.byteSize());
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException("the tensors are larger than any file", e);
      }
      entries.add(new Entry(spec, begin, end));
    }
    return new SafetensorsHeader(entries, new LinkedHashMap<>(metadata), 0);
  }

  /**
   * Checks that a header can say what is wanted, so that every file that is written can be read.
   *
   * @throws IllegalArgumentException if it cannot
   */
  static void checkWritable(List<TensorSpec> tensors, Map<String, String> metadata) {
    Set<String> seen = new HashSet<>();
    for (TensorSpec spec : tensors) {
      checkText(spec.name());
      if (spec.name().equals(METADATA_KEY)) {
        throw new IllegalArgumentException(
            "no tensor can have the name " + METADATA_KEY + ", the format uses it itself");
      }
      if (!seen.add(spec.name())) {
        throw new IllegalArgumentException(
            "two tensors have the name '" + spec.name() + "'; every tensor needs its own");
      }
    }
    metadata.forEach(
        (key, value) -> {
          checkText(key);
          checkText(value);
        });
  }

  private static void checkText(String text) {
    int at = loneSurrogate(text);
    if (at >= 0) {
      throw new IllegalArgumentException(
          "a text has half of a surrogate pair, \\u%x, which UTF-8 cannot hold"
              .formatted((int) text.charAt(at)));
    }
  }

  /** The index of the first half of a surrogate pair that has no other half, or -1. */
  static int loneSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        i++;
      } else if (Character.isSurrogate(c)) {
        return i;
      }
    }
    return -1;
  }

  /** Length and JSON, padded with blanks so that the data begin at a multiple of 8. */
  ByteBuffer encode() {
    ByteArrayOutputStream json = new ByteArrayOutputStream();
    JsonFactory factory = new JsonFactory();
    try (JsonGenerator out = factory.createGenerator(ObjectWriteContext.empty(), json)) {
      out.writeStartObject();
      if (!metadata.isEmpty()) {
        out.writeObjectPropertyStart(METADATA_KEY);
        metadata.forEach(out::writeStringProperty);
        out.writeEndObject();
      }
      for (Entry entry : entries) {
        long[] shape = entry.spec().shape();
        out.writeObjectPropertyStart(entry.spec().name());
        out.writeStringProperty("dtype", entry.spec().dtype().name());
        out.writeName("shape").writeArray(shape, 0, shape.length);
        out.writeName("data_offsets").writeArray(new long[] {entry.begin(), entry.end()}, 0, 2);
        out.writeEndObject();
      }
      out.writeEndObject();
    }
    int size = Math.ceilDiv(LENGTH_BYTES + json.size(), ALIGNMENT) * ALIGNMENT;
    ByteBuffer header = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    header.putLong(size - LENGTH_BYTES).put(json.toByteArray());
    while (header.hasRemaining()) {
      header.put((byte) ' ');
    }
    return header.flip();
  }

  private static String decode(String fileName, MemorySegment json) throws IOException {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(json.asByteBuffer()).toString();
    } catch (CharacterCodingException e) {
      throw bad(fileName, "the header is not UTF-8");
    }
  }

  private static void checkTiling(String fileName, List<Entry> entries, long dataSize)
      throws TensorFormatException {
    long covered = 0;
    String before = "the header";
    for (Entry entry : entries) {
      String name = entry.spec().name();
      if (entry.end() > dataSize) {
        throw new TensorFormatException(
            fileName,
            name,
            "truncated: the data end at byte %d, the file has %d".formatted(entry.end(), dataSize));
      }
      if (entry.begin() < covered) {
        throw new TensorFormatException(
            fileName,
            name,
            "overlaps %s: it begins at byte %d, before %d"
                .formatted(before, entry.begin(), covered));
      }
      if (entry.begin() > covered) {
        throw new TensorFormatException(
            fileName,
            name,
            "%d bytes between it and %s belong to no tensor"
                .formatted(entry.begin() - covered, before));
      }
      covered = entry.end();
      before = "tensor " + name;
    }
    if (covered < dataSize) {
      throw bad(
          fileName, (dataSize - covered) + " bytes at the end of the file belong to no tensor");
    }
  }

  private static TensorFormatException bad(String fileName, String reason) {
    return new TensorFormatException(fileName, null, reason);
  }
}
