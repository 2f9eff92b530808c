package dev.culebra.ops;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.culebra.bindings.InvalidImageException;
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
    assertTells(
        assertThrows(
            InvalidImageException.class, () -> table.row("CULEBRA_SOFTMAX", "naive", "f32")),
        "softmax.def has no row CULEBRA_SOFTMAX[naive, f32]");
  }

  @ParameterizedTest
  @ValueSource(strings = {"many", "0", "-1", "99999999999", "1.5"})
  void aNumberIsPositive(String word) {
    LaunchTable table = LaunchTable.parse("x.def", List.of("ROW(a, " + word + ")"));
    assertTells(
        assertThrows(InvalidImageException.class, () -> table.row("ROW", "a").number(1)),
        "x.def line 1: argument 1 is '" + word + "'");
    assertThrows(InvalidImageException.class, () -> table.row("ROW", "a").number(2));
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
            InvalidImageException.class, () -> LaunchTable.parse("x.def", List.of("", line)));
    assertTells(error, "x.def line 2");
  }
}
