package dev.culebra.io;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The header of a {@code .npy} file, versions 1.0 to 3.0.
 *
 * @param spec what the file holds, nameless
 * @param dataOffset where the elements begin, in bytes
 */
record NpyHeader(TensorSpec spec, long dataOffset) {
  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
  private static final int ALIGNMENT = 64;

  /** A dictionary of three short entries needs less; more is garbage that should not be parsed. */
  private static final long MAX_DICTIONARY_BYTES = 1 << 20;

  private static final ValueLayout.OfShort U16 =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfInt U32 =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  /**
   * Parses the beginning of {@code file} and checks that the file is exactly as long as it says.
   */
  static NpyHeader parse(String fileName, MemorySegment file) throws IOException {
    int prefix = MAGIC.length + 2;
    if (file.byteSize() < MAGIC.length
        || file.asSlice(0, MAGIC.length).mismatch(MemorySegment.ofArray(MAGIC)) != -1) {
      throw bad(fileName, "not a .npy file: the magic bytes \\x93NUMPY are missing");
    }
    if (file.byteSize() < prefix) {
      throw truncatedHeader(fileName);
    }
    int major = Byte.toUnsignedInt(file.get(ValueLayout.JAVA_BYTE, MAGIC.length));
    int minor = Byte.toUnsignedInt(file.get(ValueLayout.JAVA_BYTE, MAGIC.length + 1));
    if (major < 1 || major > 3 || minor != 0) {
      throw bad(
          fileName, "version " + major + "." + minor + " of .npy is unknown; 1.0 to 3.0 are read");
    }
    int lengthBytes = major == 1 ? 2 : 4;
    if (file.byteSize() < prefix + lengthBytes) {
      throw truncatedHeader(fileName);
    }
    long length =
        major == 1
            ? Short.toUnsignedLong(file.get(U16, prefix))
            : Integer.toUnsignedLong(file.get(U32, prefix));
    if (length > MAX_DICTIONARY_BYTES) {
      throw bad(
          fileName,
          "the header claims " + length + " bytes; at most " + MAX_DICTIONARY_BYTES + " are read");
    }
    long dataOffset = prefix + lengthBytes + length;
    if (file.byteSize() < dataOffset) {
      throw truncatedHeader(fileName);
    }
    byte[] bytes = file.asSlice(prefix + lengthBytes, length).toArray(ValueLayout.JAVA_BYTE);
    Charset charset = major == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1;
    NpyDictionary dictionary = NpyDictionary.parse(fileName, new String(bytes, charset));
    NpyHeader header = new NpyHeader(toSpec(fileName, dictionary), dataOffset);
    header.checkLength(fileName, file.byteSize());
    return header;
  }

  /** The header that NumPy would write for {@code spec}, padded so that the data are aligned. */
  static ByteBuffer encode(TensorSpec spec) {
    String name =
        spec.dtype()
            .npyName()
            .orElseThrow(
                () ->
                    new IllegalArgumentException(
                        ".npy cannot hold " + spec.dtype() + "; write a .safetensors file"));
    String order = spec.dtype().bits() == 8 ? "|" : "<";
    String shape =
        Arrays.stream(spec.shape()).mapToObj(Long::toString).collect(Collectors.joining(", "));
    String dictionary =
        "{'descr': '%s%s', 'fortran_order': False, 'shape': (%s), }"
            .formatted(order, name, spec.rank() == 1 ? shape + "," : shape);
    int version = dictionary.length() + ALIGNMENT > 0xFFFF ? 2 : 1;
    int prefix = MAGIC.length + 2 + (version == 1 ? 2 : 4);
    int size = Math.ceilDiv(prefix + dictionary.length() + 1, ALIGNMENT) * ALIGNMENT;
    ByteBuffer header = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    header.put(MAGIC).put((byte) version).put((byte) 0);
    if (version == 1) {
      header.putShort((short) (size - prefix));
    } else {
      header.putInt(size - prefix);
    }
    header.put(dictionary.getBytes(StandardCharsets.US_ASCII));
    while (header.remaining() > 1) {
      header.put((byte) ' ');
    }
    return header.put((byte) '\n').flip();
  }

  private static TensorSpec toSpec(String fileName, NpyDictionary dictionary) throws IOException {
    DType dtype = toType(fileName, dictionary.descr());
    if (dictionary.fortranOrder()) {
      throw bad(
          fileName, "the array is in Fortran order; save numpy.ascontiguousarray(array) instead");
    }
    try {
      return new TensorSpec("", dtype, dictionary.shape());
    } catch (IllegalArgumentException e) {
      throw bad(fileName, String.valueOf(e.getMessage()));
    }
  }

  private static DType toType(String fileName, String descr) throws IOException {
    if (descr.isEmpty()) {
      throw bad(fileName, "the type is empty");
    }
    char order = descr.charAt(0);
    boolean hasOrder = "<>|=".indexOf(order) >= 0;
    String name = hasOrder ? descr.substring(1) : descr;
    DType dtype = DType.ofNpyName(name).orElseThrow(() -> bad(fileName, unsupported(descr)));
    boolean orderMatters = dtype.bits() > 8;
    if (order == '>' && orderMatters) {
      throw bad(
          fileName,
          "the array is big-endian ('" + descr + "'); save array.astype('<" + name + "') instead");
    }
    if (orderMatters && order != '<') {
      throw bad(fileName, "the type '" + descr + "' does not say its byte order");
    }
    return dtype;
  }

  private static String unsupported(String descr) {
    String hint =
        descr.endsWith("V2") ? " (if it is bfloat16: that is read from .safetensors only)" : "";
    return "the type '" + descr + "' is not supported" + hint;
  }

  private void checkLength(String fileName, long fileSize) throws IOException {
    long there = fileSize - dataOffset;
    if (there < spec.byteSize()) {
      throw bad(
          fileName,
          "truncated: " + spec + " takes " + spec.byteSize() + " bytes, the file has " + there);
    }
    if (there > spec.byteSize()) {
      throw bad(
          fileName,
          "%d bytes follow the array %s; files of several arrays are not read"
              .formatted(there - spec.byteSize(), spec));
    }
  }

  private static TensorFormatException truncatedHeader(String fileName) {
    return bad(fileName, "truncated: the file ends within the header");
  }

  private static TensorFormatException bad(String fileName, String reason) {
    return new TensorFormatException(fileName, null, reason);
  }
}
