package dev.culebra;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import dev.culebra.bindings.ClusterLaunch;
import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.Driver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A kernel with a configuration that was checked once, and arguments. Both can be changed between
 * launches; changing, setting and launching allocate nothing.
 *
 * <p>Arguments are set by slot: a parameter's number, or for a struct passed by value one slot for
 * each field. {@link #slot} finds a slot by name once; the setters that take a name do it each
 * time. Types have to match exactly. Arguments stay set, and the driver copies them during {@link
 * #launch}, so they can be changed right after it.
 *
 * <p><b>Threads.</b> Confined to the thread that prepared it; another gets a {@link
 * WrongThreadException}. It needs no closing: it owns host memory only, which the garbage collector
 * takes.
 */
public final class PreparedLaunch {

  private static final int SLAB_ALIGNMENT = 16;

  private final Thread owner = Thread.currentThread();
  private final Kernel kernel;
  private final Context context;

  // What every launch asks, each one field away.
  private final Owned library;
  private final Poison poison;
  private final RecentLaunches launches;
  private final int launchNumber;

  private final List<KernelSignature.Slot> slots;
  private final boolean[] isSet;
  private int missing;

  // One piece of memory: the addresses of the parameters, which is what the driver takes, then the
  // parameters.
  private final MemorySegment slab;
  private final long slabAddress;
  private final long blockOffset;

  private final @Nullable DeviceAllocation[] memory;
  private final boolean[] writes;

  private final long function;
  private final String name;

  // The configuration, number by number: changing one allocates nothing.
  private int gridX;
  private int gridY;
  private int gridZ;
  private int blockX;
  private int blockY;
  private int blockZ;
  private int sharedBytes;
  // 0, 0, 0: no cluster, or that which the kernel was compiled for.
  private int clusterX;
  private int clusterY;
  private int clusterZ;
  // What the driver takes instead of the numbers when there is a cluster; null when there is none.
  private @Nullable ClusterLaunch clusters;
  // The same, kept from the first cluster on, so that there is one for each prepared launch.
  private @Nullable ClusterLaunch clustersMade;

  PreparedLaunch(Kernel kernel, LaunchConfig config) {
    this.kernel = kernel;
    this.context = kernel.library().context();
    this.function = kernel.handle();
    this.name = kernel.name();
    this.library = kernel.library().loaded();
    this.poison = context.poison();
    this.launches = context.launches();
    this.launchNumber = launches.number(name);
    KernelSignature signature = kernel.signature();
    this.slots = signature.slots();
    this.isSet = new boolean[slots.size()];
    this.missing = slots.size();
    this.memory = new DeviceAllocation[slots.size()];
    this.writes = new boolean[slots.size()];

    int parameters = signature.parameters().size();
    long addresses = (long) parameters * Long.BYTES;
    this.blockOffset = Math.ceilDiv(addresses, SLAB_ALIGNMENT) * (long) SLAB_ALIGNMENT;
    // At least one byte, so that there is an address also for a kernel without parameters.
    this.slab =
        Arena.ofAuto().allocate(blockOffset + Math.max(signature.byteSize(), 1), SLAB_ALIGNMENT);
    this.slabAddress = slab.address();
    for (int i = 0; i < parameters; i++) {
      slab.setAtIndex(JAVA_LONG, i, slabAddress + blockOffset + signature.offset(i));
    }

    config(config);
  }

  /** {@return the kernel} */
  public Kernel kernel() {
    return kernel;
  }

  /** {@return grid, block, shared memory and cluster as they are now} */
  public LaunchConfig config() {
    return new LaunchConfig(
        new Dim3(gridX, gridY, gridZ),
        new Dim3(blockX, blockY, blockZ),
        sharedBytes,
        clusterX == 0 ? null : new Dim3(clusterX, clusterY, clusterZ));
  }

  /**
   * Finds a slot by name, to be used with the setters afterwards.
   *
   * @param name a parameter, a field of a struct as {@code struct.field}, or the field alone if
   *     only one has that name
   * @return the slot's number
   * @throws IllegalArgumentException if there is none of that name, or more than one
   */
  public int slot(String name) {
    int[] exact = matching(slot -> slot.name().equals(name));
    int[] found = exact.length > 0 ? exact : matching(slot -> slot.name().endsWith("." + name));
    if (found.length != 1) {
      throw new IllegalArgumentException(
          found.length
              + " slots of kernel "
              + this.name
              + " have the name "
              + name
              + "; there are "
              + slots.stream().map(KernelSignature.Slot::name).toList());
    }
    return found[0];
  }

  private int[] matching(java.util.function.Predicate<KernelSignature.Slot> test) {
    return IntStream.range(0, slots.size()).filter(i -> test.test(slots.get(i))).toArray();
  }

  // ---- Changes of the configuration, for the launches to come. Each is checked as a whole one is
  // when it is prepared; a refused one changes nothing. They allocate nothing.

  /**
   * Changes all of the configuration at once: also to what could not be reached step by step,
   * because each step has to be valid.
   *
   * @param config grid, block, shared memory and cluster
   * @throws IllegalArgumentException if there is a cluster and the device has none
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void config(LaunchConfig config) {
    checkThread();
    kernel.allow(config);
    gridX = config.gridBlocks().x();
    gridY = config.gridBlocks().y();
    gridZ = config.gridBlocks().z();
    blockX = config.blockThreads().x();
    blockY = config.blockThreads().y();
    blockZ = config.blockThreads().z();
    sharedBytes = config.dynamicSharedBytes();
    Dim3 cluster = config.clusterBlocks();
    clusterX = cluster == null ? 0 : cluster.x();
    clusterY = cluster == null ? 0 : cluster.y();
    clusterZ = cluster == null ? 0 : cluster.z();
    configureClusters();
  }

  /**
   * Changes the grid.
   *
   * @param blocks blocks of the grid, a multiple of the cluster if there is one
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void gridBlocks(Dim3 blocks) {
    gridBlocks(blocks.x(), blocks.y(), blocks.z());
  }

  /**
   * As {@link #gridBlocks(Dim3)}, for a size that is made for the call.
   *
   * @param x blocks along x
   * @param y blocks along y
   * @param z blocks along z
   */
  public void gridBlocks(int x, int y, int z) {
    checkThread();
    LaunchConfig.requirePositive("grid", "blocks", x, y, z);
    kernel.checkGrid(x, y, z, clusterX, clusterY, clusterZ);
    gridX = x;
    gridY = y;
    gridZ = z;
    configureClusters();
  }

  /**
   * Changes the block.
   *
   * @param threads threads of a block
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void blockThreads(Dim3 threads) {
    blockThreads(threads.x(), threads.y(), threads.z());
  }

  /**
   * As {@link #blockThreads(Dim3)}, for a size that is made for the call.
   *
   * @param x threads along x
   * @param y threads along y
   * @param z threads along z
   */
  public void blockThreads(int x, int y, int z) {
    checkThread();
    LaunchConfig.requirePositive("block", "threads", x, y, z);
    kernel.checkBlock(x, y, z);
    blockX = x;
    blockY = y;
    blockZ = z;
    configureClusters();
  }

  /**
   * Changes the dynamic shared memory. More than every kernel gets is asked for, once for each
   * larger size, and never given back.
   *
   * @param bytes shared memory of each block besides what the kernel declares itself, in bytes
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void dynamicSharedBytes(int bytes) {
    checkThread();
    LaunchConfig.requireNotNegative(bytes);
    kernel.allowSharedBytes(bytes);
    sharedBytes = bytes;
    configureClusters();
  }

  /**
   * Changes the cluster. Where the grid is no multiple of the new one, change the grid first, or
   * both by {@link #config(LaunchConfig)}.
   *
   * @param blocks blocks of a cluster
   * @throws IllegalArgumentException if the device has no clusters
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void clusterBlocks(Dim3 blocks) {
    clusterBlocks(blocks.x(), blocks.y(), blocks.z());
  }

  /**
   * As {@link #clusterBlocks(Dim3)}, for a size that is made for the call.
   *
   * @param x blocks along x
   * @param y blocks along y
   * @param z blocks along z
   */
  public void clusterBlocks(int x, int y, int z) {
    checkThread();
    LaunchConfig.requirePositive("cluster", "blocks", x, y, z);
    kernel.allowCluster(gridX, gridY, gridZ, x, y, z);
    clusterX = x;
    clusterY = y;
    clusterZ = z;
    configureClusters();
  }

  /** Launches without a cluster, unless the kernel was compiled for one. */
  public void withoutCluster() {
    checkThread();
    clusterX = 0;
    clusterY = 0;
    clusterZ = 0;
    configureClusters();
  }

  /** Brings what the driver is passed for clusters up to date. */
  private void configureClusters() {
    if (clusterX == 0) {
      clusters = null;
      return;
    }
    ClusterLaunch launch = clustersMade;
    if (launch == null) {
      launch = new ClusterLaunch();
      clustersMade = launch;
    }
    launch.grid(gridX, gridY, gridZ);
    launch.block(blockX, blockY, blockZ);
    launch.sharedBytes(sharedBytes);
    launch.cluster(clusterX, clusterY, clusterZ);
    clusters = launch;
  }

  // ---- Setters

  /**
   * Passes device memory that the kernel may write, unless its parameter says {@code const}.
   *
   * @param slot the slot
   * @param value the memory; its buffer has to be open when the kernel is launched
   * @throws IllegalArgumentException if the slot is not a pointer to that type, or the memory is of
   *     another context
   */
  public void set(int slot, DeviceRange<?> value) {
    setMemory(slot, value, false);
  }

  /**
   * Passes device memory that the kernel only reads.
   *
   * @param slot the slot
   * @param value the memory; its buffer has to be open when the kernel is launched
   * @throws IllegalArgumentException if the slot is not a {@code const} pointer to that type, or
   *     the memory is of another context
   */
  public void set(int slot, In<?> value) {
    setMemory(slot, value.range(), true);
  }

  /**
   * Passes no memory: a null pointer, to a kernel that takes one for what may be left out.
   *
   * @param slot the slot
   * @throws IllegalArgumentException if the slot is not a pointer
   */
  public void setNull(int slot) {
    KernelSignature.Slot target = slots.get(slot);
    if (!(target.type() instanceof ParameterType.Pointer)) {
      throw mismatch(target, "a pointer");
    }
    slab.set(JAVA_LONG, place(slot), 0L);
    memory[slot] = null;
    writes[slot] = false;
  }

  /**
   * Passes an {@code i8} or {@code u8}.
   *
   * @param slot the slot
   * @param value the value
   * @throws IllegalArgumentException if the slot is of another type
   */
  public void set(int slot, byte value) {
    long at = scalar(slot, "byte", ParameterType.Scalar.I8, ParameterType.Scalar.U8);
    slab.set(JAVA_BYTE, at, value);
  }

  /**
   * Passes an {@code i16} or {@code u16}, or the bits of an {@code f16} or {@code bf16}.
   *
   * @param slot the slot
   * @param value the value
   * @throws IllegalArgumentException if the slot is of another type
   */
  public void set(int slot, short value) {
    KernelSignature.Slot target = slots.get(slot);
    boolean sixteenBit =
        target.type() instanceof ParameterType.Scalar && target.type().byteSize() == 2;
    if (!sixteenBit) {
      throw mismatch(target, "short");
    }
    slab.set(JAVA_SHORT, place(slot), value);
  }

  /**
   * Passes an {@code i32} or {@code u32}.
   *
   * @param slot the slot
   * @param value the value
   * @throws IllegalArgumentException if the slot is of another type
   */
  public void set(int slot, int value) {
    long at = scalar(slot, "int", ParameterType.Scalar.I32, ParameterType.Scalar.U32);
    slab.set(JAVA_INT, at, value);
  }

  /**
   * Passes an {@code i64} or {@code u64}.
   *
   * @param slot the slot
   * @param value the value
   * @throws IllegalArgumentException if the slot is of another type
   */
  public void set(int slot, long value) {
    long at = scalar(slot, "long", ParameterType.Scalar.I64, ParameterType.Scalar.U64);
    slab.set(JAVA_LONG, at, value);
  }

  /**
   * Passes an {@code f32}.
   *
   * @param slot the slot
   * @param value the value
   * @throws IllegalArgumentException if the slot is of another type
   */
  public void set(int slot, float value) {
    slab.set(
        JAVA_FLOAT,
        scalar(slot, "float", ParameterType.Scalar.F32, ParameterType.Scalar.F32),
        value);
  }

  /**
   * Passes an {@code f64}.
   *
   * @param slot the slot
   * @param value the value
   * @throws IllegalArgumentException if the slot is of another type
   */
  public void set(int slot, double value) {
    slab.set(
        JAVA_DOUBLE,
        scalar(slot, "double", ParameterType.Scalar.F64, ParameterType.Scalar.F64),
        value);
  }

  /**
   * As {@link #set(int, DeviceRange)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, DeviceRange<?> value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, In)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, In<?> value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, byte)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, byte value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, short)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, short value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, int)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, int value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, long)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, long value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, float)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, float value) {
    set(slot(name), value);
  }

  /**
   * As {@link #set(int, double)}, by name.
   *
   * @param name as for {@link #slot}
   * @param value the value
   */
  public void set(String name, double value) {
    set(slot(name), value);
  }

  private void setMemory(int slot, DeviceRange<?> range, boolean readOnly) {
    KernelSignature.Slot target = slots.get(slot);
    if (!(target.type() instanceof ParameterType.Pointer pointer)) {
      throw mismatch(target, "device memory");
    }
    if (!pointer.accepts(range.type())) {
      throw mismatch(target, "device memory of " + range.type());
    }
    if (readOnly && !pointer.readOnly()) {
      throw mismatch(target, "memory that is only read");
    }
    if (range.context() != context) {
      throw new IllegalArgumentException(
          "argument "
              + target.name()
              + " of kernel "
              + name
              + " belongs to the "
              + range.context()
              + ", the kernel to the "
              + context);
    }
    // Its own check of closed comes with every launch.
    slab.set(JAVA_LONG, place(slot), range.address());
    memory[slot] = range.allocation;
    writes[slot] = !pointer.readOnly();
  }

  /** Where a scalar of a slot goes, if it is one of two types. */
  private long scalar(
      int slot, String given, ParameterType.Scalar one, ParameterType.Scalar other) {
    KernelSignature.Slot target = slots.get(slot);
    if (target.type() != one && target.type() != other) {
      throw mismatch(target, given);
    }
    return place(slot);
  }

  private long place(int slot) {
    checkThread();
    if (!isSet[slot]) {
      isSet[slot] = true;
      missing--;
    }
    return blockOffset + slots.get(slot).offset();
  }

  private IllegalArgumentException mismatch(KernelSignature.Slot slot, String given) {
    return new IllegalArgumentException(
        "argument " + slot.name() + " of kernel " + name + " is " + slot.type() + ", not " + given);
  }

  // ---- Launch

  /**
   * Enqueues the kernel. What it reads and writes is ordered behind the work of other streams that
   * uses the same memory. Neither the context nor the kernel's library may be closed by another
   * thread during this call, see {@link Context}.
   *
   * @param stream where to enqueue
   * @throws IllegalStateException if an argument was never set, or the stream, the library or
   *     memory passed has been closed
   * @throws IllegalArgumentException if the stream is of another context
   * @throws dev.culebra.bindings.LaunchConfigException if the driver refuses
   * @throws dev.culebra.bindings.PoisonedContextException if an earlier fault poisoned the context
   */
  public void launch(Stream stream) {
    checkThread();
    NativeStream target = stream.usable();
    if (stream.context() != context) {
      throw new IllegalArgumentException(
          "the stream belongs to the "
              + stream.context()
              + ", kernel "
              + name
              + " to the "
              + context);
    }
    library.requireOpen();
    poison.check(driverCall());
    if (missing != 0) {
      throw unset();
    }
    int code;
    try {
      for (int slot = 0; slot < memory.length; slot++) {
        DeviceAllocation allocation = memory[slot];
        if (allocation != null) {
          order(allocation, writes[slot], target);
        }
      }
      ClusterLaunch clustered = clusters;
      code =
          clustered == null
              ? Driver.launchKernel(
                  function,
                  gridX,
                  gridY,
                  gridZ,
                  blockX,
                  blockY,
                  blockZ,
                  sharedBytes,
                  target.handle(),
                  slabAddress)
              : clustered.launch(function, target.handle(), slabAddress);
    } catch (CudaException e) {
      throw context.noted(e);
    } finally {
      Reference.reachabilityFence(slab);
    }
    launches.add(launchNumber);
    if (code != 0) {
      throw context.noted(CudaException.of(driverCall(), code, toString()));
    }
  }

  private String driverCall() {
    return clusters == null ? "cuLaunchKernel" : "cuLaunchKernelEx";
  }

  private static void order(DeviceAllocation allocation, boolean writes, NativeStream target) {
    allocation.requireOpen();
    if (writes) {
      allocation.write(target);
    } else {
      allocation.read(target);
    }
  }

  private IllegalStateException unset() {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < isSet.length; i++) {
      if (!isSet[i]) {
        names.add(slots.get(i).name());
      }
    }
    return new IllegalStateException(
        "arguments " + names + " of kernel " + name + " have not been set");
  }

  private void checkThread() {
    if (Thread.currentThread() != owner) {
      throw new WrongThreadException(
          "this launch of kernel "
              + name
              + " belongs to "
              + owner
              + "; prepare one in each thread");
    }
  }

  /** {@return kernel, grid, block, shared memory and, if there is one, the cluster} */
  @Override
  public String toString() {
    LaunchConfig config = config();
    Dim3 cluster = config.clusterBlocks();
    return name
        + " with grid "
        + config.gridBlocks()
        + ", block "
        + config.blockThreads()
        + ", "
        + sharedBytes
        + " bytes of dynamic shared memory"
        + (cluster == null ? "" : ", clusters of " + cluster);
  }
}
