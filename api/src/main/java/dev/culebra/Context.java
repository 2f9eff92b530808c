package dev.culebra;

import dev.culebra.bindings.ArenaCleanup;
import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.OutOfDeviceMemoryException;
import dev.culebra.bindings.PoisonedContextException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * A device's primary context, retained: the owner of everything that is made on the device.
 *
 * {@snippet :
 * try (Context context = Context.primary(Device.of(0));
 *     Stream stream = context.newStream();
 *     DeviceBuffer<F32> x = context.allocate(F32, 1_000_000, stream)) {
 *   x.copyFrom(new float[1_000_000]);
 * }
 * }
 *
 * <p><b>Lifetime.</b> {@link #close} frees what is still open, in reverse order of creation, and
 * releases the context. Another {@code Context} of the same device goes on. Using anything of a
 * closed context throws {@link IllegalStateException}.
 *
 * <p><b>Threads.</b> Any thread may use and close a context and all that it made; the few types
 * confined to one thread say so. A close waits for the calls that other threads are in, and those
 * that come later get an {@link IllegalStateException}. The one exception is {@link
 * PreparedLaunch#launch}, which has no time to be waited for: no thread may be inside a launch
 * while its context, or the library of its kernel, is being closed. Closing the stream or a buffer
 * meanwhile is fine. The context that the calling thread had current before a call is current again
 * after it.
 *
 * <p><b>Faults.</b> After a kernel broke a rule the driver answers every call with that fault, in
 * this and in any new context of the process. From then on every call throws {@link
 * PoisonedContextException} at once, closing is quiet, and only a restart of the process helps.
 */
public final class Context implements AutoCloseable {

  private final Device device;
  private final long handle;
  private final Poison poison;
  private final RecentLaunches launches = new RecentLaunches();
  private final UseGate gate = new UseGate();
  private final ReentrantLock closing = new ReentrantLock();
  private boolean keepsMemory;
  private boolean released;
  private final Set<Owned> open = ConcurrentHashMap.newKeySet();
  private final ConcurrentHashMap<String, CudaLibrary> sharedLibraries = new ConcurrentHashMap<>();
  private final StreamPool streams = new StreamPool(this);
  private final EventPool events = new EventPool(this);
  private final StagingPool staging = new StagingPool(this);

  private Context(Device device, Poison poison) {
    this.device = device;
    this.poison = poison;
    this.handle = Driver.devicePrimaryCtxRetain(device.handle());
  }

  /**
   * Retains the primary context of a device, which other libraries of this process share.
   *
   * <p>Memory that buffers give back stays in the device's default pool until {@link #trimMemory}
   * or until the last context of the device closes, which also restores the pool's release
   * threshold; else every synchronisation would return it to the system.
   *
   * @param device the device
   * @return a context to close
   * @throws PoisonedContextException if an earlier fault made the device unusable for this process
   * @throws CudaException if the driver refuses
   */
  public static Context primary(Device device) {
    Poison poison = Poison.of(device.ordinal());
    poison.check("cuDevicePrimaryCtxRetain");
    Context context;
    try {
      context = new Context(device, poison);
    } catch (CudaException e) {
      throw poison.noted(e, new RecentLaunches());
    }
    try {
      if (device.supports(DeviceAttribute.MEMORY_POOLS_SUPPORTED)) {
        PooledMemory.keep(device);
        context.keepsMemory = true;
      }
    } catch (CudaException e) {
      CudaException told = context.noted(e);
      context.close();
      throw told;
    }
    return context;
  }

  /** {@return the device} */
  public Device device() {
    return device;
  }

  /** {@return the {@code CUcontext}, for interop; valid until this context is closed} */
  public long handle() {
    requireOpen();
    return handle;
  }

  /**
   * Makes a stream of the default priority. It does not synchronise with CUDA's legacy default
   * stream.
   *
   * @return a stream to close
   */
  public Stream newStream() {
    return newStream(0);
  }

  /**
   * Makes a stream.
   *
   * @param priority within {@link #streamPriorities}; lower numbers are more urgent
   * @return a stream to close
   * @throws IllegalArgumentException if the priority is out of range
   */
  public Stream newStream(int priority) {
    StreamPriorities range = streamPriorities();
    if (priority > range.least() || priority < range.greatest()) {
      throw new IllegalArgumentException(
          "priority "
              + priority
              + " is out of range; the device has "
              + range.greatest()
              + " (most urgent) to "
              + range.least());
    }
    return new Stream(this, priority);
  }

  /**
   * Which priorities streams may have.
   *
   * @param least the least urgent, the larger number
   * @param greatest the most urgent, the smaller number
   */
  public record StreamPriorities(int least, int greatest) {}

  /** {@return the priorities that streams may have} */
  public StreamPriorities streamPriorities() {
    return bound(
        "cuCtxGetStreamPriorityRange",
        () -> {
          var range = Driver.ctxGetStreamPriorityRange();
          return new StreamPriorities(range.least(), range.greatest());
        });
  }

  /**
   * Makes an event that orders work. It cannot tell time.
   *
   * @return an event to close
   */
  public Event newEvent() {
    return new Event(this);
  }

  /**
   * Makes an event that orders work and notes the time.
   *
   * @return an event to close
   */
  public TimedEvent newTimedEvent() {
    return new TimedEvent(this);
  }

  /**
   * Allocates device memory in stream order. Its contents are undefined; see {@link
   * DeviceRange#zero}.
   *
   * @param <E> the type of the elements
   * @param type the type of the elements
   * @param length how many elements; 0 makes an empty buffer without asking the driver
   * @param stream the stream that uses the buffer first
   * @return a buffer to close
   * @throws OutOfDeviceMemoryException telling what was asked and what there is; nothing else is
   *     affected
   * @throws IllegalArgumentException if the length is negative or its bytes exceed {@link
   *     Long#MAX_VALUE}, or the stream is of another context
   */
  public <E extends ElementType<E>> DeviceBuffer<E> allocate(
      ElementType<E> type, long length, Stream stream) {
    requireOpen();
    return new DeviceBuffer<>(type, length, DeviceAllocation.allocate(this, type, length, stream));
  }

  /**
   * Allocates device memory in stream order that lives as long as an arena: closing the arena
   * closes the buffer. Buffers of one arena go back in reverse order of their making.
   *
   * @param <E> the type of the elements
   * @param arena the lifetime; a confined or shared one. Not {@link Arena#ofAuto}: the garbage
   *     collector would choose when the buffer closes. With {@link Arena#global} the buffer lives
   *     until it or the context is closed
   * @param type the type of the elements
   * @param length how many elements; 0 makes an empty buffer without asking the driver
   * @param stream the stream that uses the buffer first
   * @return a buffer, which may also be closed before the arena is
   * @throws OutOfDeviceMemoryException telling what was asked and what there is; nothing else is
   *     affected
   * @throws IllegalArgumentException as without an arena
   * @throws IllegalStateException if the arena has been closed
   * @throws WrongThreadException if the arena is confined to another thread
   */
  public <E extends ElementType<E>> DeviceBuffer<E> allocate(
      Arena arena, ElementType<E> type, long length, Stream stream) {
    DeviceBuffer<E> buffer = allocate(type, length, stream);
    try {
      ArenaCleanup.register(arena, buffer::close);
    } catch (Throwable t) {
      buffer.close();
      throw t;
    }
    return buffer;
  }

  /**
   * Allocates pinned host memory, which asynchronous copies need. This is slow (most of a
   * millisecond): keep and reuse it.
   *
   * @param byteSize the size in bytes, at least 1
   * @return memory to close
   * @throws OutOfDeviceMemoryException if the host has no more pinned memory
   * @throws IllegalArgumentException if the size is below 1
   */
  public HostBuffer allocateHost(long byteSize) {
    return new HostBuffer(this, byteSize);
  }

  /**
   * Loads an image of compiled kernels.
   *
   * @param image a cubin or PTX
   * @return a library to close
   * @throws dev.culebra.bindings.InvalidImageException if it does not fit the device, or the driver
   *     refuses it; with the compiler's messages if it is PTX
   */
  public CudaLibrary load(KernelImage image) {
    CudaLibrary library = CudaLibrary.load(this, image);
    library.handOut();
    return library;
  }

  /**
   * Waits until everything in this context is done.
   *
   * @throws dev.culebra.bindings.KernelFaultException if a kernel broke a rule; the context is
   *     poisoned then
   */
  public void synchronize() {
    run("cuCtxSynchronize", Driver::ctxSynchronize);
  }

  /**
   * How much device memory there is.
   *
   * @param freeBytes what could be allocated, by any process
   * @param totalBytes the size of the device's memory
   */
  public record MemoryInfo(long freeBytes, long totalBytes) {}

  /**
   * {@return free and total memory of the device; what the pool keeps for reuse does not count as
   * free}
   */
  public MemoryInfo memoryInfo() {
    return bound(
        "cuMemGetInfo",
        () -> {
          var info = Driver.memGetInfo();
          return new MemoryInfo(info.freeBytes(), info.totalBytes());
        });
  }

  /**
   * Returns memory to the system that buffers gave back and nobody uses. Work has to be done first:
   * synchronise.
   */
  public void trimMemory() {
    run(
        "cuMemPoolTrimTo",
        () -> Driver.memPoolTrimTo(Driver.deviceGetDefaultMemPool(device.handle()), 0));
  }

  /** {@return whether a fault made the device unusable for this process} */
  public boolean isPoisoned() {
    return poison.isPoisoned();
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return gate.isClosed();
  }

  /**
   * Waits for calls of other threads (but for launches, see above) and for all work of this
   * context, frees what is still open and releases the context. Closing again does nothing. In a
   * poisoned context it frees nothing and is quiet.
   *
   * @throws CudaException if something could not be freed; the rest is, and the context counts as
   *     closed
   * @throws IllegalStateException if another thread is touching pinned memory right now: all else
   *     is freed, and closing again when the other thread is done frees that memory and releases
   *     the context
   */
  @Override
  public void close() {
    closing.lock();
    try {
      if (!gate.isClosed()) {
        gate.close();
      }
      if (!released && !isPoisoned()) {
        gate.awaitEmpty();
        freeAll();
      }
    } finally {
      closing.unlock();
    }
  }

  private void freeAll() {
    List<RuntimeException> failures = new ArrayList<>();
    attempt(failures, this::drain);
    open.stream()
        .sorted(Comparator.comparingLong((Owned owned) -> owned.sequence).reversed())
        .forEach(
            owned -> {
              LeakTracker.contextCloses(owned);
              attempt(failures, owned::closeWithContext);
            });
    attempt(failures, this::drain);
    attempt(failures, events::destroyAll);
    attempt(failures, streams::destroyAll);
    if (keepsMemory) {
      keepsMemory = false;
      attempt(failures, () -> PooledMemory.release(device));
    }
    // What a thread is touching goes with the primary context, under its feet.
    if (open.isEmpty()) {
      released = true;
      attempt(failures, () -> Driver.devicePrimaryCtxRelease(device.handle()));
    }
    if (!failures.isEmpty()) {
      RuntimeException first = failures.get(0);
      failures.subList(1, failures.size()).forEach(first::addSuppressed);
      throw first;
    }
  }

  /** Waits for our own streams only: others may use the same primary context. */
  void drain() {
    for (NativeStream stream : streams.all()) {
      Driver.streamSynchronize(stream.handle());
    }
  }

  private void attempt(List<RuntimeException> failures, Runnable step) {
    // A fault that shows only now ends all steps that need the driver.
    if (isPoisoned()) {
      return;
    }
    try {
      step.run();
    } catch (CudaException e) {
      failures.add(noted(e));
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  // ---- What the package uses

  /**
   * Runs calls of the driver that the close of this context waits for; the failure of one is looked
   * at for a fault. Not to be nested, see {@link UseGate}.
   */
  <T> T guarded(String function, Supplier<T> action) {
    enter();
    try {
      poison.check(function);
      return action.get();
    } catch (CudaException e) {
      throw noted(e);
    } finally {
      leave();
    }
  }

  /**
   * Calls the driver with this context current, for calls that create or wait; see {@link
   * #withCurrent}.
   */
  <T> T bound(String function, Supplier<T> calls) {
    return guarded(function, () -> withCurrent(calls));
  }

  /** As {@link #bound} for calls without a result. */
  void run(String function, Runnable calls) {
    bound(
        function,
        () -> {
          calls.run();
          return true;
        });
  }

  /**
   * As {@link #guarded} for work on an explicit stream or event, which needs no current context,
   * and without a result.
   */
  void call(String function, Runnable calls) {
    guarded(
        function,
        () -> {
          calls.run();
          return true;
        });
  }

  /**
   * Calls the driver with this context current and makes the caller's current again. The calls may
   * do nothing that can park the thread, such as take a lock: a virtual thread could go on with
   * another carrier, and the current context is the carrier's.
   */
  <T> T withCurrent(Supplier<T> calls) {
    long callers = Driver.ctxGetCurrent();
    if (callers == handle) {
      return calls.get();
    }
    Driver.ctxSetCurrent(handle);
    T result;
    try {
      result = calls.get();
    } catch (Throwable t) {
      restore(callers, t);
      throw t;
    }
    Driver.ctxSetCurrent(callers);
    return result;
  }

  private static void restore(long callers, Throwable primary) {
    try {
      Driver.ctxSetCurrent(callers);
    } catch (CudaException e) {
      primary.addSuppressed(e);
    }
  }

  /** As {@link #withCurrent(Supplier)} for calls without a result. */
  void withCurrent(Runnable calls) {
    withCurrent(
        () -> {
          calls.run();
          return true;
        });
  }

  void requireOpen() {
    if (isClosed()) {
      throw hasBeenClosed();
    }
  }

  private IllegalStateException hasBeenClosed() {
    return new IllegalStateException("the context of " + device + " has been closed");
  }

  /** From here to {@link #leave} the context cannot close. */
  void enter() {
    if (!tryEnter()) {
      throw hasBeenClosed();
    }
  }

  boolean tryEnter() {
    return gate.enter();
  }

  void leave() {
    gate.leave();
  }

  Poison poison() {
    return poison;
  }

  void checkPoison(String function) {
    poison.check(function);
  }

  CudaException noted(CudaException failure) {
    return poison.noted(failure, launches);
  }

  RecentLaunches launches() {
    return launches;
  }

  /**
   * Inside {@link #guarded} only, so that a close comes before the making or sees what was made.
   */
  void own(Owned owned) {
    open.add(owned);
  }

  void disown(Owned owned) {
    open.remove(owned);
  }

  /** How many things are open, for tests. */
  int openCount() {
    return (int) open.stream().filter(Owned::isUsers).count();
  }

  StreamPool streams() {
    return streams;
  }

  EventPool events() {
    return events;
  }

  StagingPool staging() {
    return staging;
  }

  /** A library that all users of this context share; it lives as long as the context. */
  CudaLibrary sharedLibrary(String key, Supplier<KernelImage> image) {
    requireOpen();
    CudaLibrary known = sharedLibraries.get(key);
    if (known != null) {
      return known;
    }
    // Loading can wait for the device, so no lock is held; the second of two at once is dropped.
    CudaLibrary loaded = CudaLibrary.load(this, image.get());
    CudaLibrary first = sharedLibraries.putIfAbsent(key, loaded);
    if (first == null) {
      return loaded;
    }
    loaded.unload();
    return first;
  }

  /** {@return the device, and whether the context is closed or poisoned} */
  @Override
  public String toString() {
    return "context of " + device + (isClosed() ? ", closed" : isPoisoned() ? ", poisoned" : "");
  }
}
