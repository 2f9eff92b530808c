package dev.culebra;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LaunchLimitsTest {

  private static final LaunchLimits LIMITS =
      new LaunchLimits(
          new Dim3(Integer.MAX_VALUE, 65535, 65535),
          new Dim3(1024, 1024, 64),
          1024,
          512,
          49152,
          232448,
          1024);

  @ParameterizedTest(name = "85: grid {0}x{1}x{2}, block {3}x{4}x{5} names {6}")
  @CsvSource({
    "0, 1, 1, 1, 1, 1, grid.x is 0",
    "1, -1, 1, 1, 1, 1, grid.y is -1",
    "1, 1, 0, 1, 1, 1, grid.z is 0",
    "1, 1, 1, 0, 1, 1, block.x is 0",
    "1, 1, 1, 1, 0, 1, block.y is 0",
    "1, 1, 1, 1, 1, -7, block.z is -7",
  })
  void zeroAndNegativeSizesNameTheAxis(
      int gx, int gy, int gz, int bx, int by, int bz, String message) {
    var error =
        assertThrows(
            IllegalArgumentException.class,
            () -> new LaunchConfig(new Dim3(gx, gy, gz), new Dim3(bx, by, bz), 0));
    assertTells(error, message);
  }

  @ParameterizedTest(name = "86: grid {0}x{1}x{2}, block {3}x{4}x{5} is told: {6}")
  @CsvSource({
    "1, 65536, 1, 1, 1, 1, grid.y is 65536 blocks; the device allows 65535",
    "1, 1, 65536, 1, 1, 1, grid.z is 65536 blocks; the device allows 65535",
    "1, 1, 1, 1025, 1, 1, block.x is 1025 threads; the device allows 1024",
    "1, 1, 1, 1, 1025, 1, block.y is 1025 threads; the device allows 1024",
    "1, 1, 1, 1, 1, 65, block.z is 65 threads; the device allows 64",
    "1, 1, 1, 32, 33, 1, block 32x33x1 has 1056 threads; the device allows 1024 a block",
    "1, 1, 1, 32, 17, 1, block 32x17x1 has 544 threads; this kernel allows 512 (its registers or __launch_bounds__)",
  })
  void limitsAreNamed(int gx, int gy, int gz, int bx, int by, int bz, String message) {
    LaunchConfig config = new LaunchConfig(new Dim3(gx, gy, gz), new Dim3(bx, by, bz), 0);
    assertEquals(message, LIMITS.violation(config).orElseThrow());
  }

  @Test
  void theLargestAllowedSizesPass() {
    LaunchConfig config =
        new LaunchConfig(new Dim3(Integer.MAX_VALUE, 65535, 65535), new Dim3(8, 1, 64), 231424);
    assertTrue(LIMITS.violation(config).isEmpty());
  }

  @Test
  @DisplayName("88: shared memory counts what the kernel declares itself, and says what is left")
  void sharedMemoryIsLimited() {
    LaunchConfig fits = LaunchConfig.of(1, 32).withDynamicSharedBytes(48128);
    assertFalse(LIMITS.needsOptIn(fits));
    LaunchConfig optsIn = fits.withDynamicSharedBytes(48129);
    assertTrue(LIMITS.needsOptIn(optsIn));
    assertTrue(LIMITS.violation(optsIn).isEmpty());
    String message = LIMITS.violation(fits.withDynamicSharedBytes(231425)).orElseThrow();
    assertTrue(message.contains("at most 231424"), message);
    assertTrue(LIMITS.violation(fits.withDynamicSharedBytes(Integer.MAX_VALUE)).isPresent());
    assertThrows(IllegalArgumentException.class, () -> fits.withDynamicSharedBytes(-1));
  }

  @Test
  void elementsAreDividedAmongBlocks() {
    assertEquals(Dim3.of(4), LaunchConfig.forElements(1000, 256).gridBlocks());
    assertEquals(Dim3.of(4), LaunchConfig.forElements(1024, 256).gridBlocks());
    assertEquals(Dim3.of(5), LaunchConfig.forElements(1025, 256).gridBlocks());
    assertThrows(IllegalArgumentException.class, () -> LaunchConfig.forElements(0, 256));
    assertThrows(IllegalArgumentException.class, () -> LaunchConfig.forElements(1L << 40, 256));
  }
}
