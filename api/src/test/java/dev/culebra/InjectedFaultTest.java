package dev.culebra;

import static dev.culebra.ElementType.F32;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.OutOfDeviceMemoryException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whichever call of the driver fails, the exception names it, nothing is left behind, and the next
 * attempt works.
 */
@Tag("emulator-only")
class InjectedFaultTest extends DeviceTier {

  private static final List<String> KINDS =
      List.of("stream", "event", "module", "library", "device memory", "pool memory");
  private static final int OUT_OF_MEMORY = 2;

  private EmulatorControl emulator;

  @BeforeEach
  void findTheEmulator() {
    var found = EmulatorControl.find();
    assumeTrue(found.isPresent(), "the driver is not the emulator");
    emulator = found.get();
  }

  @AfterEach
  void takeTheFaultsAway() {
    if (emulator != null) {
      emulator.close();
    }
  }

  /** A bit of everything, in a context with pools of its own. */
  private void work() {
    try (Context own = Context.primary(context.device());
        Stream first = own.newStream();
        Stream second = own.newStream();
        DeviceBuffer<ElementType.F32> buffer = own.allocate(F32, 64, first)) {
      float[] values = new float[64];
      buffer.copyFrom(values);
      PreparedLaunch fill =
          KernelCatalog.open()
              .kernel(own, "culebra_selftest_fill_f32")
              .prepare(LaunchConfig.of(2, 32));
      fill.set("out", buffer);
      fill.set("value", 7f);
      fill.set("count", 64L);
      fill.launch(second);
      fill.config(LaunchConfig.of(16, 32).withClusterBlocks(Dim3.of(16)));
      fill.launch(second);
      buffer.copyTo(values);
      float[] expected = new float[64];
      java.util.Arrays.fill(expected, 7f);
      assertArrayEquals(expected, values);
    }
  }

  private Map<String, Long> alive() {
    Map<String, Long> counts = new LinkedHashMap<>();
    for (String kind : KINDS) {
      counts.put(kind, emulator.liveCount(kind));
    }
    return counts;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cuStreamCreateWithPriority",
        "cuEventCreate",
        "cuMemAllocAsync",
        "cuLibraryLoadData",
        "cuLibraryGetModule",
        "cuLibraryGetKernel",
        "cuKernelGetFunction",
        "cuMemcpyHtoDAsync_v2",
        "cuMemcpyDtoHAsync_v2",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuFuncSetAttribute",
        "cuEventRecord",
        "cuStreamWaitEvent",
      })
  void aFailedCallLeavesNothingBehind(String function) {
    work();
    Map<String, Long> before = alive();
    long calls = emulator.callCount(function);
    work();
    calls = emulator.callCount(function) - calls;
    assertTrue(calls > 0, () -> function + " is not called by this work");
    for (long n = 1; n <= calls; n++) {
      emulator.setFault("fail:" + function + ":" + n + ":" + OUT_OF_MEMORY);
      CudaException failure = assertThrows(CudaException.class, this::work, "call " + n);
      emulator.setFault("");
      assertTrue(function.startsWith(failure.function()), () -> "told as a failure of " + failure);
      assertEquals(OUT_OF_MEMORY, failure.result().code());
      assertEquals(before, alive(), "left behind by call " + n);
      work();
    }
    assertEquals(before, alive());
  }

  @Test
  void aBudgetOfDeviceMemoryIsToldAsSuchAndNoLongerThanItLasts() {
    long bytes = 1L << 20;
    emulator.setFault("budget:" + bytes);
    assertThrows(
        OutOfDeviceMemoryException.class, () -> context.allocate(F32, bytes, stream).close());
    context.allocate(F32, 16, stream).close();
    emulator.setFault("");
    context.allocate(F32, bytes, stream).close();
  }
}
