package dev.culebra.bindings;

import static dev.culebra.bindings.Messages.assertSays;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every method of Driver against the fake: which function it calls, with what, and what it returns.
 */
class DriverTest {
  private static final Arena ARENA = Arena.global();
  private static final MemorySegment HOST = ARENA.allocate(64);
  private static final MemorySegment IMAGE = ARENA.allocateFrom("an image");
  private static final JitLog LOG = new JitLog(ARENA);

  /** Codes that the raw methods return and the status methods answer with instead of throwing. */
  private static final Set<String> NOT_CHECKED =
      Set.of("cuLaunchKernel", "cuLaunchKernelEx", "cuStreamQuery", "cuEventQuery");

  /** One call of Driver. */
  record Call(
      String function, Supplier<@Nullable Object> call, Object result, List<Long> arguments) {
    @Override
    public String toString() {
      return function;
    }
  }

  private static Call call(
      String function, Supplier<@Nullable Object> call, Object result, long... arguments) {
    return new Call(function, call, result, Arrays.stream(arguments).boxed().toList());
  }

  private static final Object NOTHING = "nothing";

  private static Call run(String function, Runnable call, long... arguments) {
    return call(
        function,
        () -> {
          call.run();
          return NOTHING;
        },
        NOTHING,
        arguments);
  }

