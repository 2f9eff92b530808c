package dev.culebra;

import dev.culebra.bindings.Driver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/** The events of a context that nobody uses now, and all of them for the day the context closes. */
final class EventPool {

  private final Context context;
  private final ArrayDeque<NativeEvent> plain = new ArrayDeque<>();
  private final ArrayDeque<NativeEvent> timed = new ArrayDeque<>();
  private final List<NativeEvent> all = new ArrayList<>();

  EventPool(Context context) {
    this.context = context;
  }

  NativeEvent borrow(boolean withTiming) {
    synchronized (all) {
      NativeEvent idle = (withTiming ? timed : plain).pollLast();
      if (idle != null) {
        return idle;
      }
    }
    NativeEvent made = context.withCurrent(() -> NativeEvent.create(withTiming));
    synchronized (all) {
      all.add(made);
    }
    return made;
  }

  void giveBack(NativeEvent event) {
    synchronized (all) {
      (event.timed() ? timed : plain).addLast(event);
    }
  }

  /** For a context that closes: none is used any more. */
  void destroyAll() {
    List<NativeEvent> last;
    synchronized (all) {
      last = List.copyOf(all);
      all.clear();
      plain.clear();
      timed.clear();
    }
    context.withCurrent(() -> last.forEach(event -> Driver.eventDestroy(event.handle())));
  }
}
