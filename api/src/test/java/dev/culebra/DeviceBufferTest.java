package dev.culebra;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.I64;
import static dev.culebra.ElementType.I8;
import static dev.culebra.ElementType.U8;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.bindings.OutOfDeviceMemoryException;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class DeviceBufferTest extends DeviceTier {

  @Test
  @DisplayName("35: an empty buffer has address 0 and everything on it is a no-op")
  void emptyBuffers() {
    try (DeviceBuffer<ElementType.F32> empty = context.allocate(F32, 0, stream);
        DeviceBuffer<ElementType.F32> other = context.allocate(F32, 0, stream)) {
      assertEquals(0, empty.address());
      assertEquals(0, empty.byteSize());
      empty.copyFrom(new float[0]);
      empty.copyTo(new float[0]);
      empty.zero(stream);
      empty.fill(1.0, stream);
      empty.copyFromAsync(other, stream);
      assertEquals(0, empty.view(0, 0).length());
      assertEquals(0, empty.as(F64).length());
    }
  }

  @Test
  @DisplayName("36: negative lengths and sizes over 2^63 bytes are refused")
  void lengthsThatCannotBe() {
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> context.allocate(F32, -1, stream)),
        "-1");
    assertTells(
        assertThrows(
            IllegalArgumentException.class, () -> context.allocate(F64, Long.MAX_VALUE, stream)),
        "2^63");
  }

  @Test
  @DisplayName(
      "37, 121: out of memory tells what was asked and what there is, and is over afterwards")
  void outOfMemory() {
    OutOfDeviceMemoryException error =
        assertThrows(
            OutOfDeviceMemoryException.class, () -> context.allocate(U8, 1L << 60, stream));
    assertTells(error, String.valueOf(1L << 60), "are free", "the pool holds");
    assertFalse(context.isPoisoned());
    context.allocate(U8, 64, stream).close();
  }

  @Test
  @DisplayName("40: each way to be out of bounds has its own message")
  void viewBounds() {
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 10, stream)) {
      assertTells(
          assertThrows(IndexOutOfBoundsException.class, () -> buffer.view(-1, 5)), "begins at -1");
      assertTells(
          assertThrows(IndexOutOfBoundsException.class, () -> buffer.view(0, 11)),
          "ends at 11",
          "10");
      assertTells(
          assertThrows(IndexOutOfBoundsException.class, () -> buffer.view(6, 5)), "after its end");
      DeviceView<ElementType.F32> middle = buffer.view(2, 8);
      assertEquals(buffer.address() + 8, middle.address());
      assertThrows(IndexOutOfBoundsException.class, () -> middle.view(0, 7));
      assertEquals(buffer.address() + 16, middle.view(2, 3).address());
    }
  }

  @Test
  @DisplayName("41: bytes become another type only where they are aligned and whole")
  void reinterpretation() {
    try (DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, 16, stream)) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> bytes.view(2, 6).as(F32)),
          "not aligned");
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> bytes.view(0, 6).as(F32)),
          "not a whole number");
      DeviceView<ElementType.F32> floats = bytes.view(4, 12).as(F32);
      assertEquals(2, floats.length());
      assertEquals(bytes.address() + 4, floats.address());
    }
  }

  @Test
  @DisplayName("25: a view of a closed buffer throws")
  void viewsEndWithTheirBuffer() {
    DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 10, stream);
    DeviceView<ElementType.F32> view = buffer.view(0, 5);
    buffer.close();
    buffer.close();
    assertTrue(buffer.isClosed());
    assertTells(
        assertThrows(IllegalStateException.class, () -> view.copyTo(new float[5])),
        "DeviceBuffer<F32> of 10",
        "has been closed");
    assertThrows(IllegalStateException.class, view::address);
    assertThrows(IllegalStateException.class, () -> view.view(0, 1));
    assertThrows(IllegalStateException.class, () -> view.zero(stream));
  }

  @Test
  @DisplayName("43: different lengths are refused in every direction, nothing is cut")
  void lengthsHaveToMatch() {
    try (DeviceBuffer<ElementType.F32> ten = context.allocate(F32, 10, stream);
        DeviceBuffer<ElementType.F32> nine = context.allocate(F32, 9, stream);
        HostBuffer pinned = context.allocateHost(36)) {
      for (int length : new int[] {0, 9, 11}) {
        assertTells(
            assertThrows(IllegalArgumentException.class, () -> ten.copyFrom(new float[length])),
            "array has " + length + " elements",
            "10");
        assertThrows(IllegalArgumentException.class, () -> ten.copyTo(new float[length]));
      }
      assertThrows(IllegalArgumentException.class, () -> ten.copyFromAsync(nine, stream));
      assertThrows(IllegalArgumentException.class, () -> nine.copyFromAsync(ten, stream));
      assertThrows(IllegalArgumentException.class, () -> ten.copyFromAsync(pinned, stream));
      assertThrows(IllegalArgumentException.class, () -> ten.copyToAsync(pinned, stream));
      assertThrows(IndexOutOfBoundsException.class, () -> nine.copyFromAsync(pinned, 4, stream));
      assertThrows(IndexOutOfBoundsException.class, () -> nine.copyToAsync(pinned, -4, stream));
    }
  }

  @Test
  @DisplayName("44, 45: overlap is refused, copying to itself does nothing")
  void overlap() {
    try (DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 10, stream)) {
      buffer.copyFrom(new int[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
      assertTells(
          assertThrows(
              IllegalArgumentException.class,
              () -> buffer.view(0, 6).copyFromAsync(buffer.view(4, 10), stream)),
          "overlap");
      buffer.copyFromAsync(buffer, stream);
      buffer.view(0, 5).copyFromAsync(buffer.view(5, 10), stream);
      int[] back = new int[10];
      buffer.copyTo(back);
      assertArrayEquals(new int[] {5, 6, 7, 8, 9, 5, 6, 7, 8, 9}, back);
    }
  }

  @Test
  @DisplayName("64: an array of another type is refused")
  void typesHaveToMatch() {
    try (DeviceBuffer<ElementType.F32> floats = context.allocate(F32, 4, stream);
        DeviceBuffer<ElementType.I32> ints = context.allocate(I32, 4, stream)) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> floats.copyFrom(new double[4])),
          "double[]",
          "F64",
          "F32");
      assertThrows(IllegalArgumentException.class, () -> floats.copyFrom(new int[4]));
      assertThrows(IllegalArgumentException.class, () -> ints.copyTo(new float[4]));
      assertThrows(IllegalArgumentException.class, () -> floats.copyFrom(new short[4]));
      assertThrows(IllegalArgumentException.class, () -> floats.roundFrom(new float[4]));
    }
  }

  @Test
  void buffersOfOtherContextsAreRefused() {
    try (Context other = Context.primary(context.device());
        Stream its = other.newStream();
        DeviceBuffer<ElementType.F32> foreign = other.allocate(F32, 4, its);
        DeviceBuffer<ElementType.F32> own = context.allocate(F32, 4, stream)) {
      assertThrows(IllegalArgumentException.class, () -> own.copyFromAsync(foreign, stream));
      assertThrows(IllegalArgumentException.class, () -> own.zero(its));
      assertThrows(IllegalArgumentException.class, () -> context.allocate(F32, 1, its));
    }
  }

  @Test
  @DisplayName("47: fills set every element of every type, and nothing beside")
  void fills() {
    try (DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, 64, stream)) {
      for (int length : new int[] {1, 2, 3, 5}) {
        for (int from : new int[] {0, 8}) {
          check(bytes, I8, length, from, range -> range.fill(-3, stream), -3);
          check(bytes, U8, length, from, range -> range.fill(253, stream), -3);
          check(bytes, F16, length, from, range -> range.fill(1.5, stream), 0x3e00);
          check(bytes, BF16, length, from, range -> range.fill(-2, stream), 0xffff_ffff_ffff_c000L);
          check(
              bytes,
              F32,
              length,
              from,
              range -> range.fill(0.1, stream),
              Float.floatToRawIntBits(0.1f));
          check(bytes, I32, length, from, range -> range.fill(-70000, stream), -70000);
          check(
              bytes,
              F64,
              length,
              from,
              range -> range.fill(0.1, stream),
              Double.doubleToRawLongBits(0.1));
          check(
              bytes,
              I64,
              length,
              from,
              range -> range.fill(Long.MIN_VALUE + 1, stream),
              Long.MIN_VALUE + 1);
          check(bytes, I64, length, from, range -> range.fill(-1, stream), -1);
          check(bytes, F64, length, from, range -> range.zero(stream), 0);
        }
      }
    }
  }

  private <E extends ElementType<E>> void check(
      DeviceBuffer<ElementType.U8> bytes,
      ElementType<E> type,
      int length,
      int from,
      java.util.function.Consumer<DeviceRange<E>> fill,
      long bits) {
    byte[] expected = new byte[64];
    Arrays.fill(expected, (byte) 0x5a);
    int size = type.byteSize();
    for (int i = 0; i < length * size; i++) {
      expected[from + i] = (byte) (bits >>> (8 * (i % size)));
    }
    bytes.fill(0x5a, stream);
    fill.accept(bytes.view(from, from + (long) length * size).as(type));
    byte[] back = new byte[64];
    bytes.copyTo(back);
    assertArrayEquals(expected, back, () -> type + " " + length + " from " + from);
  }

  @Test
  @DisplayName(
      "an integer that a floating type would round is refused, its exact neighbours are not")
  void integersThatWouldBeRoundedAreRefused() {
    try (DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, 8, stream)) {
      refusesOnly(bytes.as(F16), 2049, 2048, 2050, 65504, -2048);
      refusesOnly(bytes.as(F16), 100_000, 0);
      refusesOnly(bytes.as(F16), Long.MIN_VALUE, 0);
      refusesOnly(bytes.as(BF16), 257, 256, 258);
      refusesOnly(bytes.as(F32), 16_777_217, 16_777_216, 16_777_218, Long.MIN_VALUE);
      refusesOnly(bytes.as(F32), Long.MAX_VALUE, 1L << 62);
      refusesOnly(bytes.as(F64), (1L << 53) + 1, 1L << 53, (1L << 53) + 2, Long.MIN_VALUE);
      refusesOnly(bytes.as(F64), Long.MAX_VALUE, 1L << 62);
    }
  }

  private void refusesOnly(DeviceRange<?> range, long inexact, long... exact) {
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> range.fill(inexact, stream)),
        Long.toString(inexact),
        range.type().toString(),
        "pass a double");
    for (long value : exact) {
      range.fill(value, stream);
    }
  }

  @Test
  void valuesThatDoNotFitAreRefused() {
    try (DeviceBuffer<ElementType.U8> bytes = context.allocate(U8, 8, stream)) {
      DeviceView<ElementType.I8> signed = bytes.as(I8);
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> signed.fill(128, stream)),
          "128 does not fit I8",
          "-128 to 127");
      assertThrows(IllegalArgumentException.class, () -> bytes.fill(-1, stream));
      assertThrows(IllegalArgumentException.class, () -> bytes.fill(256, stream));
      assertThrows(IllegalArgumentException.class, () -> bytes.as(I32).fill(1L << 31, stream));
      assertThrows(IllegalArgumentException.class, () -> bytes.fill(1.5, stream));
      assertThrows(
          IllegalArgumentException.class, () -> bytes.as(F64).fill((1L << 53) + 1, stream));
    }
  }

  @Test
  @DisplayName("28: what is closed is given back, ten thousand times")
  void nothingGrows() {
    context.allocate(F32, 100_000, stream).close();
    context.synchronize();
    context.trimMemory();
    long before = context.memoryInfo().freeBytes();
    for (int i = 0; i < 10_000; i++) {
      try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 100_000, stream)) {
        assertTrue(buffer.address() != 0);
      }
    }
    context.synchronize();
    context.trimMemory();
    long after = context.memoryInfo().freeBytes();
    assertTrue(after >= before - (64L << 20), () -> before + " bytes were free, now " + after);
    assertEquals(1, context.openCount(), "only the stream");
  }

  @Test
  @DisplayName("12: a buffer can be closed by another thread, once")
  void closedByAnotherThread() throws Exception {
    DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 1000, stream);
    Thread closer = new Thread(buffer::close);
    closer.start();
    closer.join();
    assertTrue(buffer.isClosed());
    buffer.close();
  }

  @Test
  void tensorViewsCheckTheirMemory() {
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 24, stream)) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> TensorView.of(buffer, 5, 5)),
          "25 elements",
          "24");
      TensorView<ElementType.F32> tensor = TensorView.of(buffer, 2, 3, 4);
      TensorView<ElementType.F32> part = tensor.slice(1, 1, 3);
      assertArrayEquals(new long[] {2, 2, 4}, part.shape());
      assertArrayEquals(new long[] {12, 4, 1}, part.strides());
      assertEquals(buffer.address() + 16, part.range().address());
      assertFalse(part.isContiguous());
      assertThrows(IllegalArgumentException.class, () -> part.reshape(16));
      assertArrayEquals(new long[] {4, 6}, tensor.reshape(4, 6).shape());
      assertThrows(IllegalArgumentException.class, () -> tensor.reshape(5));
      assertTrue(tensor.overlaps(part));
      assertFalse(tensor.slice(0, 0, 1).overlaps(tensor.slice(0, 1, 2)));
      assertEquals(0, tensor.slice(2, 4, 4).elementCount());
      assertThrows(IndexOutOfBoundsException.class, () -> tensor.slice(3, 0, 1));
      assertThrows(IndexOutOfBoundsException.class, () -> tensor.slice(0, 1, 3));
    }
  }

  @Test
  @DisplayName("31: closing an arena closes its buffers, also those that were closed before")
  void buffersLiveAsLongAsTheirArena() {
    int before = context.openCount();
    DeviceBuffer<ElementType.F32> first;
    DeviceBuffer<ElementType.F32> second;
    try (Arena arena = Arena.ofConfined()) {
      first = context.allocate(arena, F32, 5, stream);
      second = context.allocate(arena, F32, 7, stream);
      first.copyFrom(new float[] {1, 2, 3, 4, 5});
      second.close();
      assertFalse(first.isClosed());
      assertTrue(second.isClosed());
    }
    assertTrue(first.isClosed());
    assertEquals(before, context.openCount());
    assertThrows(IllegalStateException.class, () -> first.copyTo(new float[5]));
  }

  @Test
  @DisplayName("31: a buffer of an arena that is closed or another thread's is not left behind")
  @SuppressWarnings("MustBeClosedChecker") // one is closed before its use, which is the point
  void arenasThatCannotOwn() throws Exception {
    int before = context.openCount();
    Arena closed = Arena.ofConfined();
    closed.close();
    assertThrows(IllegalStateException.class, () -> context.allocate(closed, F32, 5, stream));
    try (Arena confined = Arena.ofConfined();
        ExecutorService other = Executors.newSingleThreadExecutor()) {
      Future<?> allocation = other.submit(() -> context.allocate(confined, F32, 5, stream));
      assertInstanceOf(
          WrongThreadException.class,
          assertThrows(ExecutionException.class, allocation::get).getCause());
    }
    assertEquals(before, context.openCount());
  }
}
