package dev.culebra.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodType;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** No test of this module installs a resolver. */
class SymbolResolverTest {
  @Test
  @DisplayName("without a resolver every call says so, and no class breaks")
  void noResolver() {
    for (int call = 1; call <= 2; call++) {
      var e = assertThrows(IllegalStateException.class, () -> cuda_h.cuInit(0));
      assertTrue(e.getMessage().startsWith("cuInit was called before"), e.getMessage());
    }
    assertEquals(MemorySegment.NULL, cuda_h.cuInit$address());
    assertEquals(1, cuda_h.cuInit$descriptor().argumentLayouts().size());
  }

  @Test
  void failingHandleHasItsTypeAndThrowsTheReason() throws Throwable {
    MethodType type = MethodType.methodType(int.class, long.class, MemorySegment.class);
    var reason = new UnsupportedOperationException("not here");
    var handle = SymbolResolver.failing(type, () -> reason);
    assertEquals(type, handle.type());
    var thrown =
        assertThrows(
            UnsupportedOperationException.class,
            () -> {
              int _ = (int) handle.invokeExact(1L, MemorySegment.NULL);
            });
    assertSame(reason, thrown);
  }
}
