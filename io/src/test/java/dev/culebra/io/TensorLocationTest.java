package dev.culebra.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TensorLocationTest {
  @Test
  void splitsOnlyBehindTheExtension() {
    assertEquals(new TensorLocation("a.npy", null), TensorLocation.parse("a.npy"));
    assertEquals(new TensorLocation("a#b.npy", null), TensorLocation.parse("a#b.npy"));
    assertEquals(new TensorLocation("m.safetensors", null), TensorLocation.parse("m.safetensors"));
    assertEquals(
        new TensorLocation("d#1/m.SAFETENSORS", "x#y"),
        TensorLocation.parse("d#1/m.SAFETENSORS#x#y"));
    assertEquals(new TensorLocation("m.safetensors", ""), TensorLocation.parse("m.safetensors#"));
    assertTrue(TensorLocation.parse("-").isStream());
    assertEquals("m.safetensors#x", TensorLocation.parse("m.safetensors#x").toString());
  }
}
