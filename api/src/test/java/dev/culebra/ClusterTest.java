package dev.culebra;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.KernelParameter.i32;
import static dev.culebra.KernelParameter.in;
import static dev.culebra.KernelParameter.out;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.bindings.Driver;
import dev.culebra.bindings.LaunchConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Launches in clusters, which devices have from compute capability 9.0 on. */
class ClusterTest extends DeviceTier {

  private static final int NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14;
  private static final String STORES = "culebra_ptx_cluster_stores";

  @BeforeEach
  void findADeviceWithClusters() {
    assumeTrue(context.device().attribute(DeviceAttribute.CLUSTER_LAUNCH) != 0);
  }

  /**
   * A kernel compiled for clusters of two blocks, each of which stores into the other's shared
   * memory: out [block][3][128][4] of in [128][4], see kernels-cu/ptx.
   */
  private CudaLibrary storesLibrary() {
    return context.load(KernelCatalog.open().kernel(context, STORES).library().image());
  }

  private static Kernel stores(CudaLibrary library) {
    return library.kernel(STORES, KernelSignature.of(out("out", I32), in("in", I32)));
  }

  private static int[] expectedStores(int[] in, int blocks) {
    int[] expected = new int[blocks * 3 * in.length];
    for (int block = 0; block < blocks; block++) {
      int rank = block % 2;
      int row = block * 3 * in.length;
      for (int i = 0; i < in.length; i++) {
        // The peer added 1 and its rank to z of what it stored; its st.async came through as it is.
        expected[row + i] = in[i] + (i % 4 == 2 ? 1 + (rank ^ 1) : 0);
        expected[row + in.length + i] = in[i];
      }
      for (int t = 0; t < in.length; t += 4) {
        expected[row + 2 * in.length + t] = 2;
        expected[row + 2 * in.length + t + 1] = rank;
        expected[row + 2 * in.length + t + 2] = in[t + 1];
      }
    }
    return expected;
  }

  @Test
  @DisplayName("a kernel compiled for clusters has them, whether the launch states them or not")
  void clustersOfTheKernel() {
    int[] values = new java.util.SplittableRandom(3).ints(512).toArray();
    try (CudaLibrary library = storesLibrary();
        DeviceBuffer<ElementType.I32> source = context.allocate(I32, 512, stream);
        DeviceBuffer<ElementType.I32> target = context.allocate(I32, 6 * 3 * 512, stream)) {
      source.copyFrom(values);
      Kernel kernel = stores(library);
      assertEquals(Optional.of(Dim3.of(2)), kernel.requiredClusterBlocks());
      PreparedLaunch launch = kernel.prepare(LaunchConfig.of(6, 128));
      launch.set(0, target);
      launch.set(1, In.of(source));
      int[] back = new int[6 * 3 * 512];
      for (int pass = 0; pass < 4; pass++) {
        target.fill(-1, stream);
        launch.launch(stream);
        target.copyTo(back);
        assertArrayEquals(expectedStores(values, 6), back, "pass " + pass);
        if (pass % 2 == 0) {
          launch.clusterBlocks(Dim3.of(2));
        } else {
          launch.withoutCluster();
        }
      }
    }
  }

  @Test
  @DisplayName(
      "a kernel compiled for clusters takes no others, and no grid that they do not divide")
  void whatTheKernelsClustersAllow() {
    try (CudaLibrary library = storesLibrary()) {
      Kernel kernel = stores(library);
      assertTells(
          assertThrows(LaunchConfigException.class, () -> kernel.prepare(LaunchConfig.of(3, 128))),
          STORES,
          "grid.x is 3 blocks",
          "cluster.x, which is 2 (the kernel's __cluster_dims__)");
      LaunchConfig config = LaunchConfig.of(4, 128);
      assertTells(
          assertThrows(
              LaunchConfigException.class,
              () -> kernel.prepare(config.withClusterBlocks(Dim3.of(4)))),
          "cluster 4x1x1",
          "compiled for 2x1x1 blocks");
      PreparedLaunch launch = kernel.prepare(config);
      assertThrows(LaunchConfigException.class, () -> launch.gridBlocks(5, 1, 1));
      assertThrows(LaunchConfigException.class, () -> launch.clusterBlocks(Dim3.of(1, 2)));
      assertEquals(config, launch.config(), "a refused change changes nothing");
      assertTrue(kernel.maxActiveClusters(config) > 0);
    }
  }

