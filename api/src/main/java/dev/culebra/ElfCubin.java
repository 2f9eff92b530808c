package dev.culebra;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The parts of a cubin's ELF64 header and tables that have to be right before the driver may see
 * it: a driver that is given a file cut off inside its section table does not answer an error, it
 * crashes the process.
 */
final class ElfCubin {

  private static final int HEADER_BYTES = 64;
  private static final int SECTION_BYTES = 64;
  private static final int SEGMENT_BYTES = 56;
  private static final int MACHINE_CUDA = 190;
  private static final int NO_BITS = 8;

  /**
   * OS/ABI bytes: nvcc up to 12 keeps the SM number in bits 0-7 of e_flags, nvcc 13 in bits 8-15.
   */
  private static final int ABI_UP_TO_12 = 0x33;

  private static final int ABI_FROM_13 = 0x41;

  private final ByteBuffer elf;
  private final int length;

  private ElfCubin(byte[] image) {
    elf = ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN);
    length = image.length;
  }

  /** What is left to know of a valid cubin. Entry points are as far as section names tell. */
  record Summary(ComputeCapability capability, List<String> entryPoints) {}

  static boolean looksLike(byte[] image) {
    return image.length >= 4
        && image[0] == 0x7f
        && image[1] == 'E'
        && image[2] == 'L'
        && image[3] == 'F';
  }

  /** Checks every table against the length of the file. */
  static Summary read(byte[] image) throws MalformedImage {
    return new ElfCubin(image).read();
  }

  private Summary read() throws MalformedImage {
    if (length < HEADER_BYTES) {
      throw new MalformedImage(
          "it is cut off: " + length + " bytes do not hold an ELF header of " + HEADER_BYTES);
    }
    if (elf.get(4) != 2 || elf.get(5) != 1) {
      throw new MalformedImage("it is not a 64-bit little-endian ELF file");
    }
    int machine = Short.toUnsignedInt(elf.getShort(18));
    if (machine != MACHINE_CUDA) {
      throw new MalformedImage(
          "it is an ELF file for machine type "
              + machine
              + ", not for CUDA ("
              + MACHINE_CUDA
              + ")");
    }
    ComputeCapability capability = capability();
    long segmentTable = elf.getLong(32);
    long sectionTable = elf.getLong(40);
    int segments = Short.toUnsignedInt(elf.getShort(56));
    int sections = Short.toUnsignedInt(elf.getShort(60));
    int names = Short.toUnsignedInt(elf.getShort(62));
    checkTable(
        "section", sectionTable, sections, Short.toUnsignedInt(elf.getShort(58)), SECTION_BYTES);
    checkTable(
        "segment", segmentTable, segments, Short.toUnsignedInt(elf.getShort(54)), SEGMENT_BYTES);
    if (sections == 0 || names >= sections) {
      throw new MalformedImage("it has no table of section names");
    }
    for (int i = 0; i < segments; i++) {
      int at = Math.toIntExact(segmentTable) + i * SEGMENT_BYTES;
      checkRange("segment " + i, elf.getLong(at + 8), elf.getLong(at + 32));
    }
    for (int i = 0; i < sections; i++) {
      int at = Math.toIntExact(sectionTable) + i * SECTION_BYTES;
      if (elf.getInt(at + 4) != NO_BITS) {
        checkRange("section " + i, elf.getLong(at + 24), elf.getLong(at + 32));
      }
    }
    return new Summary(capability, entryPoints(Math.toIntExact(sectionTable), sections, names));
  }

  private ComputeCapability capability() throws MalformedImage {
    int abi = Byte.toUnsignedInt(elf.get(7));
    int flags = elf.getInt(48);
    int sm =
        switch (abi) {
          case ABI_UP_TO_12 -> flags & 0xff;
          case ABI_FROM_13 -> (flags >>> 8) & 0xff;
          default ->
              throw new MalformedImage(
                  "its OS/ABI byte is 0x"
                      + Integer.toHexString(abi)
                      + ", which no known nvcc writes (0x33, 0x41)");
        };
    if (sm < 10) {
      throw new MalformedImage(
          "its flags 0x" + Integer.toHexString(flags) + " name no architecture");
    }
    return ComputeCapability.ofSm(sm);
  }

  private void checkTable(String what, long offset, int count, int entryBytes, int expectedBytes)
      throws MalformedImage {
    if (count == 0) {
      return;
    }
    if (entryBytes != expectedBytes) {
      throw new MalformedImage(
          "its "
              + what
              + " table has entries of "
              + entryBytes
              + " bytes instead of "
              + expectedBytes);
    }
    checkRange(what + " table", offset, (long) count * entryBytes);
  }

  private void checkRange(String what, long offset, long size) throws MalformedImage {
    if (offset < 0 || size < 0 || offset > length || size > length - offset) {
      throw new MalformedImage(
          "it is cut off or damaged: its "
              + what
              + " takes bytes "
              + Long.toUnsignedString(offset)
              + " to "
              + Long.toUnsignedString(offset + size)
              + " of a file of "
              + length);
    }
  }

  private List<String> entryPoints(int sectionTable, int sections, int names)
      throws MalformedImage {
    int namesAt = sectionTable + names * SECTION_BYTES;
    if (elf.getInt(namesAt + 4) == NO_BITS) {
      throw new MalformedImage("its table of section names is empty");
    }
    int stringsAt = Math.toIntExact(elf.getLong(namesAt + 24));
    int stringsEnd = stringsAt + Math.toIntExact(elf.getLong(namesAt + 32));
    List<String> entries = new ArrayList<>();
    for (int i = 0; i < sections; i++) {
      long at = stringsAt + Integer.toUnsignedLong(elf.getInt(sectionTable + i * SECTION_BYTES));
      String name = string(at, stringsEnd, i);
      if (name.startsWith(".text.")) {
        entries.add(name.substring(".text.".length()));
      }
    }
    return List.copyOf(entries);
  }

  private String string(long start, int end, int section) throws MalformedImage {
    int stop = (int) Math.min(start, end);
    while (stop < end && elf.get(stop) != 0) {
      stop++;
    }
    if (stop >= end) {
      throw new MalformedImage(
          "the name of its section " + section + " lies outside of the table of names");
    }
    byte[] name = new byte[stop - (int) start];
    elf.get((int) start, name);
    return new String(name, US_ASCII);
  }
}
