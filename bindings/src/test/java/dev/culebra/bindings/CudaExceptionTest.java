package dev.culebra.bindings;

import static dev.culebra.bindings.Messages.assertSays;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CudaExceptionTest {
  @BeforeAll
  static void driver() {
    FakeDriver.install();
  }

  @ParameterizedTest
  @CsvSource({
    "cuMemAlloc, 2, OutOfDeviceMemoryException",
    "cuLibraryLoadData, 200, InvalidImageException",
    "cuLibraryGetModule, 209, InvalidImageException",
    "cuModuleLoadDataEx, 218, InvalidImageException",
    "cuModuleLoadDataEx, 222, InvalidImageException",
    "cuStreamSynchronize, 700, KernelFaultException",
    "cuStreamSynchronize, 702, KernelFaultException",
    "cuStreamSynchronize, 710, KernelFaultException",
    "cuStreamSynchronize, 714, KernelFaultException",
    "cuStreamSynchronize, 719, KernelFaultException",
    "cuMemFree, 214, KernelFaultException",
    "cuLaunchKernel, 1, LaunchConfigException",
    "cuLaunchKernelEx, 912, LaunchConfigException",
    "cuLaunchKernel, 701, LaunchConfigException",
    "cuLaunchKernel, 720, LaunchConfigException",
    "cuMemcpyHtoD, 1, CudaException",
    "cuStreamCreate, 201, CudaException",
    "cuStreamCreate, 123456, CudaException",
  })
  void subclassFitsTheResult(String function, int code, String type) {
    CudaException e = CudaException.of(function, code);
    assertEquals(type, e.getClass().getSimpleName());
    assertEquals(function, e.function());
    assertEquals(code, e.result().code());
    assertSays(e, function + ": " + e.result());
  }

  @Test
  void messageHasNameCodeTextHintAndDetail() {
    CudaException e = CudaException.of("cuMemAlloc", 2, "asked for 7 bytes");
    assertEquals(
        "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): the fake has no memory; free buffers, use a smaller"
            + " batch, or look for other processes with nvidia-smi; asked for 7 bytes",
        e.getMessage());
    assertEquals("the fake has no memory", e.driverText());
    assertTrue(e.hint().startsWith("free buffers"), e.hint());
  }

  @Test
  void aNewerDriversCodeHasItsName() {
    assertEquals("cuFoo: CUDA_ERROR_FROM_THE_FUTURE", CudaException.of("cuFoo", 4242).getMessage());
  }

  @Test
  void poisonKeepsTheFirstFault() {
    CudaException fault = CudaException.of("cuStreamSynchronize", 700);
    var e = new PoisonedContextException("cuMemAlloc", fault);
    assertSame(fault, e.getCause());
    assertEquals(fault.result(), e.result());
    assertSays(e, "cuStreamSynchronize");
    assertSays(e, "restart");
  }

  @Test
  void checkThrowsOnlyForErrors() {
    assertDoesNotThrow(() -> Driver.check("cuLaunchKernel", 0));
    assertThrows(LaunchConfigException.class, () -> Driver.check("cuLaunchKernel", 701));
  }
}
