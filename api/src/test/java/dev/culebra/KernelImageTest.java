package dev.culebra;

import static dev.culebra.Messages.assertTells;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.bindings.InvalidImageException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Label;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelImageTest {

  private static final String PTX =
      """
      // a comment with .version 1.0
      .version 9.0
      .target sm_80, debug
      .address_size 64
      /* .entry no( */
      .visible .entry axpy(
        .param .u64 axpy_param_0
      )
      { ret; }
      .entry scale() { ret; }
      """;

  private static InvalidImageException refuse(byte[] bytes) {
    return assertThrows(InvalidImageException.class, () -> KernelImage.of("x.cubin", bytes));
  }

  @Test
  void aCubinTellsItsArchitectureAndKernels() {
    byte[] bytes = new ElfBuilder().build();
    KernelImage image = KernelImage.of("x.cubin", bytes);
    assertEquals(KernelImage.Format.CUBIN, image.format());
    assertEquals(new ComputeCapability(9, 0), image.capability());
    assertEquals(List.of("axpy", "scale"), image.entryPoints());
    assertArrayEquals(bytes, image.toByteArray());
  }

  @ParameterizedTest
  @CsvSource({
    "65, 23040, 90",
    "65, 100686340, 90",
    "65, 25600, 100",
    "65, 30720, 120",
    "51, 80, 80",
    "51, 5571930, 90"
  })
  void theArchitectureLiesWhereTheCompilersPutIt(int abi, int flags, int sm) {
    ElfBuilder elf = new ElfBuilder();
    elf.abi = abi;
    elf.flags = flags;
    assertEquals(ComputeCapability.ofSm(sm), KernelImage.of("x", elf.build()).capability());
  }

  @Test
  @DisplayName("67: empty, garbage, wrong class, machine or ABI are each told")
  void whatIsNoCubinIsTold() {
    assertTells(refuse(new byte[0]), "x.cubin", "is empty");
    assertTells(refuse("hello world".getBytes(UTF_8)), "neither a cubin");
    assertTells(refuse(new byte[1000]), "neither a cubin");
    assertTells(refuse(new byte[] {0x50, (byte) 0xed, 0x55, (byte) 0xba, 1, 0}), "fat binary");
    ElfBuilder elf = new ElfBuilder();
    elf.elfClass = 1;
    assertTells(refuse(elf.build()), "not a 64-bit");
    elf = new ElfBuilder();
    elf.machine = 62;
    assertTells(refuse(elf.build()), "machine type 62", "190");
    elf = new ElfBuilder();
    elf.abi = 0;
    assertTells(refuse(elf.build()), "OS/ABI");
    elf = new ElfBuilder();
    elf.flags = 0;
    assertTells(refuse(elf.build()), "no architecture");
  }

  @Test
  @DisplayName("67: a cubin cut off anywhere is refused")
  void everyTruncationIsRefused() {
    byte[] whole = new ElfBuilder().build();
    for (int length = 0; length < whole.length; length++) {
      refuse(Arrays.copyOf(whole, length));
    }
    KernelImage.of("longer", Arrays.copyOf(whole, whole.length + 1));
  }

  @Property(tries = 3000)
  @Label("67: damage is refused or harmless, never a crash of ours")
  void damageNeverEscapes(
      @ForAll @IntRange(max = 600) int at,
      @ForAll long value,
      @ForAll @IntRange(min = 1, max = 8) int width) {
    byte[] bytes = new ElfBuilder().build();
    ByteBuffer patch = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value);
    for (int i = 0; i < width && at + i < bytes.length; i++) {
      bytes[at + i] = patch.get(i);
    }
    try {
      KernelImage image = KernelImage.of("damaged", bytes);
      assertTrue(image.capability().major() >= 1);
    } catch (InvalidImageException e) {
      assertTells(e, "damaged");
    }
  }

  @ParameterizedTest(name = "67: the {0} table may not reach beyond the file")
  @ValueSource(ints = {32, 40})
  void tablesLieInTheFile(int offsetField) {
    for (long offset : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 32, 10_000}) {
      byte[] bytes = new ElfBuilder().build();
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(offsetField, offset);
      assertTells(refuse(bytes), "cut off or damaged");
    }
  }

  @Test
  @DisplayName("68: code for another architecture names both")
  void theOtherArchitectureIsNamed() {
    KernelImage image = KernelImage.of("x.cubin", new ElfBuilder().build());
    assertTrue(image.misfit(new ComputeCapability(9, 0)).isEmpty());
    String message = image.misfit(new ComputeCapability(8, 0)).orElseThrow();
    assertTrue(message.contains("sm_90") && message.contains("sm_80"), message);
    assertTrue(image.misfit(new ComputeCapability(10, 0)).isPresent());
  }

  @Test
  void ptxTellsItsTargetAndKernels() {
    KernelImage image = KernelImage.of("x.ptx", PTX.getBytes(UTF_8));
    assertEquals(KernelImage.Format.PTX, image.format());
    assertEquals(new ComputeCapability(8, 0), image.capability());
    assertEquals(List.of("axpy", "scale"), image.entryPoints());
    assertTrue(image.misfit(new ComputeCapability(12, 0)).isEmpty());
    assertTells(
        new Exception(image.misfit(new ComputeCapability(7, 5)).orElseThrow()),
        "compute_80",
        "sm_75");
    KernelImage.of("terminated", (PTX + "\0").getBytes(UTF_8));
  }

  @Test
  @DisplayName("69: PTX without its directives is told apart")
  void ptxWithoutDirectives() {
    assertTells(refuse(PTX.replace(".target", "//").getBytes(UTF_8)), ".target");
    assertTells(refuse(PTX.replace("sm_80", "sm_x").getBytes(UTF_8)), ".target");
    assertTells(refuse((PTX + "\0 more").getBytes(UTF_8)), "NUL");
  }
}
