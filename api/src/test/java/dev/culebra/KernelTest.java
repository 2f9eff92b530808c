package dev.culebra;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.KernelParameter.f32;
import static dev.culebra.KernelParameter.f64;
import static dev.culebra.KernelParameter.i32;
import static dev.culebra.KernelParameter.i64;
import static dev.culebra.KernelParameter.in;
import static dev.culebra.KernelParameter.out;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.InvalidImageException;
import dev.culebra.bindings.LaunchConfigException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelTest extends DeviceTier {

  private static final KernelSignature AXPY =
      KernelSignature.of(out("y", F32), in("x", F32), f32("a"), i64("count"));

  private static final int MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;

  private KernelImage image;

  @BeforeEach
  void readTheImage() {
    // Some image that the context can run, taken the way a user would take a file.
    image = selftest("axpy_f32").library().image();
  }

  @Test
  void theLibraryThatAContextSharesIsNotTheUsersToClose() {
    CudaLibrary shared = selftest("fill_f32").library();
    assertTells(
        assertThrows(IllegalStateException.class, shared::close), "shared", "context of", "load");
    assertFalse(shared.isClosed());
    try (DeviceBuffer<ElementType.F32> out = context.allocate(F32, 1, stream)) {
      PreparedLaunch fill = selftest("fill_f32").prepare(LaunchConfig.of(1, 32));
      fill.set("out", out);
      fill.set("value", 3f);
      fill.set("count", 1L);
      fill.launch(stream);
      float[] back = new float[1];
      out.copyTo(back);
      assertEquals(3f, back[0]);
    }
  }

  @Test
  void closingALibraryDoesNotWaitForWorkOfOthers() {
    CudaLibrary library = context.load(image); // waits for the device, so before the gate
    try (Context others = Context.primary(context.device());
        Stream busy = others.newStream();
        Gate gate = new Gate(busy)) {
      assertTimeoutPreemptively(java.time.Duration.ofSeconds(20), library::close);
      assertFalse(busy.isDone());
      gate.open();
    }
  }

  @Test
  void aLibraryOfTheUsersRunsAKernelWithTheUsersSignature() {
    try (CudaLibrary library = context.load(image);
        DeviceBuffer<ElementType.F32> x = context.allocate(F32, 5, stream);
        DeviceBuffer<ElementType.F32> y = context.allocate(F32, 5, stream)) {
      x.copyFrom(new float[] {1, 2, 3, 4, 5});
      y.fill(10, stream);
      PreparedLaunch launch =
          library
              .kernel("culebra_selftest_axpy_f32", AXPY)
              .prepare(LaunchConfig.forElements(5, 32));
      launch.set(0, y);
      launch.set(1, In.of(x));
      launch.set(2, 2f);
      launch.set(3, 5L);
      launch.launch(stream);
      launch.set("a", -1f);
      launch.launch(stream);
      float[] back = new float[5];
      y.copyTo(back);
      assertArrayEquals(new float[] {11, 12, 13, 14, 15}, back);
    }
  }

  @Test
  @DisplayName("71, 72: a kernel that is not there, and names that cannot be")
  void missingKernels() {
    try (CudaLibrary library = context.load(image)) {
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> library.kernel("nothing", KernelSignature.of())),
          "no kernel nothing",
          image.name());
      for (String name : new String[] {"", "a\0b", "größe"}) {
        assertTells(
            assertThrows(
                IllegalArgumentException.class, () -> library.kernel(name, KernelSignature.of())),
            "cannot be the name");
      }
    }
  }

  @Test
  @DisplayName("75, 76: every difference to the kernel's own parameters is told")
  void signaturesAreVerified() {
    try (CudaLibrary library = context.load(image)) {
      String name = "culebra_selftest_axpy_f32";
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  library.kernel(name, KernelSignature.of(out("y", F32), in("x", F32), f32("a")))),
          "parameter 3 is missing (8 bytes at offset 24)");
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  library.kernel(
                      name,
                      KernelSignature.of(
                          out("y", F32), in("x", F32), f32("a"), i64("n"), i32("more")))),
          "parameter 4 (i32 more) is one too many");
      IllegalArgumentException error =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  library.kernel(
                      name, KernelSignature.of(out("y", F32), i32("x"), f64("a"), i32("count"))));
      assertTells(
          error,
          "parameter 1 (i32 x) has 4 bytes at offset 8, the kernel's has 8 bytes at offset 8",
          "parameter 2 (f64 a) has 8 bytes at offset 16, the kernel's has 4 bytes at offset 16",
          "parameter 3 (i32 count) has 4 bytes");
    }
  }

  @Test
  @DisplayName("64, 76: arguments are never widened, narrowed or taken for another type")
  void argumentTypesHaveToMatch() {
    PreparedLaunch launch = selftest("axpy_f32").prepare(LaunchConfig.of(1, 32));
    try (DeviceBuffer<ElementType.F32> floats = context.allocate(F32, 4, stream);
        DeviceBuffer<ElementType.I32> ints = context.allocate(I32, 4, stream)) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> launch.set("a", 1.0)),
          "argument a",
          "is f32, not double");
      assertThrows(IllegalArgumentException.class, () -> launch.set("a", 1));
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> launch.set("count", 1)),
          "is i64, not int");
      assertThrows(IllegalArgumentException.class, () -> launch.set("count", 1f));
      assertThrows(IllegalArgumentException.class, () -> launch.set("count", (short) 1));
      assertThrows(IllegalArgumentException.class, () -> launch.set("count", (byte) 1));
      assertThrows(IllegalArgumentException.class, () -> launch.set("x", 0L));
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> launch.set("x", ints)),
          "const f32*",
          "memory of I32");
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> launch.set("y", In.of(floats))),
          "only read");
      assertThrows(IllegalArgumentException.class, () -> launch.set("z", 1f));
      assertThrows(IndexOutOfBoundsException.class, () -> launch.set(4, 1f));
    }
  }

  @Test
  void argumentsThatWereNotSetAreNamed() {
    PreparedLaunch launch = selftest("axpy_f32").prepare(LaunchConfig.of(1, 32));
    launch.set("a", 1f);
    launch.set("a", 2f);
    assertTells(
        assertThrows(IllegalStateException.class, () -> launch.launch(stream)), "[y, x, count]");
  }

  @Test
  @DisplayName("81: memory of another context is refused when set, closed memory when launched")
  void memoryHasToBeUsable() {
    PreparedLaunch launch = selftest("fill_f32").prepare(LaunchConfig.of(1, 32));
    try (Context other = Context.primary(context.device());
        Stream its = other.newStream();
        DeviceBuffer<ElementType.F32> foreign = other.allocate(F32, 4, its)) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> launch.set("out", foreign)),
          "argument out",
          "belongs to");
      DeviceBuffer<ElementType.F32> own = context.allocate(F32, 4, stream);
      launch.set("out", own);
      launch.set("value", 1f);
      launch.set("count", 4L);
      assertThrows(IllegalArgumentException.class, () -> launch.launch(its));
      own.close();
      assertTells(
          assertThrows(IllegalStateException.class, () -> launch.launch(stream)),
          "DeviceBuffer<F32> of 4",
          "has been closed");
    }
  }

  @Test
  @DisplayName("19: a launch on a closed stream throws")
  void closedStream() {
    PreparedLaunch launch = selftest("fill_f32").prepare(LaunchConfig.of(1, 32));
    Stream closed = context.newStream();
    closed.close();
    assertTells(
        assertThrows(IllegalStateException.class, () -> launch.launch(closed)), "has been closed");
  }

  @Test
  @DisplayName("27: kernels of a closed library cannot be launched; what was launched is finished")
  void closedLibrary() {
    try (DeviceBuffer<ElementType.F32> memory = context.allocate(F32, 100, stream)) {
      CudaLibrary library = context.load(image);
      Kernel fill =
          library.kernel(
              "culebra_selftest_fill_f32",
              KernelSignature.of(out("out", F32), f32("value"), i64("count")));
      PreparedLaunch launch = fill.prepare(LaunchConfig.of(1, 32));
      launch.set("out", memory);
      launch.set("value", 4f);
      launch.set("count", 100L);
      Gate gate = new Gate(stream);
      launch.launch(stream);
      Thread opener = new Thread(gate::open);
      opener.start();
      library.close();
      library.close();
      assertTrue(stream.isDone(), "closing waited");
      float[] back = new float[100];
      memory.copyTo(back);
      assertEquals(4f, back[99]);
      assertTells(
          assertThrows(IllegalStateException.class, () -> launch.launch(stream)), "CudaLibrary");
      assertThrows(IllegalStateException.class, () -> fill.prepare(LaunchConfig.of(1, 32)));
      assertThrows(IllegalStateException.class, () -> library.kernel("x", AXPY));
    }
  }

  @Test
  void aPreparedLaunchBelongsToItsThread() throws Exception {
    PreparedLaunch launch = selftest("fill_f32").prepare(LaunchConfig.of(1, 32));
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Thread other =
        new Thread(
            () -> {
              failure.set(assertThrows(WrongThreadException.class, () -> launch.launch(stream)));
              assertThrows(WrongThreadException.class, () -> launch.set("value", 1f));
              assertThrows(WrongThreadException.class, () -> launch.gridBlocks(Dim3.of(2)));
              assertThrows(WrongThreadException.class, () -> launch.blockThreads(Dim3.of(2)));
              assertThrows(WrongThreadException.class, () -> launch.dynamicSharedBytes(2));
              assertThrows(WrongThreadException.class, () -> launch.clusterBlocks(Dim3.of(1)));
              assertThrows(WrongThreadException.class, launch::withoutCluster);
              assertThrows(WrongThreadException.class, () -> launch.config(LaunchConfig.of(1, 32)));
            });
    other.start();
    other.join();
    assertNotNull(failure.get());
  }

  @Test
  @DisplayName("86, 88: the driver's limits are checked before it, and named")
  void limits() {
    Kernel kernel = selftest("reverse_f32");
    Device device = context.device();
    assertTells(
        assertThrows(LaunchConfigException.class, () -> kernel.prepare(LaunchConfig.of(1, 1025))),
        kernel.name(),
        "block.x is 1025 threads; the device allows 1024");
    LaunchConfig tooHigh = new LaunchConfig(new Dim3(1, 65536, 1), Dim3.of(32), 0);
    assertTells(
        assertThrows(LaunchConfigException.class, () -> kernel.prepare(tooHigh)),
        "grid.y is 65536");
    int most =
        device.attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            - kernel.staticSharedBytes();
    LaunchConfig config = LaunchConfig.of(1, 32);
    assertTells(
        assertThrows(
            LaunchConfigException.class,
            () -> kernel.prepare(config.withDynamicSharedBytes(most + 1))),
        "at most " + most);
    PreparedLaunch launch = kernel.prepare(LaunchConfig.of(1, 32));
    assertThrows(LaunchConfigException.class, () -> launch.gridBlocks(new Dim3(1, 1, 65536)));
    assertThrows(IllegalArgumentException.class, () -> launch.gridBlocks(Dim3.of(0)));
    assertEquals(Dim3.of(1), launch.config().gridBlocks(), "a refused change changes nothing");
  }

  @Test
  @DisplayName("84, 88: shared memory beyond the default is opted in to and never taken back")
  void dynamicSharedMemory() {
    Kernel kernel = selftest("reverse_f32");
    int most =
        context.device().attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
            - kernel.staticSharedBytes();
    try (DeviceBuffer<ElementType.F32> source = context.allocate(F32, 3, stream);
        DeviceBuffer<ElementType.F32> target = context.allocate(F32, 3, stream)) {
      source.copyFrom(new float[] {1, 2, 3});
      PreparedLaunch large = reverse(kernel, most, source, target);
      PreparedLaunch small = reverse(selftest("reverse_f32"), 60 << 10, source, target);
      small.launch(stream);
      large.launch(stream);
      float[] back = new float[3];
      target.copyTo(back);
      assertArrayEquals(new float[] {3, 2, 1}, back);
    }
  }

  @Test
  @DisplayName("84, 88: the dynamic shared memory of a prepared launch can be changed")
  void dynamicSharedMemoryChanges() {
    int most = context.device().attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    String name = "culebra_ptx_special_registers";
    KernelImage ptx = KernelCatalog.open().kernel(context, name).library().image();
    try (CudaLibrary library = context.load(ptx);
        DeviceBuffer<ElementType.I32> registers = context.allocate(I32, 14 * 64, stream)) {
      Kernel kernel = library.kernel(name, KernelSignature.of(out("out", I32)));
      PreparedLaunch launch = kernel.prepare(LaunchConfig.of(2, 32));
      launch.set(0, registers);
      int[] back = new int[14 * 64];
      int largest = 0;
      for (int bytes : new int[] {0, 1024, 48 << 10, (48 << 10) + 16, 100 << 10, 16, most, 0}) {
        launch.dynamicSharedBytes(bytes);
        assertEquals(bytes, launch.config().dynamicSharedBytes());
        launch.launch(stream);
        registers.copyTo(back);
        // Row 6 is %dynamic_smem_size, of each thread.
        for (int thread = 0; thread < 64; thread++) {
          assertEquals(bytes, back[6 * 64 + thread]);
        }
        largest = Math.max(largest, bytes);
        int allowed = Driver.funcGetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.handle());
        assertEquals(Math.max(48 << 10, largest), allowed, "raised, and never lowered");
      }
      assertTells(
          assertThrows(LaunchConfigException.class, () -> launch.dynamicSharedBytes(most + 1)),
          name,
          "dynamic shared memory of " + (most + 1) + " bytes",
          "the device allows " + most,
          "at most " + most);
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> launch.dynamicSharedBytes(-1)),
          "-1 bytes is negative");
      assertEquals(0, launch.config().dynamicSharedBytes(), "a refused change changes nothing");
    }
  }

  @Test
  @DisplayName("occupancy is that of the kernel with the shared memory that its launch will have")
  void occupancyOptsIn() {
    String name = "culebra_selftest_reverse_f32";
    try (CudaLibrary library = context.load(image)) {
      Kernel kernel = library.kernel(name, KernelSignature.of(out("out", F32), in("in", F32)));
      LaunchConfig config = LaunchConfig.of(1, 32).withDynamicSharedBytes(60 << 10);
      assertTrue(kernel.maxActiveBlocksPerMultiprocessor(config) >= 1);
      assertEquals(
          60 << 10, Driver.funcGetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.handle()));
    }
  }

  private static PreparedLaunch reverse(
      Kernel kernel, int sharedBytes, DeviceRange<?> source, DeviceRange<?> target) {
    PreparedLaunch launch =
        kernel.prepare(LaunchConfig.of(1, 3).withDynamicSharedBytes(sharedBytes));
    launch.set("out", target);
    launch.set("in", source);
    return launch;
  }

  @Test
  void occupancyAndAttributes() {
    Kernel kernel = selftest("reverse_f32");
    assertEquals(1024, kernel.maxThreadsPerBlock());
    assertTrue(kernel.registersPerThread() > 0);
    assertTrue(kernel.localBytesPerThread() >= 0);
    int blocks = kernel.maxActiveBlocksPerMultiprocessor(LaunchConfig.of(1, 1024));
    assertTrue(blocks >= 1 && blocks <= 2, () -> blocks + " blocks of 1024 threads");
  }

  @ParameterizedTest(name = "77: the bits of {0} pass unchanged")
  @ValueSource(strings = {"f16", "bf16", "f32", "f64"})
  void exactBits(String symbol) {
    echo(ElementType.of(symbol));
  }

  private <E extends ElementType<E>> void echo(ElementType<E> type) {
    byte[] bits = new byte[64 * type.byteSize()];
    new java.util.SplittableRandom(7).nextBytes(bits);
    // A NaN's payload may change on its way through the accumulator's type: keep the exponents
    // small.
    for (int i = type.byteSize() - 1; i < bits.length; i += type.byteSize()) {
      bits[i] &= (byte) 0xbf;
    }
    try (DeviceBuffer<E> in = context.allocate(type, 64, stream);
        DeviceBuffer<E> out = context.allocate(type, 64, stream)) {
      in.copyFrom(java.lang.foreign.MemorySegment.ofArray(bits));
      PreparedLaunch launch = selftest("echo_" + type.symbol()).prepare(LaunchConfig.of(1, 32));
      launch.set("out", out);
      launch.set("in", in);
      launch.set("count", 64L);
      launch.launch(stream);
      byte[] back = new byte[bits.length];
      out.copyTo(java.lang.foreign.MemorySegment.ofArray(back));
      assertArrayEquals(bits, back);
    }
  }

  @Test
  void fieldsOfAStructAreSetByName() {
    PreparedLaunch launch =
        KernelCatalog.open()
            .kernel(context, "culebra_softmax_safe_f32")
            .prepare(LaunchConfig.of(1, 256));
    assertEquals(launch.slot("params.rows"), launch.slot("rows"));
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> launch.set("rows", 1)),
        "is i64, not int");
    assertTells(
        assertThrows(IllegalStateException.class, () -> launch.launch(stream)),
        "params.out",
        "params.scale");
  }

  @Test
  @DisplayName("68: an image for another architecture names both")
  void imagesTheDeviceCannotRun() {
    ElfBuilder elf = new ElfBuilder();
    elf.flags = 50 << 8;
    assertTells(
        assertThrows(
            InvalidImageException.class,
            () -> context.load(KernelImage.of("old.cubin", elf.build()))),
        "old.cubin",
        "sm_50",
        "CUDA_ERROR_NO_BINARY_FOR_GPU");
  }

  @Test
  @Tag("emulator-only") // a real driver trusts what lies behind the tables, and may crash
  @DisplayName("67: an image that is well formed and holds nothing is refused by the driver, early")
  void imagesThatOnlyLookRight() {
    ElfBuilder empty = new ElfBuilder();
    empty.flags = context.device().computeCapability().sm() << 8;
    CudaException refused =
        assertThrows(
            CudaException.class, () -> context.load(KernelImage.of("empty.cubin", empty.build())));
    assertTrue(refused.result().code() >= 200, refused::toString);
  }

  @Test
  @DisplayName("94: a prepared launch with its setters allocates nothing")
  void preparedLaunchesAllocateNothing() {
    assertAllocatesNothing((launch, i) -> {});
  }

  @Test
  @DisplayName("94: changes of grid, block and shared memory allocate nothing")
  void changedLaunchesAllocateNothing() {
    Dim3[] grids = {Dim3.of(1), Dim3.of(2)};
    assertAllocatesNothing(
        (launch, i) -> {
          launch.gridBlocks(grids[i & 1]);
          launch.gridBlocks(1, 1 + (i & 1), 1);
          launch.blockThreads(32 << (i & 1), 1, 1);
          launch.dynamicSharedBytes((i & 3) << 14);
        });
  }

  @Test
  @DisplayName("94: launches in clusters, and changes of these, allocate nothing")
  void clusteredLaunchesAllocateNothing() {
    assumeTrue(context.device().attribute(DeviceAttribute.CLUSTER_LAUNCH) != 0);
    LaunchConfig clustered = LaunchConfig.of(4, 32).withClusterBlocks(Dim3.of(4));
    assertAllocatesNothing(
        (launch, i) -> {
          launch.config(clustered);
          launch.clusterBlocks(1 << (i & 1), 1, 1);
          launch.gridBlocks(2, 1, 1);
          launch.blockThreads(32 << (i & 1), 1, 1);
          launch.dynamicSharedBytes((i & 1) << 10);
        });
  }

  private void assertAllocatesNothing(ObjIntConsumer<PreparedLaunch> change) {
    var threads =
        (com.sun.management.ThreadMXBean) java.lang.management.ManagementFactory.getThreadMXBean();
    try (DeviceBuffer<ElementType.F32> memory = context.allocate(F32, 32, stream)) {
      PreparedLaunch launch = selftest("fill_f32").prepare(LaunchConfig.of(1, 32));
      int value = launch.slot("value");
      launch.set("out", memory);
      launch.set("count", 32L);
      long smallest = Long.MAX_VALUE;
      // The first rounds run interpreted; the smallest of the later ones is the truth.
      for (int round = 0; round < 20; round++) {
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 2000; i++) {
          change.accept(launch, i);
          launch.set(value, (float) i);
          launch.launch(stream);
        }
        smallest = Math.min(smallest, threads.getCurrentThreadAllocatedBytes() - before);
        stream.synchronize();
      }
      assertTrue(smallest < 2000, smallest + " bytes for 2000 launches");
      float[] back = new float[32];
      memory.copyTo(back);
      assertEquals(1999f, back[31]);
    }
  }
}
