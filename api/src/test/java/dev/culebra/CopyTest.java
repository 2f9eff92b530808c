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
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.bindings.Driver;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CopyTest extends DeviceTier {

  private static byte[] random(int length) {
    byte[] bytes = new byte[length];
    new SplittableRandom(length).nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 4096, 2097151, 2097152, 2097153, 4194304, 4194305, 9000001})
  void bytesOfAnySizeComeBack(int size) {
    byte[] sent = random(size);
    try (DeviceBuffer<ElementType.U8> buffer = context.allocate(U8, size, stream)) {
      buffer.copyFrom(sent);
      byte[] back = new byte[size];
      buffer.copyTo(back);
      assertArrayEquals(sent, back);
    }
  }

  @Test
  void arraysOfEveryTypeComeBack() {
    short[] shorts = {0, 1, -1, Short.MAX_VALUE, Short.MIN_VALUE};
    try (DeviceBuffer<ElementType.I8> i8 = context.allocate(I8, 2, stream);
        DeviceBuffer<ElementType.F16> f16 = context.allocate(F16, 5, stream);
        DeviceBuffer<ElementType.BF16> bf16 = context.allocate(BF16, 5, stream);
        DeviceBuffer<ElementType.I32> i32 = context.allocate(I32, 3, stream);
        DeviceBuffer<ElementType.I64> i64 = context.allocate(I64, 2, stream);
        DeviceBuffer<ElementType.F32> f32 = context.allocate(F32, 4, stream);
        DeviceBuffer<ElementType.F64> f64 = context.allocate(F64, 3, stream)) {
      i8.copyFrom(new byte[] {-128, 127});
      byte[] bytes = new byte[2];
      i8.copyTo(bytes);
      assertArrayEquals(new byte[] {-128, 127}, bytes);
      short[] back = new short[5];
      f16.copyFrom(shorts);
      f16.copyTo(back);
      assertArrayEquals(shorts, back);
      bf16.copyFrom(shorts);
      bf16.copyTo(back);
      assertArrayEquals(shorts, back);
      int[] ints = new int[3];
      i32.copyFrom(new int[] {Integer.MIN_VALUE, 0, Integer.MAX_VALUE});
      i32.copyTo(ints);
      assertArrayEquals(new int[] {Integer.MIN_VALUE, 0, Integer.MAX_VALUE}, ints);
      long[] longs = new long[2];
      i64.copyFrom(new long[] {Long.MIN_VALUE, Long.MAX_VALUE});
      i64.copyTo(longs);
      assertArrayEquals(new long[] {Long.MIN_VALUE, Long.MAX_VALUE}, longs);
      float[] floats = new float[4];
      f32.copyFrom(new float[] {-0f, Float.NaN, Float.MIN_VALUE, Float.NEGATIVE_INFINITY});
      f32.copyTo(floats);
      assertArrayEquals(
          new float[] {-0f, Float.NaN, Float.MIN_VALUE, Float.NEGATIVE_INFINITY}, floats);
      double[] doubles = new double[3];
      f64.copyFrom(new double[] {Math.PI, -0.0, Double.MIN_VALUE});
      f64.copyTo(doubles);
      assertArrayEquals(new double[] {Math.PI, -0.0, Double.MIN_VALUE}, doubles);
    }
  }

  @Test
  void segmentsOfEveryKindComeBack(@TempDir Path folder) throws IOException {
    byte[] sent = random(10_001);
    Path file = Files.write(folder.resolve("data"), sent);
    try (Arena arena = Arena.ofConfined();
        FileChannel channel = FileChannel.open(file);
        DeviceBuffer<ElementType.U8> buffer = context.allocate(U8, sent.length, stream)) {
      MemorySegment mapped = channel.map(MapMode.READ_ONLY, 0, sent.length, arena);
      buffer.copyFrom(mapped);
      MemorySegment confined = arena.allocate(sent.length);
      buffer.copyTo(confined);
      assertArrayEquals(sent, confined.toArray(ValueLayout.JAVA_BYTE));
      buffer.zero(stream);
      buffer.copyFrom(MemorySegment.ofArray(sent).asReadOnly());
      byte[] around = new byte[sent.length + 20];
      buffer.copyTo(MemorySegment.ofArray(around).asSlice(7, sent.length));
      assertEquals(0, around[6]);
      assertEquals(0, around[7 + sent.length]);
      assertEquals(sent[0], around[7]);
      assertEquals(sent[sent.length - 1], around[6 + sent.length]);
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> buffer.copyTo(mapped)), "read-only");
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> buffer.copyFrom(mapped.asSlice(1))),
          "10000 bytes",
          "10001");
    }
  }

  @Test
  @DisplayName("48: an array may be overwritten as soon as the copy returns")
  void theArrayIsFreeAfterwards() {
    try (DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 1_500_000, stream);
        Gate gate = new Gate(stream)) {
      int[] values = new int[1_500_000];
      java.util.Arrays.setAll(values, i -> i);
      Thread opener = new Thread(gate::open);
      opener.start();
      buffer.copyFrom(values);
      java.util.Arrays.fill(values, -1);
      int[] back = new int[1_500_000];
      buffer.copyTo(back);
      for (int i = 0; i < back.length; i++) {
        assertEquals(i, back[i]);
      }
    }
  }

  @Test
  @DisplayName("a synchronous copy waits for the work that writes the memory, in any stream")
  void copiesAreOrderedBehindTheWork() throws Exception {
    try (Stream other = context.newStream();
        DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 100, stream)) {
      buffer.fill(1, stream);
      Gate gate = new Gate(other);
      buffer.fill(2, other);
      Thread opener = new Thread(gate::open);
      opener.start();
      int[] back = new int[100];
      buffer.copyTo(back);
      assertEquals(2, back[99]);
      opener.join();
    }
  }

  @Test
  @DisplayName("49, 53: pinned memory is held while a copy is in flight; asking for it waits")
  void pinnedMemoryIsHeld() throws Exception {
    int size = 1 << 20;
    try (HostBuffer pinned = context.allocateHost(size);
        DeviceBuffer<ElementType.U8> buffer = context.allocate(U8, size, stream)) {
      assertEquals(size, pinned.segment().byteSize());
      pinned.segment().fill((byte) 5);
      Gate gate = new Gate(stream);
      buffer.copyFromAsync(pinned, stream);
      assertFalse(stream.isDone(), "enqueuing returned while the stream is held");
      Thread opener =
          new Thread(
              () -> {
                try {
                  Thread.sleep(50);
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
                gate.open();
              });
      opener.start();
      MemorySegment segment = pinned.segment();
      assertTrue(stream.isDone(), "asking for the memory waited for the copy");
      segment.fill((byte) 0);
      opener.join();
      buffer.copyToAsync(pinned, stream);
      segment = pinned.segment();
      assertEquals(5, segment.get(ValueLayout.JAVA_BYTE, 0));
      assertEquals(5, segment.get(ValueLayout.JAVA_BYTE, size - 1));
    }
  }

  @Test
  void partsOfPinnedMemoryAndOfBuffers() {
    try (HostBuffer pinned = context.allocateHost(16);
        DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 4, stream)) {
      pinned.segment().copyFrom(MemorySegment.ofArray(new int[] {1, 2, 3, 4}));
      buffer.zero(stream);
      buffer.view(1, 3).copyFromAsync(pinned, 8, stream);
      int[] back = new int[4];
      buffer.copyTo(back);
      assertArrayEquals(new int[] {0, 3, 4, 0}, back);
      buffer.view(1, 2).copyToAsync(pinned, 0, stream);
      assertEquals(3, pinned.segment().get(ValueLayout.JAVA_INT, 0));
      assertEquals(2, pinned.segment().get(ValueLayout.JAVA_INT, 4));
    }
  }

  @Test
  @DisplayName("51: a segment of closed pinned memory throws, and so does the buffer")
  void closedPinnedMemory() {
    HostBuffer pinned = context.allocateHost(64);
    MemorySegment segment = pinned.segment();
    pinned.close();
    pinned.close();
    assertThrows(IllegalStateException.class, () -> segment.get(ValueLayout.JAVA_BYTE, 0));
    assertTells(assertThrows(IllegalStateException.class, pinned::segment), "has been closed");
    try (DeviceBuffer<ElementType.U8> buffer = context.allocate(U8, 64, stream)) {
      assertThrows(IllegalStateException.class, () -> buffer.copyFromAsync(pinned, stream));
    }
    assertThrows(IllegalArgumentException.class, () -> context.allocateHost(0));
  }

  @Test
  void closingPinnedMemoryWaitsForItsCopies() throws Exception {
    try (DeviceBuffer<ElementType.U8> buffer = context.allocate(U8, 1000, stream)) {
      HostBuffer pinned = context.allocateHost(1000);
      pinned.segment().fill((byte) 9);
      Gate gate = new Gate(stream);
      buffer.copyFromAsync(pinned, stream);
      Thread opener = new Thread(gate::open);
      opener.start();
      pinned.close();
      assertTrue(stream.isDone());
      opener.join();
      byte[] back = new byte[1000];
      buffer.copyTo(back);
      assertEquals(9, back[999]);
    }
  }

  @Test
  void floatsAreRoundedToSixteenBitsAndWidenedExactly() {
    float[] values = {
      0.1f, -0f, 1e-8f, 65519f, 65520f, 3.4e38f, Float.NaN, Float.NEGATIVE_INFINITY
    };
    try (DeviceBuffer<ElementType.F16> f16 = context.allocate(F16, values.length, stream);
        DeviceBuffer<ElementType.BF16> bf16 = context.allocate(BF16, values.length, stream)) {
      f16.roundFrom(values);
      float[] back = new float[values.length];
      f16.widenTo(back);
      assertArrayEquals(
          new float[] {
            0.099975586f,
            -0f,
            0f,
            65504f,
            Float.POSITIVE_INFINITY,
            Float.POSITIVE_INFINITY,
            Float.NaN,
            Float.NEGATIVE_INFINITY
          },
          back);
      bf16.roundFrom(values);
      bf16.widenTo(back);
      assertArrayEquals(
          new float[] {
            0.100097656f,
            -0f,
            Float.intBitsToFloat(0x322c0000),
            65536f,
            65536f,
            Float.POSITIVE_INFINITY,
            Float.NaN,
            Float.NEGATIVE_INFINITY
          },
          back);
    }
  }

  @Test
  void memoryThatTheThreadMayNotTouchIsRefused() throws Exception {
    try (DeviceBuffer<ElementType.U8> buffer = context.allocate(U8, 10, stream)) {
      MemorySegment closed;
      try (Arena arena = Arena.ofConfined();
          ExecutorService other = Executors.newSingleThreadExecutor()) {
        MemorySegment confined = arena.allocate(10);
        other
            .submit(
                () -> {
                  assertThrows(WrongThreadException.class, () -> buffer.copyFrom(confined));
                  assertThrows(WrongThreadException.class, () -> buffer.copyTo(confined));
                })
            .get();
        closed = confined;
      }
      assertTells(
          assertThrows(IllegalStateException.class, () -> buffer.copyFrom(closed)), "arena");
      assertThrows(IllegalStateException.class, () -> buffer.copyTo(closed));
    }
  }

  @Test
  void stagingMemoryComesBackWhenTheUsersMemoryFailsHalfWay() {
    StagingPool.Slab slab = context.staging().borrow();
    context.staging().giveBack(slab);
    HostCopy.Piece failing =
        (pinned, offset, bytes) -> {
          if (offset > 0) {
            throw new IllegalStateException("the user's arena closed");
          }
        };
    try (DeviceBuffer<ElementType.U8> buffer =
        context.allocate(U8, 2 * StagingPool.HALF_BYTES, stream)) {
      assertThrows(IllegalStateException.class, () -> HostCopy.toDevice(buffer, failing));
      assertSame(slab, taken());
      assertThrows(IllegalStateException.class, () -> HostCopy.toHost(buffer, failing));
      assertSame(slab, taken());
    }
  }

  private StagingPool.Slab taken() {
    StagingPool.Slab slab = context.staging().borrow();
    context.staging().giveBack(slab);
    return slab;
  }

  @Test
  void pinnedMemoryThatAThreadIsTouchingStaysOpen() throws Exception {
    HostBuffer pinned = context.allocateHost(16);
    Thread touching = touch(pinned.segment());
    assertThrows(IllegalStateException.class, pinned::close);
    assertFalse(pinned.isClosed());
    touching.join();
    assertEquals(16, pinned.segment().byteSize());
    pinned.close();
    assertTrue(pinned.isClosed());
  }

  @Test
  void aContextWhosePinnedMemoryIsTouchedFreesTheRestAndCanBeClosedAgain() throws Exception {
    stream.close();
    context.close();
    Context second = Context.primary(context.device());
    HostBuffer pinned = second.allocateHost(16);
    Stream open = second.newStream();
    Thread touching = touch(pinned.segment());
    assertThrows(IllegalStateException.class, second::close);
    assertTrue(open.isClosed());
    assertFalse(pinned.isClosed());
    touching.join();
    second.close();
    assertTrue(pinned.isClosed());
    assertFalse(Driver.devicePrimaryCtxGetState(second.device().handle()).active());
  }

  /** A thread inside a call into the C library that was given the memory, for a second or so. */
  private static Thread touch(MemorySegment memory) throws Exception {
    memory.set(ValueLayout.JAVA_LONG, 0, 1);
    memory.set(ValueLayout.JAVA_LONG, 8, 500_000_000);
    Linker linker = Linker.nativeLinker();
    MethodHandle nanosleep =
        linker.downcallHandle(
            linker.defaultLookup().find("nanosleep").orElseThrow(),
            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS));
    CountDownLatch started = new CountDownLatch(1);
    Thread thread =
        new Thread(
            () -> {
              started.countDown();
              try {
                assertEquals(0, (int) nanosleep.invokeExact(memory, MemorySegment.NULL));
              } catch (Throwable t) {
                throw new AssertionError(t);
              }
            });
    thread.start();
    started.await();
    Thread.sleep(300);
    return thread;
  }
}
