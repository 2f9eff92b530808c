package dev.culebra;

import dev.culebra.bindings.ClusterLaunch;
import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.LaunchConfigException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

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
   * {@return the blocks of the clusters that the kernel was compiled for ({@code
   * __cluster_dims__}); empty if it takes those of the launch, or none}
   */
  public Optional<Dim3> requiredClusterBlocks() {
    return Optional.ofNullable(function.limits().clusters().required());
  }

  /**
   * How many blocks of this kernel one multiprocessor holds at once.
   *
   * @param config the block and its dynamic shared memory; the grid does not matter
   * @return the number of blocks, 0 if none fits
   * @throws LaunchConfigException naming the limit that is exceeded
   */
  public int maxActiveBlocksPerMultiprocessor(LaunchConfig config) {
    allowBlocks(config); // one that the kernel is not allowed would not fit anywhere
    return library.bound(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        () ->
            Driver.occupancyMaxActiveBlocksPerMultiprocessor(
                function.handle(),
                Math.toIntExact(config.blockThreads().count()),
                config.dynamicSharedBytes()));
  }

  /**
   * How many clusters of this kernel the device holds at once.
   *
   * @param config block, dynamic shared memory and cluster; the grid does not matter, and a kernel
   *     compiled for clusters needs none in here
   * @return the number of clusters, 0 if none fits
   * @throws IllegalArgumentException if there is no cluster, or the device has none
   * @throws LaunchConfigException naming the limit that is exceeded
   */
  public int maxActiveClusters(LaunchConfig config) {
    Dim3 cluster = clusterOf(config);
    if (cluster == null) {
      throw new IllegalArgumentException(
          "kernel "
              + name()
              + " has no clusters to be counted: state their shape in the configuration");
    }
    allowBlocks(config);
    Dim3 block = config.blockThreads();
    ClusterLaunch launch = new ClusterLaunch();
    launch.grid(cluster.x(), cluster.y(), cluster.z());
    launch.block(block.x(), block.y(), block.z());
    launch.sharedBytes(config.dynamicSharedBytes());
    launch.cluster(cluster.x(), cluster.y(), cluster.z());
    return library.bound("cuOccupancyMaxActiveClusters", () -> launch.maxActive(function.handle()));
  }

  /** The cluster that a launch would have; null for none. */
  private @Nullable Dim3 clusterOf(LaunchConfig config) {
    Dim3 stated = config.clusterBlocks();
    return stated == null ? function.limits().clusters().required() : stated;
  }

  /**
   * Checks a configuration against the device and this kernel, and makes a launch that can be
   * repeated at the least cost. Shared memory above what every kernel gets, and clusters above what
   * every device has, are asked for here.
   *
   * @param config grid, block, shared memory and cluster
   * @return a launch confined to the calling thread
   * @throws IllegalArgumentException if there is a cluster and the device has none
   * @throws LaunchConfigException naming the limit that is exceeded
   */
  public PreparedLaunch prepare(LaunchConfig config) {
    return new PreparedLaunch(this, config);
  }

  // ---- Limits, by plain numbers: the changes of a prepared launch allocate nothing. A cluster's x
  // of 0 stands for none.

  /** Checks a configuration and has the driver allow what it does not allow every kernel. */
  void allow(LaunchConfig config) {
    requireOpen();
    refuse(function.limits().violation(config).orElse(null));
    Dim3 grid = config.gridBlocks();
    Dim3 cluster = config.clusterBlocks();
    if (cluster == null) {
      allowCluster(grid.x(), grid.y(), grid.z(), 0, 0, 0);
    } else {
      allowCluster(grid.x(), grid.y(), grid.z(), cluster.x(), cluster.y(), cluster.z());
    }
    allowSharedBytes(config.dynamicSharedBytes());
  }

  /** The same for what the blocks are, whatever the grid. */
  private void allowBlocks(LaunchConfig config) {
    Dim3 block = config.blockThreads();
    checkBlock(block.x(), block.y(), block.z());
    Dim3 cluster = clusterOf(config);
    if (cluster != null) {
      int x = cluster.x();
      int y = cluster.y();
      int z = cluster.z();
      allowCluster(x, y, z, x, y, z); // as if the grid were one cluster
    }
    allowSharedBytes(config.dynamicSharedBytes());
  }

  void checkGrid(int x, int y, int z, int clusterX, int clusterY, int clusterZ) {
    requireOpen();
    LaunchLimits limits = function.limits();
    refuse(limits.gridViolation(x, y, z));
    refuseCluster(limits.clusters().gridViolation(x, y, z, clusterX, clusterY, clusterZ), clusterX);
  }

  void checkBlock(int x, int y, int z) {
    requireOpen();
    refuse(function.limits().blockViolation(x, y, z));
  }

  void allowSharedBytes(int bytes) {
    requireOpen();
    LaunchLimits limits = function.limits();
    refuse(limits.sharedViolation(bytes));
    if (limits.needsOptIn(bytes)) {
      function.allowDynamicSharedBytes(bytes);
    }
  }

  void allowCluster(int gridX, int gridY, int gridZ, int x, int y, int z) {
    requireOpen();
    ClusterLimits clusters = function.limits().clusters();
    clusters.requireSupport(x);
    refuseCluster(clusters.shapeViolation(x, y, z), x);
    refuseCluster(clusters.gridViolation(gridX, gridY, gridZ, x, y, z), x);
    if (clusters.needsNonPortable(x, y, z)) {
      function.allowNonPortableClusters();
    }
  }

  private void requireOpen() {
    library.requireOpen();
    library.context().requireOpen();
  }

  private void refuse(@Nullable String violation) {
    if (violation != null) {
      throw refusal("cuLaunchKernel", CudaResult.INVALID_VALUE, violation);
    }
  }

  private void refuseCluster(@Nullable String violation, int clusterX) {
    if (violation != null) {
      throw refusal(
          clusterX == 0 ? "cuLaunchKernel" : "cuLaunchKernelEx",
          CudaResult.INVALID_CLUSTER_SIZE,
          violation);
    }
  }

  private CudaException refusal(String call, CudaResult result, String violation) {
    return CudaException.of(call, result.code(), name() + ": " + violation);
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
