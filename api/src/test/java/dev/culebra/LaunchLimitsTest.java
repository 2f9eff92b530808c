package dev.culebra;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.jspecify.annotations.Nullable;
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
          1024,
          clusters(true, null));

  private static ClusterLimits clusters(boolean supported, @Nullable Dim3 required) {
    ComputeCapability capability = ComputeCapability.ofSm(supported ? 90 : 80);
    return new ClusterLimits(supported, "device 0 (A GPU)", capability, required);
  }

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
    assertFalse(LIMITS.needsOptIn(48128));
    LaunchConfig optsIn = fits.withDynamicSharedBytes(48129);
    assertTrue(LIMITS.needsOptIn(48129));
    assertTrue(LIMITS.violation(optsIn).isEmpty());
    String message = LIMITS.violation(fits.withDynamicSharedBytes(231425)).orElseThrow();
    assertTrue(message.contains("at most 231424"), message);
    assertTrue(LIMITS.violation(fits.withDynamicSharedBytes(Integer.MAX_VALUE)).isPresent());
    assertThrows(IllegalArgumentException.class, () -> fits.withDynamicSharedBytes(-1));
  }

  @ParameterizedTest(name = "85: cluster {0}x{1}x{2} names {3}")
  @CsvSource({
    "0, 1, 1, cluster.x is 0 blocks",
    "1, -1, 1, cluster.y is -1 blocks",
    "1, 1, -2147483648, cluster.z is -2147483648 blocks",
  })
  void emptyClustersNameTheAxis(int x, int y, int z, String message) {
    LaunchConfig config = LaunchConfig.of(1, 32);
    Dim3 cluster = new Dim3(x, y, z);
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> config.withClusterBlocks(cluster)),
        message);
  }

  @ParameterizedTest(name = "89: cluster {0}x{1}x{2} is told: {3}")
  @CsvSource({
    "17, 1, 1, cluster 17x1x1 is too large",
    "1, 1, 17, cluster 1x1x17 is too large",
    "4, 5, 1, cluster 4x5x1 is too large",
    // Products that are 0 and 1 in 32 bits.
    "65536, 65536, 1, cluster 65536x65536x1 is too large",
    "2147483647, 2147483647, 1, cluster 2147483647x2147483647x1 is too large",
  })
  void clustersAreLimited(int x, int y, int z, String message) {
    String told = clusters(true, null).shapeViolation(x, y, z);
    assertTold(told, message, "at most 8 blocks, on some devices 16");
  }

  @Test
  @DisplayName("89: up to 16 blocks pass, more than 8 have to be asked for")
  void largestClusters() {
    ClusterLimits clusters = clusters(true, null);
    for (int[] shape : new int[][] {{16, 1, 1}, {1, 16, 1}, {1, 1, 16}, {4, 2, 2}, {3, 3, 1}}) {
      assertNull(clusters.shapeViolation(shape[0], shape[1], shape[2]));
      assertTrue(clusters.needsNonPortable(shape[0], shape[1], shape[2]));
    }
    assertNull(clusters.shapeViolation(2, 2, 2));
    assertFalse(clusters.needsNonPortable(2, 2, 2));
    assertFalse(clusters.needsNonPortable(0, 0, 0));
  }

  @Test
  @DisplayName("89: the axis along which a cluster does not divide the grid is named")
  void clustersDivideTheGrid() {
    ClusterLimits clusters = clusters(true, null);
    assertNull(clusters.gridViolation(6, 4, 2, 3, 2, 1));
    assertNull(clusters.gridViolation(7, 5, 3, 0, 0, 0), "no cluster");
    assertEquals(
        "grid.x is 3 blocks, not a multiple of cluster.x, which is 2: enlarge the grid or choose"
            + " another cluster",
        clusters.gridViolation(3, 1, 1, 2, 1, 1));
    for (String axis : new String[] {"y", "z"}) {
      int y = axis.equals("y") ? 5 : 4;
      int z = axis.equals("z") ? 5 : 4;
      String told = clusters.gridViolation(4, y, z, 1, 2, 2);
      assertTold(told, "grid." + axis + " is 5 blocks");
    }
  }

  @Test
  @DisplayName("a kernel compiled for a cluster takes that or none, and holds the grid to it")
  void requiredClusters() {
    ClusterLimits clusters = clusters(true, new Dim3(4, 3, 1));
    assertNull(clusters.shapeViolation(0, 0, 0));
    assertNull(clusters.shapeViolation(4, 3, 1));
    for (int[] other : new int[][] {{3, 3, 1}, {4, 4, 1}, {4, 3, 2}}) {
      String told = clusters.shapeViolation(other[0], other[1], other[2]);
      assertTold(told, "compiled for 4x3x1 blocks");
    }
    assertNull(clusters.gridViolation(8, 3, 1, 0, 0, 0));
    String told = clusters.gridViolation(8, 4, 1, 0, 0, 0);
    assertTold(told, "grid.y is 4 blocks", "which is 3 (the kernel's __cluster_dims__)");
    assertTrue(clusters.needsNonPortable(0, 0, 0));
  }

  @Test
  @DisplayName("89: a device without clusters is named with its compute capability")
  void devicesWithoutClusters() {
    ClusterLimits none = clusters(false, null);
    none.requireSupport(0);
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> none.requireSupport(1)),
        "device 0 (A GPU)",
        "compute capability 8.0",
        "they need 9.0");
  }

  @Test
  void elementsAreDividedAmongBlocks() {
    assertEquals(Dim3.of(4), LaunchConfig.forElements(1000, 256).gridBlocks());
    assertEquals(Dim3.of(4), LaunchConfig.forElements(1024, 256).gridBlocks());
    assertEquals(Dim3.of(5), LaunchConfig.forElements(1025, 256).gridBlocks());
    assertThrows(IllegalArgumentException.class, () -> LaunchConfig.forElements(0, 256));
    assertThrows(IllegalArgumentException.class, () -> LaunchConfig.forElements(1L << 40, 256));
  }

  private static void assertTold(@Nullable String violation, String... parts) {
    for (String part : parts) {
      assertTrue(violation != null && violation.contains(part), violation);
    }
  }
}
