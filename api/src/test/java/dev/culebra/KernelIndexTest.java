package dev.culebra;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KernelIndexTest {

  private static final List<String> GOOD =
      lines(
          "culebra-kernels|1",
          "# a comment",
          "",
          "image|softmax|sm_80|sm_80/softmax.cubin|10|AA",
          "image|softmax|sm_90a|sm_90a/softmax.cubin|11|bb",
          "image|softmax|sm_90|sm_90/softmax.cubin|12|cc",
          "image|softmax|compute_80|compute_80/softmax.ptx|13|dd",
          "image|reduce|sm_86|sm_86/reduce.cubin|14|ee",
          "kernel|culebra_softmax|softmax|256",
          "param|culebra_softmax|0|params|P|0|24|8",
          "param|culebra_softmax|1|n|i32|24|4|4",
          "field|P|out|void*|0|8",
          "field|P|in|const f32*|8|8",
          "field|P|scale|f64|16|8");

  private static List<String> lines(String... lines) {
    return Arrays.stream(lines).map(line -> line.replace('|', '\t')).toList();
  }

  private static List<String> goodBut(String line, String replacement) {
    List<String> lines = new ArrayList<>(GOOD);
    assertTrue(lines.remove(line.replace('|', '\t')), line);
    lines.add(replacement.replace('|', '\t'));
    return lines;
  }

  @Test
  void parametersAndFieldsBecomeASignature() {
    KernelIndex.Entry entry =
        Objects.requireNonNull(KernelIndex.parse(GOOD).kernels().get("culebra_softmax"));
    assertEquals(256, entry.maxThreads());
    assertEquals("softmax", entry.family());
    assertEquals("(P params, i32 n)", entry.signature().toString());
    assertEquals(28, entry.signature().byteSize());
    var struct =
        assertInstanceOf(ParameterType.Struct.class, entry.signature().parameters().get(0).type());
    assertEquals(new ParameterType.Pointer("f32", true), struct.fields().get(1).type());
    assertEquals(
        List.of("params.out", "params.in", "params.scale", "n"),
        entry.signature().slots().stream().map(KernelSignature.Slot::name).toList());
    assertEquals(
        List.of(0L, 8L, 16L, 24L),
        entry.signature().slots().stream().map(KernelSignature.Slot::offset).toList());
  }

  @Test
  void hashesAreComparedInLowerCase() {
    assertEquals("aa", KernelIndex.parse(GOOD).images().get(0).sha256());
  }

  @ParameterizedTest
  @CsvSource({
    "80, sm_80",
    "86, sm_80",
    "90, sm_90a",
    "100, compute_80",
    "120, compute_80",
  })
  void theBestImageIsChosen(int sm, String target) {
    assertEquals(
        Optional.of(target),
        KernelIndex.parse(GOOD)
            .choose("softmax", ComputeCapability.ofSm(sm))
            .map(image -> image.target().toString()));
  }

  @ParameterizedTest
  @CsvSource({"softmax, 75", "reduce, 80", "reduce, 90", "attention, 90"})
  void noImageIsChosenWhereNoneFits(String family, int sm) {
    assertEquals(
        Optional.empty(), KernelIndex.parse(GOOD).choose(family, ComputeCapability.ofSm(sm)));
  }

  @ParameterizedTest
  @CsvSource({
    "culebra-kernels|1, culebra-kernels|2, version 2",
    "culebra-kernels|1, # gone, there is no line",
    "kernel|culebra_softmax|softmax|256, kernel|other|softmax|256, no such kernel",
    "kernel|culebra_softmax|softmax|256, kernel|culebra_softmax|softmax, has 4 fields",
    "kernel|culebra_softmax|softmax|256, kernel|culebra_softmax|softmax|many, is not a number",
    "param|culebra_softmax|1|n|i32|24|4|4, param|culebra_softmax|1|n|i32|28|4|4, offset 28",
    "param|culebra_softmax|1|n|i32|24|4|4, param|culebra_softmax|2|n|i32|24|4|4, none with ordinal 1",
    "param|culebra_softmax|1|n|i32|24|4|4, param|culebra_softmax|0|n|i32|24|4|4, listed twice",
    "param|culebra_softmax|1|n|i32|24|4|4, param|culebra_softmax|1|n|i32|24|8|8, 8 bytes instead of 4",
    "param|culebra_softmax|1|n|i32|24|4|4, param|culebra_softmax|1|n|int|24|4|4, type 'int'",
    "field|P|scale|f64|16|8, field|P|scale|f64|20|8, lies outside of P",
    "field|P|scale|f64|16|8, field|P|out|f64|16|8, listed twice",
    "image|reduce|sm_86|sm_86/reduce.cubin|14|ee, image|reduce|sm_9x|x|14|ee, not a kernel target",
    "image|reduce|sm_86|sm_86/reduce.cubin|14|ee, image|reduce|sm_86|x|-1|ee, is negative",
    "'', surplus|1, not a kind of line",
  })
  void mistakesAreNamed(String line, String replacement, String message) {
    var error =
        assertThrows(
            IllegalArgumentException.class, () -> KernelIndex.parse(goodBut(line, replacement)));
    assertTells(error, message);
  }
}
