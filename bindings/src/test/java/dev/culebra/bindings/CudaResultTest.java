package dev.culebra.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.generated.cuda_h;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class CudaResultTest {
  private static final Map<Integer, String> HEADER = header();

  /** CUresult as the header has it. */
  private static Map<Integer, String> header() {
    try {
      return readHeader();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("cuda_h", e);
    }
  }

  private static Map<Integer, String> readHeader() throws ReflectiveOperationException {
    Map<Integer, String> codes = new TreeMap<>();
    for (Method method : cuda_h.class.getMethods()) {
      String name = method.getName();
      if (name.equals("CUDA_SUCCESS") || name.startsWith("CUDA_ERROR_")) {
        codes.put((int) method.invoke(null), name);
      }
    }
    return codes;
  }

  @Test
  @DisplayName("every CUresult of the header round-trips, and no other is known")
  void everyCode() {
    assertTrue(HEADER.size() > 90, () -> "the header has only " + HEADER);
    HEADER.forEach(
        (code, name) -> {
          CudaResult result = CudaResult.of(code);
          assertEquals(code, result.code());
          assertEquals(name, result.name());
          assertEquals(name + " (" + code + ")", result.toString());
          assertTrue(result.isKnown());
          assertSame(result, CudaResult.of(code));
        });
    assertEquals(
        HEADER.keySet(),
        CudaResult.known().stream().map(CudaResult::code).collect(Collectors.toSet()));
  }

  @Test
  void constantsAreNamedAsInTheHeader() throws IllegalAccessException {
    for (Field field : CudaResult.class.getFields()) {
      assertTrue(Modifier.isStatic(field.getModifiers()));
      var result = (CudaResult) field.get(null);
      assertEquals(field.getName(), result.name().replace("CUDA_ERROR_", "").replace("CUDA_", ""));
    }
  }

  @Property
  void unknownCodesAreKept(@ForAll int code) {
    if (HEADER.containsKey(code)) return;
    CudaResult result = CudaResult.of(code);
    assertEquals(code, result.code());
    assertEquals("CUresult " + code, result.name());
    assertEquals(result, CudaResult.of(code));
    assertEquals(result.hashCode(), CudaResult.of(code).hashCode());
    assertNotEquals(result, CudaResult.UNKNOWN);
    assertFalse(result.isKnown());
    assertFalse(result.isSticky());
  }

  @Test
  void stickyCodes() {
    assertEquals(
        Set.of(214, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 911),
        CudaResult.known().stream()
            .filter(CudaResult::isSticky)
            .map(CudaResult::code)
            .collect(Collectors.toSet()));
  }
}