  static Stream<Call> calls() {
    long host = HOST.address();
    return Stream.of(
        call("cuDeviceGetCount", Driver::deviceGetCount, 1),
        call("cuDeviceGet", () -> Driver.deviceGet(3), 70, 3),
        call("cuDeviceGetName", () -> Driver.deviceGetName(3), "Fake GPU", 256, 3),
        call("cuDeviceGetUuid", () -> text(Driver.deviceGetUuid(3)), "0123456789abcdef", 3),
        call("cuDeviceGetAttribute", () -> Driver.deviceGetAttribute(16, 3), 71, 16, 3),
        call("cuDeviceTotalMem", () -> Driver.deviceTotalMem(3), 1L << 40, 3),
        call("cuDeviceGetPCIBusId", () -> Driver.deviceGetPCIBusId(3), "0000:3b:00.0", 64, 3),
        call("cuDeviceGetDefaultMemPool", () -> Driver.deviceGetDefaultMemPool(3), 72L, 3),
        call("cuDevicePrimaryCtxRetain", () -> Driver.devicePrimaryCtxRetain(3), 73L, 3),
        run("cuDevicePrimaryCtxRelease", () -> Driver.devicePrimaryCtxRelease(3), 3),
        call(
            "cuDevicePrimaryCtxGetState",
            () -> Driver.devicePrimaryCtxGetState(3),
            new Driver.PrimaryCtxState(5, true),
            3),
        call("cuCtxGetCurrent", Driver::ctxGetCurrent, 74L),
        run("cuCtxSetCurrent", () -> Driver.ctxSetCurrent(1L << 40), 1L << 40),
        run("cuCtxPushCurrent", () -> Driver.ctxPushCurrent(1L << 40), 1L << 40),
        call("cuCtxPopCurrent", Driver::ctxPopCurrent, 75L),
        run("cuCtxSynchronize", Driver::ctxSynchronize),
        call("cuCtxGetId", () -> Driver.ctxGetId(1L << 40), 76L, 1L << 40),
        call("cuCtxGetDevice", Driver::ctxGetDevice, 77),
        call(
            "cuCtxGetStreamPriorityRange",
            Driver::ctxGetStreamPriorityRange,
            new Driver.StreamPriorityRange(0, -5)),
        call(
            "cuStreamCreateWithPriority", () -> Driver.streamCreateWithPriority(1, -2), 80L, 1, -2),
        run("cuStreamDestroy", () -> Driver.streamDestroy(1L << 40), 1L << 40),
        run("cuStreamSynchronize", () -> Driver.streamSynchronize(1L << 40), 1L << 40),
        call("cuStreamQuery", () -> Driver.streamQuery(1L << 40), CudaResult.SUCCESS, 1L << 40),
        run("cuStreamWaitEvent", () -> Driver.streamWaitEvent(4, 5, 1), 4, 5, 1),
        call("cuStreamGetId", () -> Driver.streamGetId(4), 81L, 4),
        run("cuLaunchHostFunc", () -> Driver.launchHostFunc(4, () -> {}), 4),
        call("cuEventCreate", () -> Driver.eventCreate(2), 82L, 2),
        run("cuEventRecord", () -> Driver.eventRecord(5, 4), 5, 4),
        call("cuEventQuery", () -> Driver.eventQuery(5), CudaResult.SUCCESS, 5),
        run("cuEventSynchronize", () -> Driver.eventSynchronize(5), 5),
        call("cuEventElapsedTime", () -> Driver.eventElapsedTime(5, 6), 1.5f, 5, 6),
        run("cuEventDestroy", () -> Driver.eventDestroy(5), 5),
        call("cuMemAlloc", () -> Driver.memAlloc(5L << 32), 90L, 5L << 32),
        run("cuMemFree", () -> Driver.memFree(7), 7),
        call("cuMemAllocAsync", () -> Driver.memAllocAsync(5L << 32, 4), 91L, 5L << 32, 4),
        run("cuMemFreeAsync", () -> Driver.memFreeAsync(7, 4), 7, 4),
        call("cuMemGetInfo", Driver::memGetInfo, new Driver.MemInfo(1L << 33, 1L << 37)),
        run("cuMemPoolSetAttribute", () -> Driver.memPoolSetAttribute(7, 4, -1), 7, 4, -1),
        call("cuMemPoolGetAttribute", () -> Driver.memPoolGetAttribute(7, 1), 1L, 7, 1),
        run("cuMemPoolTrimTo", () -> Driver.memPoolTrimTo(7, 5L << 32), 7, 5L << 32),
        call("cuMemHostAlloc", () -> Driver.memHostAlloc(48, 1, ARENA).byteSize(), 48L, 48, 1),
        run("cuMemFreeHost", () -> Driver.memFreeHost(7), 7),
        run("cuMemcpyHtoD", () -> Driver.memcpyHtoD(7, HOST, 64), 7, host, 64),
        run("cuMemcpyDtoH", () -> Driver.memcpyDtoH(HOST, 7, 63), host, 7, 63),
        run("cuMemcpyDtoD", () -> Driver.memcpyDtoD(7, 8, 5L << 32), 7, 8, 5L << 32),
        run("cuMemcpyHtoDAsync", () -> Driver.memcpyHtoDAsync(7, HOST, 64, 4), 7, host, 64, 4),
        run("cuMemcpyDtoHAsync", () -> Driver.memcpyDtoHAsync(HOST, 7, 63, 4), host, 7, 63, 4),
        run(
            "cuMemcpyDtoDAsync",
            () -> Driver.memcpyDtoDAsync(7, 8, 5L << 32, 4),
            7,
            8,
            5L << 32,
            4),
        run("cuMemsetD8", () -> Driver.memsetD8(7, (byte) 0xf0, 5L << 32), 7, 0xf0, 5L << 32),
        run("cuMemsetD16", () -> Driver.memsetD16(7, (short) 0xf0f0, 9), 7, 0xf0f0, 9),
        run("cuMemsetD32", () -> Driver.memsetD32(7, 0x70f0f0f0, 9), 7, 0x70f0f0f0, 9),
        run("cuMemsetD8Async", () -> Driver.memsetD8Async(7, (byte) 1, 9, 4), 7, 1, 9, 4),
        run("cuMemsetD16Async", () -> Driver.memsetD16Async(7, (short) 1, 9, 4), 7, 1, 9, 4),
        run("cuMemsetD32Async", () -> Driver.memsetD32Async(7, 1, 9, 4), 7, 1, 9, 4),
        call(
            "cuLibraryLoadData",
            () -> Driver.libraryLoadData(IMAGE, LOG),
            100L,
            IMAGE.address(),
            2,
            0,
            0,
            0),
        run("cuLibraryUnload", () -> Driver.libraryUnload(9), 9),
        call("cuLibraryGetModule", () -> Driver.libraryGetModule(9), 101L, 9),
        call("cuLibraryGetKernel", () -> Driver.libraryGetKernel(9, "k"), 102L, 9, 'k'),
        call(
            "cuLibraryGetGlobal",
            () -> Driver.libraryGetGlobal(9, "g"),
            new Driver.DeviceGlobal(103, 12),
            9,
            'g'),
        call("cuKernelGetFunction", () -> Driver.kernelGetFunction(9), 104L, 9),
        call("cuKernelGetAttribute", () -> Driver.kernelGetAttribute(8, 9, 3), 105, 8, 9, 3),
        run("cuKernelSetAttribute", () -> Driver.kernelSetAttribute(8, 5, 9, 3), 8, 5, 9, 3),
        call(
            "cuModuleLoadDataEx",
            () -> Driver.moduleLoadDataEx(IMAGE, LOG),
            100L,
            IMAGE.address(),
            2),
        call("cuModuleGetFunction", () -> Driver.moduleGetFunction(9, "f"), 106L, 9, 'f'),
        run("cuModuleUnload", () -> Driver.moduleUnload(9), 9),
        call("cuFuncGetAttribute", () -> Driver.funcGetAttribute(8, 9), 107, 8, 9),
        run("cuFuncSetAttribute", () -> Driver.funcSetAttribute(9, 8, 5), 9, 8, 5),
        call(
            "cuFuncGetParamInfo",
            () -> Driver.funcGetParamInfo(9, 2),
            Optional.of(new Driver.ParamInfo(8, 4)),
            9,
            2),
        run("cuFuncLoad", () -> Driver.funcLoad(9), 9),
        call(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            () -> Driver.occupancyMaxActiveBlocksPerMultiprocessor(9, 256, 1 << 16),
            108,
            9,
            256,
            1 << 16),
        call(
            "cuOccupancyMaxActiveClusters",
            () -> Driver.occupancyMaxActiveClusters(9, 1L << 40),
            109,
            9,
            1L << 40),
        call(
            "cuLaunchKernel",
            () -> Driver.launchKernel(9, 1, 2, 3, 4, 5, 6, 7, 1L << 40, 1L << 41),
            0,
            9,
            1,
            2,
            3,
            4,
            5,
            6,
            7,
            1L << 40,
            1L << 41,
            0),
        call(
            "cuLaunchKernelEx",
            () -> Driver.launchKernelEx(1L << 40, 9, 1L << 41),
            0,
            1L << 40,
            9,
            1L << 41,
            0));
  }

