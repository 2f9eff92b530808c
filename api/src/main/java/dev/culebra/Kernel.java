package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.LaunchConfigException;

/**
 * A kernel with its signature. {@link #prepare} it once, launch it many times:
 *
 * {@snippet :
 * Kernel axpy = library.kernel("axpy", KernelSignature.of(out("y", F32), in("x", F32), f32("a"), i64("n")));
 * PreparedLaunch launch = axpy.prepare(LaunchConfig.forElements(n, 256));
 * launch.set("y", y);
 * launch.set("x", x);
 * launch.set("a", 2f);
 * launch.set("n", n);
 * launch.launch(stream);
 * }
 *
 * <p>Any thread may use it, as long as its library is open.
 */
public final class Kernel {

  private final CudaLibrary library;
  private final BoundFunction function;
  private final KernelSignature signature;

  Kernel(CudaLibrary library, BoundFunction function, KernelSignature signature) {
    this.library = library;
    this.function = function;
    this.signature = signature;
  }

  /** {@return the kernel's symbol} */
  public String name() {
    return function.name();
  }

  /** {@return its parameters} */
  public KernelSignature signature() {
    return signature;
  }

  /**
   * {@return whether the driver confirmed the signature; drivers older than CUDA 12.4 cannot be
   * asked}
   */
  public boolean isVerified() {
    return function.canVerify();
  }

  /**
   * {@return the library that holds it; that of a kernel from a {@link KernelCatalog} belongs to
   * the context, which closes it}
   */
  public CudaLibrary library() {
    return library;
  }

  /**
   * {@return the most threads that a block of this kernel may have, by its registers and launch
   * bounds}
   */
  public int maxThreadsPerBlock() {
    return function.limits().kernelBlockThreads();
  }

  /** {@return registers of each thread when it starts} */
  public int registersPerThread() {
    return function.registers();
  }

  /** {@return shared memory that the kernel declares itself, in bytes a block} */
  public int staticSharedBytes() {
    return function.limits().staticSharedBytes();
  }

  /** {@return local memory, which is where spilled registers go, in bytes a thread} */
  public int localBytesPerThread() {
    return function.localBytes();
  }

  /**
   * How many blocks of this kernel one multiprocessor holds at once.
   *
   * @param config the block and its dynamic shared memory; the grid does not matter
   * @return the number of blocks, 0 if none fits
   */
  public int maxActiveBlocksPerMultiprocessor(LaunchConfig config) {
    check(config);
    return library.bound(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        () ->
            Driver.occupancyMaxActiveBlocksPerMultiprocessor(
                function.handle(),
                Math.toIntExact(config.blockThreads().count()),
                config.dynamicSharedBytes()));
  }

  /**
   * Checks a configuration against the device and this kernel, and makes a launch that can be
   * repeated at the least cost. Shared memory above what every kernel gets is asked for here.
   *
   * @param config grid, block and shared memory
   * @return a launch confined to the calling thread
   * @throws LaunchConfigException naming the limit that is exceeded
   */
  public PreparedLaunch prepare(LaunchConfig config) {
    check(config);
    if (function.limits().needsOptIn(config)) {
      function.allowDynamicSharedBytes(config.dynamicSharedBytes());
    }
    return new PreparedLaunch(this, config);
  }

  void check(LaunchConfig config) {
    library.requireOpen();
    library.context().requireOpen();
    function
        .limits()
        .violation(config)
        .ifPresent(
            why -> {
              throw CudaException.of(
                  "cuLaunchKernel", CudaResult.INVALID_VALUE.code(), name() + ": " + why);
            });
  }

  /** The {@code CUfunction}. */
  long handle() {
    return function.handle();
  }

  /** {@return name, parameters and image} */
  @Override
  public String toString() {
    return name() + signature + " of " + library.image().name();
  }
}
