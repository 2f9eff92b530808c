package dev.culebra;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class StreamTest extends DeviceTier {

  @Test
  @DisplayName("97: a stream goes on beside a held one, and waits once it is told to")
  void streamsRunSideBySideUnlessOrdered() {
    try (Stream other = context.newStream();
        Event passed = context.newEvent();
        Gate gate = new Gate(stream)) {
      stream.record(passed);
      assertFalse(stream.isDone());
      assertFalse(passed.isDone());
      other.synchronize();
      assertTrue(other.isDone(), "no order was asked for");
      other.waitFor(passed);
      assertFalse(other.isDone());
      gate.open();
      other.synchronize();
      assertTrue(passed.isDone());
      assertTrue(other.isDone());
    }
  }

  @Test
  @DisplayName("97: a buffer used on another stream brings its order along")
  void aBufferOrdersTheStreamsThatUseIt() {
    try (Stream other = context.newStream();
        DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 1000, stream);
        Gate gate = new Gate(stream)) {
      buffer.fill(1, stream);
      buffer.fill(2, other);
      assertFalse(other.isDone(), "it writes what the held stream writes first");
      gate.open();
      int[] back = new int[1000];
      buffer.copyTo(back);
      assertEquals(2, back[0]);
      assertEquals(2, back[999]);
    }
  }

  @Test
  @DisplayName("readers do not wait for each other, a writer waits for all of them")
  void readersRunSideBySide() {
    try (Stream a = context.newStream();
        Stream b = context.newStream();
        DeviceBuffer<ElementType.I32> source = context.allocate(I32, 10, stream);
        DeviceBuffer<ElementType.I32> ofA = context.allocate(I32, 10, a);
        DeviceBuffer<ElementType.I32> ofB = context.allocate(I32, 10, b)) {
      source.fill(7, stream);
      stream.synchronize();
      try (Gate gate = new Gate(a)) {
        ofA.copyFromAsync(source, a);
        ofB.copyFromAsync(source, b);
        b.synchronize();
        assertFalse(a.isDone(), "the held reader did not hold the other");
        source.fill(8, stream);
        assertFalse(stream.isDone(), "the writer waits for the held reader");
        gate.open();
      }
      int[] back = new int[10];
      ofA.copyTo(back);
      assertEquals(7, back[9], "the reader read before the writer wrote");
      source.copyTo(back);
      assertEquals(8, back[9]);
    }
  }

  @Test
  @DisplayName("98: each reason why a time cannot be told is told")
  void elapsed() {
    try (TimedEvent start = context.newTimedEvent();
        TimedEvent end = context.newTimedEvent()) {
      assertTells(
          assertThrows(IllegalStateException.class, () -> end.elapsedSince(start)),
          "never recorded");
      stream.record(start);
      assertTells(
          assertThrows(IllegalStateException.class, () -> end.elapsedSince(start)),
          "never recorded");
      try (Gate gate = new Gate(stream)) {
        stream.record(end);
        assertTells(
            assertThrows(IllegalStateException.class, () -> end.elapsedSince(start)),
            "has not been passed");
        gate.open();
      }
      end.synchronize();
      Duration time = end.elapsedSince(start);
      assertFalse(time.isNegative());
      assertTrue(time.compareTo(Duration.ofMinutes(1)) < 0);
      try (Context other = Context.primary(context.device());
          TimedEvent foreign = other.newTimedEvent();
          Stream its = other.newStream()) {
        its.record(foreign);
        foreign.synchronize();
        assertTells(
            assertThrows(IllegalArgumentException.class, () -> end.elapsedSince(foreign)),
            "two contexts");
      }
    }
  }

  @Test
  @DisplayName("99: recording an event of another context is refused, waiting for it works")
  void eventsOfOtherContexts() {
    try (Context other = Context.primary(context.device());
        Stream its = other.newStream();
        Event foreign = other.newEvent()) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> stream.record(foreign)), "belongs to");
      its.record(foreign);
      stream.waitFor(foreign);
      stream.synchronize();
      assertTrue(foreign.isDone());
    }
  }

  @Test
  void anEventNeverRecordedCannotBeAskedOrWaitedForByTheHost() {
    try (Event event = context.newEvent()) {
      assertFalse(event.isRecorded());
      assertThrows(IllegalStateException.class, event::isDone);
      assertThrows(IllegalStateException.class, event::synchronize);
      stream.waitFor(event);
      stream.synchronize();
    }
  }

  @Test
  @DisplayName("18, 19, 20: a closed stream or event throws before the driver is called")
  void closedStreamsAndEventsRefuse() {
    Stream closed = context.newStream();
    Event event = context.newEvent();
    closed.record(event);
    closed.close();
    closed.close();
    assertTells(
        assertThrows(IllegalStateException.class, closed::synchronize),
        "stream",
        "has been closed");
    assertThrows(IllegalStateException.class, closed::isDone);
    assertThrows(IllegalStateException.class, closed::handle);
    assertThrows(IllegalStateException.class, () -> closed.record(event));
    assertThrows(IllegalStateException.class, () -> closed.waitFor(event));
    assertThrows(IllegalStateException.class, () -> context.allocate(F32, 1, closed));
    event.close();
    event.close();
    assertTells(
        assertThrows(IllegalStateException.class, event::synchronize), "event", "has been closed");
    assertThrows(IllegalStateException.class, event::isDone);
    assertThrows(IllegalStateException.class, event::handle);
    assertThrows(IllegalStateException.class, () -> stream.record(event));
    assertThrows(IllegalStateException.class, () -> stream.waitFor(event));
  }

  @Test
  void closingAStreamWaitsForItsWorkAndReusesTheNative() {
    Stream first = context.newStream();
    long handle = first.handle();
    try (DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 100, first)) {
      Gate gate = new Gate(first);
      buffer.fill(3, first);
      Thread opener = new Thread(gate::open);
      opener.start();
      first.close();
      int[] back = new int[100];
      buffer.copyTo(back);
      assertEquals(3, back[50]);
      try (Stream second = context.newStream()) {
        assertEquals(handle, second.handle(), "a drained native is used again");
        assertThrows(IllegalStateException.class, first::synchronize);
      }
    }
  }

  @Test
  @DisplayName("23: a buffer whose last stream was closed is freed all the same")
  void aBufferOutlivesItsStream() {
    Stream last = context.newStream();
    DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 100, last);
    buffer.fill(1.5, last);
    last.close();
    float[] back = new float[100];
    buffer.copyTo(back);
    assertEquals(1.5f, back[99]);
    buffer.close();
  }

  @Test
  @DisplayName(
      "21: closing a buffer returns while the stream is held, and its readers still find the data")
  void closingABufferDoesNotWait() {
    try (DeviceBuffer<ElementType.I32> target = context.allocate(I32, 50, stream)) {
      DeviceBuffer<ElementType.I32> source = context.allocate(I32, 50, stream);
      source.fill(9, stream);
      try (Gate gate = new Gate(stream)) {
        target.copyFromAsync(source, stream);
        source.close();
        assertFalse(stream.isDone(), "close returned while the copy is held");
        gate.open();
      }
      int[] back = new int[50];
      target.copyTo(back);
      int[] expected = new int[50];
      java.util.Arrays.fill(expected, 9);
      assertArrayEquals(expected, back);
    }
  }
}