  @Test
  @DisplayName("89: clusters that do not fit are refused before the driver is asked, and named")
  void limits() {
    Kernel kernel = selftest("fill_f32");
    assertEquals(Optional.empty(), kernel.requiredClusterBlocks());
    LaunchConfig config = LaunchConfig.of(4, 32);
    assertTells(
        assertThrows(
            LaunchConfigException.class,
            () -> kernel.prepare(config.withClusterBlocks(Dim3.of(3)))),
        kernel.name(),
        "cuLaunchKernelEx",
        "grid.x is 4 blocks, not a multiple of cluster.x, which is 3");
    LaunchConfig large = LaunchConfig.of(68, 32).withClusterBlocks(Dim3.of(17));
    assertTells(
        assertThrows(LaunchConfigException.class, () -> kernel.prepare(large)),
        "cluster 17x1x1 is too large");
    PreparedLaunch launch = kernel.prepare(config.withClusterBlocks(Dim3.of(2)));
    assertThrows(IllegalArgumentException.class, () -> launch.clusterBlocks(0, 1, 1));
    assertThrows(LaunchConfigException.class, () -> launch.clusterBlocks(Dim3.of(1, 2)));
    assertThrows(LaunchConfigException.class, () -> launch.gridBlocks(Dim3.of(5)));
    assertThrows(
        LaunchConfigException.class,
        () -> launch.config(LaunchConfig.of(6, 32).withClusterBlocks(Dim3.of(4))));
    assertEquals(Dim3.of(2), launch.config().clusterBlocks());
    assertEquals(Dim3.of(4), launch.config().gridBlocks(), "a refused change changes nothing");
    assertTrue(launch.toString().contains("clusters of 2x1x1"), launch::toString);
    // There is no valid step between these two.
    launch.config(LaunchConfig.of(3, 32).withClusterBlocks(Dim3.of(3)));
    launch.config(LaunchConfig.of(4, 32).withClusterBlocks(Dim3.of(4)));
    launch.withoutCluster();
    launch.gridBlocks(Dim3.of(5));
    assertNull(launch.config().clusterBlocks());
    assertThrows(IllegalArgumentException.class, () -> kernel.maxActiveClusters(config));
  }

