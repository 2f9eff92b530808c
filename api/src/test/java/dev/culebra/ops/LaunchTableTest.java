package dev.culebra.ops;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LaunchTableTest {

  @Test
  void readsTheCallsOfAnXMacroFile() {
    LaunchTable table =
        LaunchTable.parse(
            "softmax.def",
            List.of(
                "// a comment",
                "#ifndef X",
                "",
                "CULEBRA_SOFTMAX(online, f32, 256, \"why, oh why\")  // more",
                "CULEBRA_SOFTMAX( safe , bf16,128,\"\");"));
    assertEquals(List.of("online", "f32", "256", "why, oh why"), table.rows().get(0).arguments());
    assertEquals(128, table.row("CULEBRA_SOFTMAX", "safe", "bf16").number(2));
    assertThrows(
        IllegalArgumentException.class, () -> table.row("CULEBRA_SOFTMAX", "naive", "f32"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CULEBRA(",
        "CULEBRA(a b)",
        "CULEBRA(a, f(b))",
        "words",
        "CULEBRA(a,,b)",
        "CULEBRA(\"a)"
      })
  void whatItCannotReadIsToldWithItsLine(String line) {
    var error =
        assertThrows(
            IllegalArgumentException.class, () -> LaunchTable.parse("x.def", List.of("", line)));
    assertTells(error, "x.def line 2");
  }
}