  @BeforeAll
  static void driver() {
    FakeDriver.install();
  }

  @AfterEach
  void succeedAgain() {
    FakeDriver.install().setResult(0);
    Driver.ctxSetCurrent(74);
  }

  @ParameterizedTest
  @MethodSource("calls")
  void callsItsFunction(Call call) {
    Object result = call.call().get();
    assertEquals(call.function(), FakeDriver.install().lastName());
    assertEquals(call.arguments(), FakeDriver.install().lastArguments());
    assertEquals(call.result(), result);
  }

  @ParameterizedTest
  @MethodSource("calls")
  void reportsAnError(Call call) {
    FakeDriver.install().setResult(999);
    if (NOT_CHECKED.contains(call.function())) {
      Object result = call.call().get();
      assertTrue(result.equals(999) || result.equals(CudaResult.UNKNOWN), () -> "" + result);
    } else {
      var e = assertThrows(CudaException.class, () -> call.call().get());
      assertEquals(call.function(), e.function());
      assertEquals(CudaResult.UNKNOWN, e.result());
    }
  }

  @Test
  @DisplayName("the two tests above know every function that Driver binds")
  void complete() {
    Set<String> bound =
        Arrays.stream(Driver.class.getDeclaredClasses())
            .filter(type -> !type.isRecord())
            .map(type -> "cu" + type.getSimpleName())
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(bound, calls().map(Call::function).collect(Collectors.toCollection(TreeSet::new)));
  }

  @Test
  void driverItself() {
    Driver.init();
    assertEquals(13000, Driver.driverGetVersion());
    assertTrue(Driver.opened().isAvailable(), Driver.opened().message());
    assertTrue(Driver.opened().message().endsWith("driver for CUDA 13.0, 1 device"));
  }

