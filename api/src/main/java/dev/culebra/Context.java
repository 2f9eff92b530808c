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
import java.util.concurrent.atomic.AtomicBoolean;
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
 * confined to one thread say so. The context that the calling thread had current before a call is
 * current again after it.
 *
 * <p><b>Faults.</b> After a kernel broke a rule the driver answers every call with that fault, in
 * this and in any new context of the process. From then on every call throws {@link
 * PoisonedContextException} at once, closing is quiet, and only a restart of the process helps.
 */
public final class Context implements AutoCloseable {

  private static final int MEMPOOL_ATTR_RELEASE_THRESHOLD = 4;
  private static final long KEEP_EVERYTHING = -1;

  private final Device device;
  private final long handle;
  private final Poison poison;
  private final RecentLaunches launches = new RecentLaunches();
  private final AtomicBoolean closed = new AtomicBoolean();
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
   * or the close of the context; else every synchronisation would return it to the system.
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
      context.keepPooledMemory(KEEP_EVERYTHING);
    } catch (CudaException e) {
      context.close();
      throw e;
    }
    return context;
  }

  private void keepPooledMemory(long bytes) {
    if (device.supports(DeviceAttribute.MEMORY_POOLS_SUPPORTED)) {
      run(
          "cuMemPoolSetAttribute",
          () ->
              Driver.memPoolSetAttribute(
                  Driver.deviceGetDefaultMemPool(device.handle()),
                  MEMPOOL_ATTR_RELEASE_THRESHOLD,
                  bytes));
    }
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
    return closed.get();
  }

  /**
   * Waits for all work of this context, frees what is still open and releases the context. Closing
   * again does nothing. In a poisoned context it frees nothing and is quiet.
   *
   * @throws CudaException if something could not be freed; the rest is, and the context counts as
   *     closed
   */
  @Override
  public void close() {
    if (!closed.compareAndSet(false, true)) {
      return;
    }
    if (isPoisoned()) {
      return;
    }
    List<CudaException> failures = new ArrayList<>();
    attempt(failures, this::drain);
    open.stream()
        .sorted(Comparator.comparingLong((Owned owned) -> owned.sequence).reversed())
        .forEach(
            owned -> {
              LeakTracker.contextCloses(owned);
              attempt(failures, owned::close);
            });
    attempt(failures, this::drain);
    attempt(failures, events::destroyAll);
    attempt(failures, streams::destroyAll);
    attempt(failures, () -> Driver.devicePrimaryCtxRelease(device.handle()));
    if (!failures.isEmpty()) {
      CudaException first = failures.get(0);
      failures.subList(1, failures.size()).forEach(first::addSuppressed);
      throw first;
    }
  }

  /** Waits for our own streams only: others may use the same primary context. */
  private void drain() {
    for (NativeStream stream : streams.all()) {
      Driver.streamSynchronize(stream.handle());
    }
  }

  private void attempt(List<CudaException> failures, Runnable step) {
    // A fault that shows only now ends all steps that need the driver.
    if (isPoisoned()) {
      return;
    }
    try {
      step.run();
    } catch (CudaException e) {
      failures.add(noted(e));
    }
  }

  // ---- What the package uses

  /**
   * Runs what makes something of this context; the failure of a driver call is looked at for a
   * fault.
   */
  <T> T guarded(String function, Supplier<T> action) {
    requireOpen();
    poison.check(function);
    try {
      return action.get();
    } catch (CudaException e) {
      throw noted(e);
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
   * Calls the driver for work on an explicit stream or event, which needs no current context. Works
   * while the context closes, so that what it owns can.
   */
  void call(String function, Runnable calls) {
    poison.check(function);
    try {
      calls.run();
    } catch (CudaException e) {
      throw noted(e);
    }
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

  void requireOpen() {
    if (closed.get()) {
      throw new IllegalStateException("the context of " + device + " has been closed");
    }
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
    loaded.close();
    return first;
  }

  /** {@return the device, and whether the context is closed or poisoned} */
  @Override
  public String toString() {
    return "context of " + device + (isClosed() ? ", closed" : isPoisoned() ? ", poisoned" : "");
  }
}
