package dev.culebra;

import static dev.culebra.ElementType.*;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class ElementTypeTest {

  @Test
  void theConstantHasTheTypeOfItsName() {
    F32 type = F32;
    assertEquals("F32", type.toString());
    assertSame(type, ElementType.of("f32"));
    assertThrows(IllegalArgumentException.class, () -> ElementType.of("f31"));
  }

  @Test
  void sizesAreThoseOfTheDevice() {
    assertEquals(
        List.of(2, 2, 4, 8, 1, 4, 8, 1),
        ElementType.all().stream().map(ElementType::byteSize).toList());
    for (ElementType<?> type : ElementType.all()) {
      assertEquals(1, type.layout().byteAlignment(), "files put elements anywhere");
    }
  }
}
