package dev.culebra;

import static dev.culebra.ElementType.F32;
import static dev.culebra.KernelParameter.f32;
import static dev.culebra.KernelParameter.i32;
import static dev.culebra.KernelParameter.i64;
import static dev.culebra.KernelParameter.in;
import static dev.culebra.KernelParameter.out;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class KernelSignatureTest {

  @Test
  void offsetsFollowTheRulesOfC() {
    KernelSignature signature =
        KernelSignature.of(i32("a"), out("y", F32), f32("b"), i32("c"), i64("n"), i32("d"));
    assertEquals(0, signature.offset(0));
    assertEquals(8, signature.offset(1));
    assertEquals(16, signature.offset(2));
    assertEquals(20, signature.offset(3));
    assertEquals(24, signature.offset(4));
    assertEquals(32, signature.offset(5));
    assertEquals(36, signature.byteSize(), "no padding at the end: the driver wants none");
  }

  @Test
  void readsLikeADeclaration() {
    assertEquals(
        "(f32* y, const f32* x, f32 a, i64 n)",
        KernelSignature.of(out("y", F32), in("x", F32), f32("a"), i64("n")).toString());
  }

  @Test
  void twoParametersOfOneNameAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> KernelSignature.of(f32("a"), i32("a")));
  }

  @Test
  void aPointerAcceptsItsTypeOnlyUnlessItIsVoid() {
    var floats = new ParameterType.Pointer("f32", true);
    assertTrue(floats.accepts(F32));
    assertFalse(floats.accepts(ElementType.I32), "same size, other type");
    assertTrue(new ParameterType.Pointer("void", true).accepts(ElementType.I32));
  }
}
