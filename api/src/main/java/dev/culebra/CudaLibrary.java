package dev.culebra;

import static java.nio.charset.StandardCharsets.US_ASCII;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.JitLog;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * A kernel image that is loaded in a context.
 *
 * <p>Any thread may use it. {@link #close} waits until the work in the streams of its context is
 * done; the library's kernels cannot be launched any more. No other thread may be inside a launch
 * of one meanwhile; other calls are waited for.
 */
public final class CudaLibrary implements AutoCloseable {

  private final Loaded loaded;
  private final KernelImage image;
  private final ConcurrentHashMap<String, BoundFunction> functions = new ConcurrentHashMap<>();
  private volatile boolean shared = true;

  private CudaLibrary(Loaded loaded, KernelImage image) {
    this.loaded = loaded;
    this.image = image;
  }

  /**
   * The {@code CUlibrary}. It keeps the compiler's log, to which the driver holds a pointer until
   * the library is unloaded.
   */
  private static final class Loaded extends Owned {

    private final long library;
    private final UseGate gate = new UseGate();

    @SuppressWarnings("UnusedVariable") // reachability is its use
    private final JitLog log;

    Loaded(Context context, KernelImage image, long library, JitLog log) {
      super(context, "CudaLibrary of " + image.name());
      this.library = library;
      this.log = log;
    }

    @Override
    void free() {
      gate.close();
      gate.awaitEmpty();
      context.drain();
      context.withCurrent(() -> Driver.libraryUnload(library));
    }
  }

  static CudaLibrary load(Context context, KernelImage image) {
    image
        .misfit(context.device().computeCapability())
        .ifPresent(
            why -> {
              throw InvalidImage.noCodeForDevice(why);
            });
    Arena arena = Arena.ofAuto();
    JitLog log = new JitLog(arena);
    MemorySegment bytes = terminated(image, arena);
    Loaded loaded =
        context.guarded(
            "cuLibraryLoadData",
            () -> {
              long library = context.withCurrent(() -> loadNow(bytes, log));
              Loaded made = new Loaded(context, image, library, log);
              context.own(made);
              return made;
            });
    return new CudaLibrary(loaded, image);
  }

  /** The driver wants a NUL behind PTX and minds none behind a cubin. */
  private static MemorySegment terminated(KernelImage image, Arena arena) {
    byte[] bytes = image.toByteArray();
    MemorySegment segment = arena.allocate(bytes.length + 1L, 16);
    MemorySegment.copy(bytes, 0, segment, java.lang.foreign.ValueLayout.JAVA_BYTE, 0, bytes.length);
    return segment;
  }

  /**
   * The driver loads lazily, so junk would only show at the first launch: asking for the module
   * loads now.
   */
  private static long loadNow(MemorySegment bytes, JitLog log) {
    long library = Driver.libraryLoadData(bytes, log);
    try {
      Driver.libraryGetModule(library);
    } catch (CudaException e) {
      CudaException told = CudaException.of(e.function(), e.result().code(), log.errors());
      try {
        Driver.libraryUnload(library);
      } catch (CudaException unload) {
        told.addSuppressed(unload);
      }
      throw told;
    }
    return library;
  }

  /** Makes it a library that a user closes; until then it is the context's. */
  void handOut() {
    shared = false;
    loaded.handOut(this);
  }

  /** {@return the context in which it is loaded} */
  public Context context() {
    return loaded.context;
  }

  /** {@return the image} */
  public KernelImage image() {
    return image;
  }

  /**
   * Binds a kernel, loads its code, and compares the driver's view of its parameters with a
   * signature: their number, offsets and sizes.
   *
   * @param name the kernel's symbol; {@code extern "C"} keeps it as it is written
   * @param signature its parameters
   * @return the kernel; it cannot be launched once this library is closed
   * @throws IllegalArgumentException if there is no kernel of that name, or the parameters differ;
   *     all differences are told
   */
  public Kernel kernel(String name, KernelSignature signature) {
    loaded.requireOpen();
    BoundFunction function = functions.get(name);
    if (function == null) {
      BoundFunction bound = bind(name);
      BoundFunction first = functions.putIfAbsent(name, bound);
      function = first == null ? bound : first;
    }
    function.verify(signature);
    return new Kernel(this, function, signature);
  }

  private BoundFunction bind(String name) {
    if (name.isEmpty() || !US_ASCII.newEncoder().canEncode(name) || name.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("'" + name + "' cannot be the name of a kernel");
    }
    try {
      return bound(
          "cuLibraryGetKernel",
          () -> BoundFunction.of(this, name, Driver.libraryGetKernel(loaded.library, name)));
    } catch (CudaException e) {
      if (e.result().equals(CudaResult.NOT_FOUND)) {
        throw new IllegalArgumentException(
            "there is no kernel "
                + name
                + " in "
                + image.name()
                + NearNames.hint(name, image.entryPoints()),
            e);
      }
      throw e;
    }
  }

  /** As {@link Context#bound}, for calls that use what is loaded: its unloading waits for them. */
  <T> T bound(String function, Supplier<T> calls) {
    if (!loaded.gate.enter()) {
      throw new IllegalStateException(loaded + " has been closed");
    }
    try {
      return context().bound(function, calls);
    } finally {
      loaded.gate.leave();
    }
  }

  void requireOpen() {
    loaded.requireOpen();
  }

  /** What closes with this library, for the launch path, which has no time for another hop. */
  Owned loaded() {
    return loaded;
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return loaded.isClosed();
  }

  /**
   * Waits for the work in the context's streams and unloads the image. Closing again does nothing.
   *
   * @throws IllegalStateException if the context loaded it for all users of a {@link
   *     KernelCatalog}: it lives as long as the context
   */
  @Override
  public void close() {
    if (shared && !isClosed()) {
      throw new IllegalStateException(
          loaded
              + " is shared by all that use the "
              + context()
              + ", which closes it; load the image yourself to have a library of your own");
    }
    unload();
  }

  void unload() {
    loaded.close();
  }

  /** {@return the image's name and state} */
  @Override
  public String toString() {
    return loaded + (isClosed() ? ", closed" : "");
  }
}
