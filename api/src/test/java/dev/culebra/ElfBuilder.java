package dev.culebra;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A small well-formed cubin without code, so that images can be tested where there is no compiler.
 */
final class ElfBuilder {

  static final int HEADER = 64;
  private static final String[] NAMES = {
    "", ".shstrtab", ".text.axpy", ".text.scale", ".nv.shared.axpy"
  };

  int machine = 190;
  int abi = 0x41;
  int flags = 90 << 8;
  int elfClass = 2;

  /** Header, names, 16 bytes of code for each kernel, one segment, the section table last. */
  byte[] build() {
    String names = String.join("\0", NAMES) + "\0";
    int code = HEADER + names.length();
    int segments = code + 32;
    int sections = segments + 56;
    ByteBuffer elf =
        ByteBuffer.allocate(sections + NAMES.length * 64).order(ByteOrder.LITTLE_ENDIAN);
    elf.put(new byte[] {0x7f, 'E', 'L', 'F', (byte) elfClass, 1, 1, (byte) abi, 8});
    elf.putShort(16, (short) 2).putShort(18, (short) machine).putInt(20, 1);
    elf.putLong(32, segments).putLong(40, sections).putInt(48, flags);
    elf.putShort(52, (short) HEADER).putShort(54, (short) 56).putShort(56, (short) 1);
    elf.putShort(58, (short) 64).putShort(60, (short) NAMES.length).putShort(62, (short) 1);
    elf.put(HEADER, names.getBytes(US_ASCII));
    elf.putInt(segments, 1).putLong(segments + 8, code).putLong(segments + 32, 32);
    int name = 0;
    for (int i = 0; i < NAMES.length; i++) {
      int at = sections + i * 64;
      elf.putInt(at, name);
      boolean strings = i == 1;
      boolean noBits = i == 4;
      elf.putInt(at + 4, i == 0 ? 0 : strings ? 3 : noBits ? 8 : 1);
      elf.putLong(
          at + 24, i == 0 ? 0 : strings ? HEADER : noBits ? 1L << 40 : code + (i - 2) * 16L);
      elf.putLong(at + 32, i == 0 ? 0 : strings ? names.length() : noBits ? 1L << 40 : 16);
      name += NAMES[i].length() + 1;
    }
    return elf.array();
  }
}
