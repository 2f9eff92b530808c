package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class KernelTargetTest {

  @ParameterizedTest
  @CsvSource({
    "sm_90a, 90, true",
    "sm_90a, 100, false",
    "sm_80, 80, true",
    "sm_80, 86, true",
    "sm_86, 80, false",
    "sm_80, 90, false",
    "sm_100, 103, true",
    "sm_100, 120, false",
    "compute_80, 120, true",
    "compute_80, 75, false",
  })
  void fitsTheDevicesThatCudaSays(String target, int sm, boolean fits) {
    KernelTarget parsed = KernelTarget.parse(target);
    assertEquals(target, parsed.toString());
    assertEquals(fits, parsed.fits(ComputeCapability.ofSm(sm)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "sm_", "sm_9", "sm_90b", "compute_90a", "sm90", "SM_90", "sm_090"})
  void anythingElseIsNoTarget(String text) {
    assertThrows(IllegalArgumentException.class, () -> KernelTarget.parse(text));
  }
}