  @Test
  @DisplayName("a launch in clusters of every size computes what one without does")
  void anyKernelRunsInClusters() {
    Kernel kernel = selftest("fill_f32");
    try (DeviceBuffer<ElementType.F32> memory = context.allocate(F32, 1000, stream)) {
      PreparedLaunch launch = kernel.prepare(LaunchConfig.of(16, 32));
      launch.set("out", memory);
      launch.set("count", 1000L);
      float[] back = new float[1000];
      float[] expected = new float[1000];
      for (int blocks : new int[] {1, 2, 4, 8, 16}) {
        LaunchConfig config = LaunchConfig.of(16, 32).withClusterBlocks(Dim3.of(blocks));
        if (kernel.maxActiveClusters(config) == 0) {
          continue; // more than 8 are for the device to allow
        }
        launch.clusterBlocks(Dim3.of(blocks));
        launch.set("value", (float) blocks);
        launch.launch(stream);
        memory.copyTo(back);
        java.util.Arrays.fill(expected, blocks);
        assertArrayEquals(expected, back);
        assertEquals(
            blocks > 8 ? 1 : 0,
            Driver.funcGetAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, kernel.handle()),
            blocks + " blocks");
      }
    }
  }

  @Test
  @Tag("emulator-only") // the numbers are an H200's
  void activeClustersAreCounted() {
    Kernel kernel = selftest("reverse_f32");
    LaunchConfig config = LaunchConfig.of(1, 64).withDynamicSharedBytes(200_000);
    // One such block fills a multiprocessor; the grid does not matter.
    assertEquals(66, kernel.maxActiveClusters(config.withClusterBlocks(Dim3.of(2))));
    assertEquals(8, kernel.maxActiveClusters(config.withClusterBlocks(Dim3.of(4, 4))));
    assertEquals(
        1, kernel.maxActiveBlocksPerMultiprocessor(config.withClusterBlocks(Dim3.of(4, 4))));
    try (CudaLibrary library = storesLibrary()) {
      assertTrue(stores(library).maxActiveClusters(LaunchConfig.of(1, 128)) > 0);
    }
  }

  /** Kernels that the emulator's own tests have, which tell their place and read their peers. */
  private CudaLibrary emulatorsKernels() throws IOException {
    Path image =
        Path.of(System.getenv("CULEBRA_DRIVER")).resolveSibling("test/cluster_kernels.cubin");
    assumeTrue(Files.exists(image), () -> image + " is not there: make -C emulator test");
    return context.load(KernelImage.read(image));
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("grid and cluster arrive axis by axis, and so do their changes")
  void shapesArrive() throws IOException {
    try (CudaLibrary library = emulatorsKernels();
        DeviceBuffer<ElementType.I32> memory = context.allocate(I32, 8 * 48, stream)) {
      PreparedLaunch launch =
          library
              .kernel("cluster_coordinates", KernelSignature.of(out("out", I32)))
              .prepare(new LaunchConfig(new Dim3(6, 4, 2), Dim3.of(33), 0, new Dim3(3, 2, 1)));
      launch.set(0, memory);
      assertClusters(launch, memory, new Dim3(6, 4, 2), new Dim3(3, 2, 1));
      launch.clusterBlocks(1, 4, 2);
      assertClusters(launch, memory, new Dim3(6, 4, 2), new Dim3(1, 4, 2));
      launch.gridBlocks(3, 8, 2);
      assertClusters(launch, memory, new Dim3(3, 8, 2), new Dim3(1, 4, 2));
      launch.withoutCluster();
      assertClusters(launch, memory, new Dim3(3, 8, 2), Dim3.of(1));
      launch.config(LaunchConfig.of(16, 1).withClusterBlocks(Dim3.of(16)));
      assertClusters(launch, memory, Dim3.of(16), Dim3.of(16));
    }
  }

  /** Launches; each block wrote its cluster's blocks at 1, that cluster's shape at 3. */
  private void assertClusters(
      PreparedLaunch launch, DeviceBuffer<ElementType.I32> memory, Dim3 grid, Dim3 cluster) {
    int[] back = new int[8 * 48];
    memory.fill(-1, stream);
    launch.launch(stream);
    memory.copyTo(back);
    for (int block = 0; block < grid.count(); block++) {
      int x = block % grid.x();
      int y = block / grid.x() % grid.y();
      int z = block / grid.x() / grid.y();
      assertEquals(cluster.count(), back[8 * block + 1]);
      assertEquals(cluster.x() | cluster.y() << 8 | cluster.z() << 16, back[8 * block + 3]);
      assertEquals(x | y << 8 | z << 16, back[8 * block + 7], "all blocks of the grid ran");
    }
    if (grid.count() < 48) {
      assertEquals(-1, back[(int) (8 * grid.count())], "and no others");
    }
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("blocks read their neighbours' shared memory, static and dynamic")
  void blocksExchange() throws IOException {
    int rounds = 5;
    try (CudaLibrary library = emulatorsKernels();
        DeviceBuffer<ElementType.I32> memory = context.allocate(I32, 48 * 64, stream)) {
      PreparedLaunch launch =
          library
              .kernel("cluster_exchange", KernelSignature.of(out("out", I32), i32("rounds")))
              .prepare(LaunchConfig.of(48, 64).withDynamicSharedBytes(64 * Integer.BYTES));
      launch.set(0, memory);
      launch.set(1, rounds);
      int[] back = new int[48 * 64];
      for (int cluster : new int[] {1, 2, 3, 4, 8, 16}) {
        launch.clusterBlocks(cluster, 1, 1);
        launch.launch(stream);
        memory.copyTo(back);
        for (int i = 0; i < back.length; i++) {
          int block = i / 64;
          int peer = block / cluster * cluster + (block + 1) % cluster;
          assertEquals(
              rounds * (1000 * peer + i % 64 + 7 * peer) + rounds * (rounds - 1),
              back[i],
              "cluster of " + cluster);
        }
      }
    }
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("without a cluster the plain call is made, with one the other")
  void whichCallIsMade() {
    EmulatorControl emulator = EmulatorControl.find().orElseThrow();
    try (emulator;
        DeviceBuffer<ElementType.F32> memory = context.allocate(F32, 32, stream)) {
      PreparedLaunch launch = selftest("fill_f32").prepare(LaunchConfig.of(2, 32));
      launch.set("out", memory);
      launch.set("value", 1f);
      launch.set("count", 32L);
      long plain = emulator.callCount("cuLaunchKernel");
      long extended = emulator.callCount("cuLaunchKernelEx");
      launch.launch(stream);
      launch.clusterBlocks(2, 1, 1);
      launch.launch(stream);
      launch.withoutCluster();
      launch.launch(stream);
      assertEquals(2, emulator.callCount("cuLaunchKernel") - plain);
      assertEquals(1, emulator.callCount("cuLaunchKernelEx") - extended);

      launch.clusterBlocks(2, 1, 1);
      emulator.setFault("fail:cuLaunchKernelEx:1:912");
      assertTells(
          assertThrows(LaunchConfigException.class, () -> launch.launch(stream)),
          "cuLaunchKernelEx",
          "grid 2x1x1",
          "clusters of 2x1x1");
      launch.launch(stream);
      stream.synchronize();
    }
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("more than 8 blocks are asked for once for each kernel of a context")
  void optingInHappensOnce() {
    EmulatorControl emulator = EmulatorControl.find().orElseThrow();
    try (emulator) {
      long before = emulator.callCount("cuFuncSetAttribute");
      LaunchConfig config = LaunchConfig.of(48, 32).withClusterBlocks(Dim3.of(8));
      PreparedLaunch launch = selftest("fill_f32").prepare(config);
      assertEquals(before, emulator.callCount("cuFuncSetAttribute"));
      launch.clusterBlocks(16, 1, 1);
      launch.clusterBlocks(12, 1, 1);
      selftest("fill_f32").prepare(config.withClusterBlocks(Dim3.of(16)));
      assertEquals(before + 1, emulator.callCount("cuFuncSetAttribute"));
    }
  }
}
