package dev.culebra;

import dev.culebra.bindings.Driver;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The streams of a context that nobody uses now, by priority, and all of them. */
final class StreamPool {

  private final Context context;
  private final Map<Integer, ArrayDeque<NativeStream>> idle = new HashMap<>();
  private final List<NativeStream> all = new ArrayList<>();

  StreamPool(Context context) {
    this.context = context;
  }

  NativeStream borrow(int priority) {
    synchronized (all) {
      ArrayDeque<NativeStream> streams = idle.get(priority);
      NativeStream stream = streams == null ? null : streams.pollLast();
      if (stream != null) {
        return stream;
      }
    }
    NativeStream made = context.withCurrent(() -> NativeStream.create(priority));
    synchronized (all) {
      all.add(made);
    }
    return made;
  }

  /** Takes back a stream in which no work is left. */
  void giveBack(NativeStream stream) {
    synchronized (all) {
      idle.computeIfAbsent(stream.priority(), key -> new ArrayDeque<>()).addLast(stream);
    }
  }

  /** All streams, in use or not. */
  List<NativeStream> all() {
    synchronized (all) {
      return List.copyOf(all);
    }
  }

  /** For a context that closes: none is used any more. */
  void destroyAll() {
    List<NativeStream> last;
    synchronized (all) {
      last = List.copyOf(all);
      all.clear();
      idle.clear();
    }
    context.withCurrent(() -> last.forEach(stream -> Driver.streamDestroy(stream.handle())));
  }
}