  @Test
  @DisplayName("names and texts are the driver's; a code that only the driver knows has its name")
  void errorTexts() {
    assertEquals("the fake has no memory", Driver.getErrorString(2));
    assertEquals("CUDA_ERROR_FROM_THE_FUTURE", Driver.getErrorName(4242));
    assertEquals("CUresult 4243", Driver.getErrorName(4243));
    assertEquals(
        "CUDA_ERROR_INVALID_VALUE", Driver.getErrorName(1), "ours where the driver has none");
    assertEquals("", Driver.getErrorString(4243));
  }

  @Test
  @DisplayName("a parameter that is not there is an answer, every other failure is an error")
  void noSuchParameter() {
    FakeDriver.install().setResult(1);
    assertEquals(Optional.empty(), Driver.funcGetParamInfo(9, 3));
    FakeDriver.install().setResult(400);
    assertThrows(CudaException.class, () -> Driver.funcGetParamInfo(9, 3));
  }

  @Test
  void compilerLogIsInTheException() {
    MemorySegment bad = ARENA.allocateFrom("!");
    for (Supplier<Long> load :
        List.<Supplier<Long>>of(
            () -> Driver.libraryLoadData(bad, new JitLog(ARENA)),
            () -> Driver.moduleLoadDataEx(bad, new JitLog(ARENA)))) {
      var e = assertThrows(InvalidImageException.class, load::get);
      assertSays(e, "line 3: no such opcode");
    }
  }

  @Test
  void copiesStayWithinTheHostSegment() {
    for (long bytes : new long[] {65, -1, Long.MAX_VALUE}) {
      for (Runnable copy :
          List.<Runnable>of(
              () -> Driver.memcpyHtoD(7, HOST, bytes),
              () -> Driver.memcpyDtoH(HOST, 7, bytes),
              () -> Driver.memcpyHtoDAsync(7, HOST, bytes, 4),
              () -> Driver.memcpyDtoHAsync(HOST, 7, bytes, 4))) {
        var e = assertThrows(IllegalArgumentException.class, copy::run);
        assertSays(e, "64");
      }
    }
  }

  @Test
  void copyFromAClosedArena() {
    MemorySegment closed;
    try (Arena arena = Arena.ofConfined()) {
      closed = arena.allocate(8);
    }
    assertThrows(IllegalStateException.class, () -> Driver.memcpyHtoD(7, closed, 8));
  }

  @Test
  void pinnedMemoryEndsWithItsScope() {
    MemorySegment pinned;
    try (Arena arena = Arena.ofConfined()) {
      pinned = Driver.memHostAlloc(48, 0, arena);
      assertEquals(48, pinned.fill((byte) 1).byteSize());
    }
    assertFalse(pinned.scope().isAlive());
  }

  @Test
  @DisplayName("what a host task throws goes to the thread's handler, not through the driver")
  void hostTaskThrows() {
    var thread = Thread.currentThread();
    var before = thread.getUncaughtExceptionHandler();
    var caught = new AtomicReference<@Nullable Throwable>();
    thread.setUncaughtExceptionHandler((t, e) -> caught.set(e));
    try {
      var thrown = new IllegalStateException("from the task");
      Driver.launchHostFunc(
          4,
          () -> {
            throw thrown;
          });
      assertEquals(thrown, caught.get());
    } finally {
      thread.setUncaughtExceptionHandler(before);
    }
  }

  @Test
  void hostTaskRunsOnceAndNotAtAllIfRefused() {
    List<String> ran = new ArrayList<>();
    Driver.launchHostFunc(4, () -> ran.add("first"));
    FakeDriver.install().setResult(400);
    assertThrows(CudaException.class, () -> Driver.launchHostFunc(4, () -> ran.add("refused")));
    assertEquals(List.of("first"), ran);
  }

  @Test
  void uuidBytes() {
    assertArrayEquals(
        "0123456789abcdef".getBytes(StandardCharsets.US_ASCII), Driver.deviceGetUuid(0));
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.US_ASCII);
  }
}
