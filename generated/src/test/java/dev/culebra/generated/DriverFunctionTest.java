package dev.culebra.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DriverFunctionTest {
  @ParameterizedTest
  @DisplayName("versions known from the driver's history")
  @CsvSource({
    "cuInit, cuInit, 2000",
    "cuMemAlloc_v2, cuMemAlloc, 3020",
    "cuCtxDestroy_v2, cuCtxDestroy, 4000",
    "cuLaunchKernel, cuLaunchKernel, 4000",
    "cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease, 11000",
    "cuMemAllocAsync, cuMemAllocAsync, 11020",
    "cuGetProcAddress_v2, cuGetProcAddress, 12000",
    "cuLibraryLoadData, cuLibraryLoadData, 12000",
    "cuFuncGetParamInfo, cuFuncGetParamInfo, 12040",
    "cuCtxCreate_v4, cuCtxCreate, 12050",
    "cuCtxGetDevice, cuCtxGetDevice, 2000",
    "cuCtxGetDevice_v2, cuCtxGetDevice, 13000",
  })
  void anchors(String symbol, String baseName, int version) {
    assertEquals(new DriverFunction(symbol, baseName, version), DriverFunction.of(symbol));
  }

  @Test
  void unknownSymbol() {
    var e = assertThrows(IllegalArgumentException.class, () -> DriverFunction.of("cuNoSuchThing"));
    assertTrue(e.getMessage().contains("cuNoSuchThing"), e.getMessage());
  }

  @Test
  @DisplayName("each version in the table has the prototype of its symbol, by NVIDIA's headers")
  void prototypes(@TempDir Path folder) throws IOException, InterruptedException {
    Path include = Toolkit.includeOrSkip();
    Files.writeString(
        folder.resolve("rows.inc"),
        DriverFunction.all().stream()
            .map(f -> "ROW(%s, PFN_%s_v%d)\n".formatted(f.symbol(), f.baseName(), f.abiVersion()))
            .sorted()
            .collect(Collectors.joining()));
    Toolkit.run(
        "g++",
        "-std=c++17",
        "-fsyntax-only",
        "-I" + folder,
        "-isystem" + include,
        "src/test/c/abi-check.cpp");
  }
}
