package dev.culebra;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

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
 * A kernel with a configuration that was checked once and arguments that can be changed: setting
 * and launching allocate nothing.
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
  private LaunchConfig config;
  private int gridX;
  private int gridY;
  private int gridZ;
  private int blockX;
  private int blockY;
  private int blockZ;
  private final int sharedBytes;

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

    this.config = config;
    this.gridX = config.gridBlocks().x();
    this.gridY = config.gridBlocks().y();
    this.gridZ = config.gridBlocks().z();
    this.blockX = config.blockThreads().x();
    this.blockY = config.blockThreads().y();
    this.blockZ = config.blockThreads().z();
    this.sharedBytes = config.dynamicSharedBytes();
  }

  /** {@return the kernel} */
  public Kernel kernel() {
    return kernel;
  }

  /** {@return grid, block and shared memory} */
  public LaunchConfig config() {
    return config;
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

  /**
   * Changes the grid, within the limits that were checked when the launch was prepared.
   *
   * @param blocks blocks of the grid
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void gridBlocks(Dim3 blocks) {
    checkThread();
    LaunchConfig changed = config.withGridBlocks(blocks);
    kernel.check(changed);
    config = changed;
    gridX = blocks.x();
    gridY = blocks.y();
    gridZ = blocks.z();
  }

  /**
   * Changes the block for the launches to come.
   *
   * @param threads threads of a block
   * @throws dev.culebra.bindings.LaunchConfigException naming the limit that is exceeded
   */
  public void blockThreads(Dim3 threads) {
    checkThread();
    LaunchConfig changed = config.withBlockThreads(threads);
    kernel.check(changed);
    config = changed;
    blockX = threads.x();
    blockY = threads.y();
    blockZ = threads.z();
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
    poison.check("cuLaunchKernel");
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
      code =
          Driver.launchKernel(
              function,
              gridX,
              gridY,
              gridZ,
              blockX,
              blockY,
              blockZ,
              sharedBytes,
              target.handle(),
              slabAddress);
    } catch (CudaException e) {
      throw context.noted(e);
    } finally {
      Reference.reachabilityFence(slab);
    }
    launches.add(launchNumber);
    if (code != 0) {
      throw context.noted(CudaException.of("cuLaunchKernel", code, toString()));
    }
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

  /** {@return kernel, grid, block and shared memory} */
  @Override
  public String toString() {
    return name
        + " with grid "
        + config.gridBlocks()
        + ", block "
        + config.blockThreads()
        + ", "
        + sharedBytes
        + " bytes of dynamic shared memory";
  }
}
