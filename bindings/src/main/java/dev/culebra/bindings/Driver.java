package dev.culebra.bindings;

import dev.culebra.generated.SymbolResolver;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * The driver API with results checked: one method for each C function that Culebra calls or that
 * completes those, named as the function without {@code cu}; the others are in {@code cuda_h}.
 * Handles and device addresses are {@code long}, sizes {@code long} bytes, host memory a {@link
 * MemorySegment}, out-parameters are return values. Nothing else is added: no ownership, no check
 * of a handle. A destroyed handle may crash the process; {@code dev.culebra} is the layer that
 * prevents it.
 *
 * <p>Every method throws {@link CudaException} if the driver reports an error, {@link
 * UnsupportedByDriverException} if the driver is too old for the function and {@link
 * DriverUnavailableException} if there is none. The driver is opened and initialised by the first
 * method called.
 *
 * <p>All methods may be called from any thread, also virtual ones; the current context is the
 * driver's, one for each <em>platform</em> thread.
 */
public final class Driver {
  private static final int NAME_BYTES = 256;

  private Driver() {}

  // ---- The driver itself

  /** Opens and initialises the driver, which else the first call does. */
  public static void init() {
    DriverLibrary.opened().require();
  }

  /** What came of opening the driver for this process. Never throws. */
  public static DriverProbe opened() {
    return DriverLibrary.opened().probe();
  }

  /** Makes the functions of {@code cuda_h} callable; does nothing if they are. Never throws. */
  public static void installResolver() {
    SymbolResolver.install(DriverLibrary.opened());
  }

  /** The CUDA version of the driver, as 1000 * major + 10 * minor. */
  public static int driverGetVersion() {
    DriverLibrary.opened().require();
    return DriverLibrary.opened().probe().driverVersion();
  }

  /**
   * The name of a code: the driver's, which may be newer than this class, or ours if the driver
   * cannot be asked. Never throws.
   */
  public static String getErrorName(int code) {
    String name = ErrorTexts.name(code);
    return name.isEmpty() ? CudaResult.of(code).name() : name;
  }

  /** The driver's text for a code; empty if it has none or cannot be asked. Never throws. */
  public static String getErrorString(int code) {
    return ErrorTexts.text(code);
  }

  /**
   * Throws if a code is an error.
   *
   * @param function the C function that returned it
   * @throws CudaException of the subclass that fits, unless {@code code} is 0
   */
  public static void check(String function, int code) {
    if (code != 0) throw CudaException.of(function, code);
  }

  private static void requireBytes(MemorySegment segment, long bytes) {
    if (bytes < 0 || bytes > segment.byteSize()) {
      throw new IllegalArgumentException(
          "cannot copy %d bytes: the host segment has %d".formatted(bytes, segment.byteSize()));
    }
  }

  // ---- Devices

  /** The number of devices that this process may use. */
  public static int deviceGetCount() {
    try (var out = Scratch.borrow()) {
      check("cuDeviceGetCount", (int) DeviceGetCount.HANDLE.invokeExact(out.address()));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGetCount {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGetCount", cuda_h.cuDeviceGetCount$descriptor());
  }

  /** The {@code CUdevice} of an ordinal. */
  public static int deviceGet(int ordinal) {
    try (var out = Scratch.borrow()) {
      check("cuDeviceGet", (int) DeviceGet.HANDLE.invokeExact(out.address(), ordinal));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGet {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGet", cuda_h.cuDeviceGet$descriptor());
  }

  /** The device's name, such as {@code NVIDIA H200}. */
  public static String deviceGetName(int device) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(NAME_BYTES);
      check(
          "cuDeviceGetName",
          (int) DeviceGetName.HANDLE.invokeExact(name.address(), NAME_BYTES, device));
      return name.getString(0);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGetName {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGetName", cuda_h.cuDeviceGetName$descriptor());
  }

  /** The 16 bytes of the device's UUID; of a MIG instance, its own. */
  public static byte[] deviceGetUuid(int device) {
    try (var out = Scratch.borrow()) {
      check("cuDeviceGetUuid", (int) DeviceGetUuid.HANDLE.invokeExact(out.address(), device));
      return out.getBytes(16);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGetUuid {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGetUuid_v2", cuda_h.cuDeviceGetUuid_v2$descriptor());
  }

  /**
   * One attribute of a device.
   *
   * @param attribute a {@code CU_DEVICE_ATTRIBUTE_*}
   */
  public static int deviceGetAttribute(int attribute, int device) {
    try (var out = Scratch.borrow()) {
      check(
          "cuDeviceGetAttribute",
          (int) DeviceGetAttribute.HANDLE.invokeExact(out.address(), attribute, device));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGetAttribute", cuda_h.cuDeviceGetAttribute$descriptor());
  }

  /** The memory of a device, in bytes. */
  public static long deviceTotalMem(int device) {
    try (var out = Scratch.borrow()) {
      check("cuDeviceTotalMem", (int) DeviceTotalMem.HANDLE.invokeExact(out.address(), device));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceTotalMem {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceTotalMem_v2", cuda_h.cuDeviceTotalMem_v2$descriptor());
  }

  /** The PCI address, as in {@code 0000:3b:00.0}. */
  public static String deviceGetPCIBusId(int device) {
    try (var out = Scratch.borrow()) {
      check(
          "cuDeviceGetPCIBusId",
          (int) DeviceGetPCIBusId.HANDLE.invokeExact(out.address(), Scratch.BYTES, device));
      return NativeText.read(out.address());
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGetPCIBusId {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGetPCIBusId", cuda_h.cuDeviceGetPCIBusId$descriptor());
  }

  /** The {@code CUmemoryPool} that {@link #memAllocAsync} takes from. */
  public static long deviceGetDefaultMemPool(int device) {
    try (var out = Scratch.borrow()) {
      check(
          "cuDeviceGetDefaultMemPool",
          (int) DeviceGetDefaultMemPool.HANDLE.invokeExact(out.address(), device));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DeviceGetDefaultMemPool {
    static final MethodHandle HANDLE =
        Downcall.link("cuDeviceGetDefaultMemPool", cuda_h.cuDeviceGetDefaultMemPool$descriptor());
  }

  // ---- Contexts

  /**
   * Retains the primary context of a device, creating it if need be; returns the {@code CUcontext}.
   * Does not make it current.
   */
  public static long devicePrimaryCtxRetain(int device) {
    try (var out = Scratch.borrow()) {
      check(
          "cuDevicePrimaryCtxRetain",
          (int) DevicePrimaryCtxRetain.HANDLE.invokeExact(out.address(), device));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DevicePrimaryCtxRetain {
    static final MethodHandle HANDLE =
        Downcall.link("cuDevicePrimaryCtxRetain", cuda_h.cuDevicePrimaryCtxRetain$descriptor());
  }

  /** Gives back one {@link #devicePrimaryCtxRetain}. The last one destroys the context. */
  public static void devicePrimaryCtxRelease(int device) {
    try {
      check("cuDevicePrimaryCtxRelease", (int) DevicePrimaryCtxRelease.HANDLE.invokeExact(device));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DevicePrimaryCtxRelease {
    static final MethodHandle HANDLE =
        Downcall.link(
            "cuDevicePrimaryCtxRelease_v2", cuda_h.cuDevicePrimaryCtxRelease_v2$descriptor());
  }

  /** Flags of the primary context, and whether it exists. */
  public static PrimaryCtxState devicePrimaryCtxGetState(int device) {
    try (var out = Scratch.borrow()) {
      check(
          "cuDevicePrimaryCtxGetState",
          (int) DevicePrimaryCtxGetState.HANDLE.invokeExact(device, out.address(), out.second()));
      return new PrimaryCtxState(out.getInt(), out.getSecondInt() != 0);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class DevicePrimaryCtxGetState {
    static final MethodHandle HANDLE =
        Downcall.link("cuDevicePrimaryCtxGetState", cuda_h.cuDevicePrimaryCtxGetState$descriptor());
  }

  /** The {@code CUcontext} that is current on the calling thread; 0 if none is. */
  public static long ctxGetCurrent() {
    ThreadSlab slab = ThreadSlab.ofCurrentThread();
    if (slab == null) return ctxGetCurrentByScratch();
    try {
      check("cuCtxGetCurrent", (int) CtxGetCurrent.HANDLE.invokeExact(slab.address()));
      return slab.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static long ctxGetCurrentByScratch() {
    try (var out = Scratch.borrow()) {
      check("cuCtxGetCurrent", (int) CtxGetCurrent.HANDLE.invokeExact(out.address()));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxGetCurrent {
    static final MethodHandle HANDLE =
        Downcall.linkCritical("cuCtxGetCurrent", cuda_h.cuCtxGetCurrent$descriptor());
  }

  /** Makes a context current on the calling thread in place of the one that is; 0 for none. */
  public static void ctxSetCurrent(long context) {
    try {
      check("cuCtxSetCurrent", (int) CtxSetCurrent.HANDLE.invokeExact(context));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxSetCurrent {
    static final MethodHandle HANDLE =
        Downcall.linkCritical("cuCtxSetCurrent", cuda_h.cuCtxSetCurrent$descriptor());
  }

  /** Pushes a context on the calling thread's stack of contexts. */
  public static void ctxPushCurrent(long context) {
    try {
      check("cuCtxPushCurrent", (int) CtxPushCurrent.HANDLE.invokeExact(context));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxPushCurrent {
    static final MethodHandle HANDLE =
        Downcall.link("cuCtxPushCurrent_v2", cuda_h.cuCtxPushCurrent_v2$descriptor());
  }

  /** Pops the calling thread's stack of contexts; returns what was on top. */
  public static long ctxPopCurrent() {
    try (var out = Scratch.borrow()) {
      check("cuCtxPopCurrent", (int) CtxPopCurrent.HANDLE.invokeExact(out.address()));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxPopCurrent {
    static final MethodHandle HANDLE =
        Downcall.link("cuCtxPopCurrent_v2", cuda_h.cuCtxPopCurrent_v2$descriptor());
  }

  /** Waits for all work of the current context. */
  public static void ctxSynchronize() {
    try {
      check("cuCtxSynchronize", (int) CtxSynchronize.HANDLE.invokeExact());
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxSynchronize {
    static final MethodHandle HANDLE =
        Downcall.link("cuCtxSynchronize", cuda_h.cuCtxSynchronize$descriptor());
  }

  /**
   * A number that no other context of this process ever has, unlike the handle. Needs CUDA 12.0.
   *
   * @param context a {@code CUcontext}; 0 for the current one
   */
  public static long ctxGetId(long context) {
    try (var out = Scratch.borrow()) {
      check("cuCtxGetId", (int) CtxGetId.HANDLE.invokeExact(context, out.address()));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxGetId {
    static final MethodHandle HANDLE = Downcall.link("cuCtxGetId", cuda_h.cuCtxGetId$descriptor());
  }

  /** The {@code CUdevice} of the current context. */
  public static int ctxGetDevice() {
    try (var out = Scratch.borrow()) {
      check("cuCtxGetDevice", (int) CtxGetDevice.HANDLE.invokeExact(out.address()));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxGetDevice {
    static final MethodHandle HANDLE =
        Downcall.link("cuCtxGetDevice", cuda_h.cuCtxGetDevice$descriptor());
  }

  /** The priorities a stream may have in the current context. */
  public static StreamPriorityRange ctxGetStreamPriorityRange() {
    try (var out = Scratch.borrow()) {
      check(
          "cuCtxGetStreamPriorityRange",
          (int) CtxGetStreamPriorityRange.HANDLE.invokeExact(out.address(), out.second()));
      return new StreamPriorityRange(out.getInt(), out.getSecondInt());
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class CtxGetStreamPriorityRange {
    static final MethodHandle HANDLE =
        Downcall.link(
            "cuCtxGetStreamPriorityRange", cuda_h.cuCtxGetStreamPriorityRange$descriptor());
  }

  // ---- Streams

  /**
   * Creates a {@code CUstream} in the current context.
   *
   * @param flags {@code CU_STREAM_DEFAULT} (0) or {@code CU_STREAM_NON_BLOCKING} (1)
   * @param priority lower is more urgent; clamped to the range of {@link
   *     #ctxGetStreamPriorityRange}
   */
  public static long streamCreateWithPriority(int flags, int priority) {
    try (var out = Scratch.borrow()) {
      check(
          "cuStreamCreateWithPriority",
          (int) StreamCreateWithPriority.HANDLE.invokeExact(out.address(), flags, priority));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class StreamCreateWithPriority {
    static final MethodHandle HANDLE =
        Downcall.link("cuStreamCreateWithPriority", cuda_h.cuStreamCreateWithPriority$descriptor());
  }

  /**
   * Destroys a stream; work in it still completes. A later use of the handle may kill the process.
   */
  public static void streamDestroy(long stream) {
    try {
      check("cuStreamDestroy", (int) StreamDestroy.HANDLE.invokeExact(stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class StreamDestroy {
    static final MethodHandle HANDLE =
        Downcall.link("cuStreamDestroy_v2", cuda_h.cuStreamDestroy_v2$descriptor());
  }

  /** Waits for all work in a stream. */
  public static void streamSynchronize(long stream) {
    try {
      check("cuStreamSynchronize", (int) StreamSynchronize.HANDLE.invokeExact(stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class StreamSynchronize {
    static final MethodHandle HANDLE =
        Downcall.link("cuStreamSynchronize", cuda_h.cuStreamSynchronize$descriptor());
  }

  /**
   * Whether all work in a stream is done: {@link CudaResult#SUCCESS} if so, {@link
   * CudaResult#NOT_READY} if not, anything else is an error, not thrown.
   */
  public static CudaResult streamQuery(long stream) {
    try {
      return CudaResult.of((int) StreamQuery.HANDLE.invokeExact(stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class StreamQuery {
    static final MethodHandle HANDLE =
        Downcall.link("cuStreamQuery", cuda_h.cuStreamQuery$descriptor());
  }

  /**
   * Lets later work in a stream wait for an event. The calling thread does not wait.
   *
   * @param flags {@code CU_EVENT_WAIT_DEFAULT} (0) or {@code CU_EVENT_WAIT_EXTERNAL} (1)
   */
  public static void streamWaitEvent(long stream, long event, int flags) {
    try {
      check("cuStreamWaitEvent", (int) StreamWaitEvent.HANDLE.invokeExact(stream, event, flags));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class StreamWaitEvent {
    static final MethodHandle HANDLE =
        Downcall.link("cuStreamWaitEvent", cuda_h.cuStreamWaitEvent$descriptor());
  }

  /** A number that no other stream of this process ever has, unlike the handle. Needs CUDA 12.0. */
  public static long streamGetId(long stream) {
    try (var out = Scratch.borrow()) {
      check("cuStreamGetId", (int) StreamGetId.HANDLE.invokeExact(stream, out.address()));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class StreamGetId {
    static final MethodHandle HANDLE =
        Downcall.link("cuStreamGetId", cuda_h.cuStreamGetId$descriptor());
  }

  /**
   * Runs a task on a thread of the driver when the work now in a stream is done; later work in the
   * stream waits for it. The task must not call the driver. What it throws goes to that thread's
   * uncaught-exception handler. Not for streams being captured: a task runs once, a graph many
   * times.
   */
  public static void launchHostFunc(long stream, Runnable task) {
    long ticket = HostTasks.register(task);
    try {
      int code = (int) LaunchHostFunc.HANDLE.invokeExact(stream, HostTasks.trampoline(), ticket);
      if (code != 0) HostTasks.forget(ticket);
      check("cuLaunchHostFunc", code);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LaunchHostFunc {
    static final MethodHandle HANDLE =
        Downcall.link("cuLaunchHostFunc", cuda_h.cuLaunchHostFunc$descriptor());
  }

  // ---- Events

  /**
   * Creates a {@code CUevent} in the current context.
   *
   * @param flags any of {@code CU_EVENT_BLOCKING_SYNC} (1), {@code CU_EVENT_DISABLE_TIMING} (2)
   */
  public static long eventCreate(int flags) {
    try (var out = Scratch.borrow()) {
      check("cuEventCreate", (int) EventCreate.HANDLE.invokeExact(out.address(), flags));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class EventCreate {
    static final MethodHandle HANDLE =
        Downcall.link("cuEventCreate", cuda_h.cuEventCreate$descriptor());
  }

  /** Marks the work that is in a stream now. */
  public static void eventRecord(long event, long stream) {
    try {
      check("cuEventRecord", (int) EventRecord.HANDLE.invokeExact(event, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class EventRecord {
    static final MethodHandle HANDLE =
        Downcall.link("cuEventRecord", cuda_h.cuEventRecord$descriptor());
  }

  /**
   * Whether the marked work is done; answers as {@link #streamQuery}. An event never recorded is
   * done.
   */
  public static CudaResult eventQuery(long event) {
    try {
      return CudaResult.of((int) EventQuery.HANDLE.invokeExact(event));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class EventQuery {
    static final MethodHandle HANDLE =
        Downcall.link("cuEventQuery", cuda_h.cuEventQuery$descriptor());
  }

  /** Waits until the marked work is done. */
  public static void eventSynchronize(long event) {
    try {
      check("cuEventSynchronize", (int) EventSynchronize.HANDLE.invokeExact(event));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class EventSynchronize {
    static final MethodHandle HANDLE =
        Downcall.link("cuEventSynchronize", cuda_h.cuEventSynchronize$descriptor());
  }

  /** Time between two recorded and completed events, in milliseconds. Needs CUDA 12.8. */
  public static float eventElapsedTime(long start, long end) {
    try (var out = Scratch.borrow()) {
      check(
          "cuEventElapsedTime",
          (int) EventElapsedTime.HANDLE.invokeExact(out.address(), start, end));
      return out.getFloat();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class EventElapsedTime {
    static final MethodHandle HANDLE =
        Downcall.link("cuEventElapsedTime_v2", cuda_h.cuEventElapsedTime_v2$descriptor());
  }

  /** Destroys an event. */
  public static void eventDestroy(long event) {
    try {
      check("cuEventDestroy", (int) EventDestroy.HANDLE.invokeExact(event));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class EventDestroy {
    static final MethodHandle HANDLE =
        Downcall.link("cuEventDestroy_v2", cuda_h.cuEventDestroy_v2$descriptor());
  }

  // ---- Device memory

  /**
   * Allocates device memory in the current context; returns its address.
   *
   * @throws OutOfDeviceMemoryException if there is not enough
   */
  public static long memAlloc(long bytes) {
    try (var out = Scratch.borrow()) {
      check("cuMemAlloc", (int) MemAlloc.HANDLE.invokeExact(out.address(), bytes));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemAlloc {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemAlloc_v2", cuda_h.cuMemAlloc_v2$descriptor());
  }

  /** Frees what {@link #memAlloc} returned. Waits for work that may still use it. */
  public static void memFree(long address) {
    try {
      check("cuMemFree", (int) MemFree.HANDLE.invokeExact(address));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemFree {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemFree_v2", cuda_h.cuMemFree_v2$descriptor());
  }

  /**
   * Allocates device memory from the device's default pool; usable by work that follows in the
   * stream.
   *
   * @throws OutOfDeviceMemoryException if there is not enough
   */
  public static long memAllocAsync(long bytes, long stream) {
    try (var out = Scratch.borrow()) {
      check(
          "cuMemAllocAsync", (int) MemAllocAsync.HANDLE.invokeExact(out.address(), bytes, stream));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemAllocAsync {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemAllocAsync", cuda_h.cuMemAllocAsync$descriptor());
  }

  /** Gives memory back to its pool when the work now in the stream is done. */
  public static void memFreeAsync(long address, long stream) {
    try {
      check("cuMemFreeAsync", (int) MemFreeAsync.HANDLE.invokeExact(address, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemFreeAsync {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemFreeAsync", cuda_h.cuMemFreeAsync$descriptor());
  }

  /** Free and total memory of the current context's device. */
  public static MemInfo memGetInfo() {
    try (var out = Scratch.borrow()) {
      check("cuMemGetInfo", (int) MemGetInfo.HANDLE.invokeExact(out.address(), out.second()));
      return new MemInfo(out.getLong(), out.getSecondLong());
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemGetInfo {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemGetInfo_v2", cuda_h.cuMemGetInfo_v2$descriptor());
  }

  /**
   * Sets an attribute of a memory pool.
   *
   * @param attribute a {@code CU_MEMPOOL_ATTR_*}
   * @param value the value; of those that C has as {@code int}, the low 32 bits count
   */
  public static void memPoolSetAttribute(long pool, int attribute, long value) {
    try (var in = Scratch.borrow()) {
      in.setLong(value);
      check(
          "cuMemPoolSetAttribute",
          (int) MemPoolSetAttribute.HANDLE.invokeExact(pool, attribute, in.address()));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemPoolSetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemPoolSetAttribute", cuda_h.cuMemPoolSetAttribute$descriptor());
  }

  /**
   * One attribute of a memory pool; the attributes that C has as {@code int} are widened.
   *
   * @param attribute a {@code CU_MEMPOOL_ATTR_*}
   */
  public static long memPoolGetAttribute(long pool, int attribute) {
    try (var out = Scratch.borrow()) {
      out.setLong(0); // an int attribute writes four bytes only
      check(
          "cuMemPoolGetAttribute",
          (int) MemPoolGetAttribute.HANDLE.invokeExact(pool, attribute, out.address()));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemPoolGetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemPoolGetAttribute", cuda_h.cuMemPoolGetAttribute$descriptor());
  }

  /** Returns unused memory of a pool to the system, down to a number of bytes. */
  public static void memPoolTrimTo(long pool, long minBytesToKeep) {
    try {
      check("cuMemPoolTrimTo", (int) MemPoolTrimTo.HANDLE.invokeExact(pool, minBytesToKeep));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemPoolTrimTo {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemPoolTrimTo", cuda_h.cuMemPoolTrimTo$descriptor());
  }

  // ---- Pinned host memory

  /**
   * Allocates pinned host memory in the current context.
   *
   * @param flags any of {@code CU_MEMHOSTALLOC_PORTABLE} (1), {@code CU_MEMHOSTALLOC_DEVICEMAP}
   *     (2), {@code CU_MEMHOSTALLOC_WRITECOMBINED} (4)
   * @param scope how long the segment may be used from Java. Closing it does not free the memory:
   *     {@link #memFreeHost} does, after the close
   * @return a segment of {@code bytes} bytes, with whatever was in them
   * @throws OutOfDeviceMemoryException if there is not enough
   */
  public static MemorySegment memHostAlloc(long bytes, int flags, Arena scope) {
    try (var out = Scratch.borrow()) {
      check("cuMemHostAlloc", (int) MemHostAlloc.HANDLE.invokeExact(out.address(), bytes, flags));
      return MemorySegment.ofAddress(out.getLong()).reinterpret(bytes, scope, null);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemHostAlloc {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemHostAlloc", cuda_h.cuMemHostAlloc$descriptor());
  }

  /** Frees what {@link #memHostAlloc} returned. Waits for work that may still use it. */
  public static void memFreeHost(long address) {
    try {
      check("cuMemFreeHost", (int) MemFreeHost.HANDLE.invokeExact(address));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemFreeHost {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemFreeHost", cuda_h.cuMemFreeHost$descriptor());
  }

  // ---- Copies. Addresses and sizes in bytes

  /**
   * Copies from host to device.
   *
   * @param source native memory; a heap segment is refused
   */
  public static void memcpyHtoD(long destination, MemorySegment source, long bytes) {
    try {
      requireBytes(source, bytes);
      check("cuMemcpyHtoD", (int) MemcpyHtoD.HANDLE.invokeExact(destination, source, bytes));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemcpyHtoD {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemcpyHtoD_v2", cuda_h.cuMemcpyHtoD_v2$descriptor(), 1);
  }

  /**
   * Copies from device to host.
   *
   * @param destination native memory; a heap segment is refused
   */
  public static void memcpyDtoH(MemorySegment destination, long source, long bytes) {
    try {
      requireBytes(destination, bytes);
      check("cuMemcpyDtoH", (int) MemcpyDtoH.HANDLE.invokeExact(destination, source, bytes));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemcpyDtoH {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemcpyDtoH_v2", cuda_h.cuMemcpyDtoH_v2$descriptor(), 0);
  }

  /** Copies within device memory. The ranges must not overlap: the driver does not look. */
  public static void memcpyDtoD(long destination, long source, long bytes) {
    try {
      check("cuMemcpyDtoD", (int) MemcpyDtoD.HANDLE.invokeExact(destination, source, bytes));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemcpyDtoD {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemcpyDtoD_v2", cuda_h.cuMemcpyDtoD_v2$descriptor());
  }

  /**
   * Copies from host to device in stream order. The caller keeps {@code source} alive and unchanged
   * until the copy has passed; it is protected during this call only.
   */
  public static void memcpyHtoDAsync(
      long destination, MemorySegment source, long bytes, long stream) {
    try {
      requireBytes(source, bytes);
      check(
          "cuMemcpyHtoDAsync",
          (int) MemcpyHtoDAsync.HANDLE.invokeExact(destination, source, bytes, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemcpyHtoDAsync {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemcpyHtoDAsync_v2", cuda_h.cuMemcpyHtoDAsync_v2$descriptor(), 1);
  }

  /**
   * Copies from device to host in stream order. The caller keeps {@code destination} alive until
   * the copy has passed; it is protected during this call only.
   */
  public static void memcpyDtoHAsync(
      MemorySegment destination, long source, long bytes, long stream) {
    try {
      requireBytes(destination, bytes);
      check(
          "cuMemcpyDtoHAsync",
          (int) MemcpyDtoHAsync.HANDLE.invokeExact(destination, source, bytes, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemcpyDtoHAsync {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemcpyDtoHAsync_v2", cuda_h.cuMemcpyDtoHAsync_v2$descriptor(), 0);
  }

  /** Copies within device memory in stream order. */
  public static void memcpyDtoDAsync(long destination, long source, long bytes, long stream) {
    try {
      check(
          "cuMemcpyDtoDAsync",
          (int) MemcpyDtoDAsync.HANDLE.invokeExact(destination, source, bytes, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemcpyDtoDAsync {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemcpyDtoDAsync_v2", cuda_h.cuMemcpyDtoDAsync_v2$descriptor());
  }

  /** Sets {@code count} 8-bit elements. */
  public static void memsetD8(long address, byte value, long count) {
    try {
      check("cuMemsetD8", (int) MemsetD8.HANDLE.invokeExact(address, value, count));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemsetD8 {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemsetD8_v2", cuda_h.cuMemsetD8_v2$descriptor());
  }

  /** Sets {@code count} 8-bit elements in stream order. */
  public static void memsetD8Async(long address, byte value, long count, long stream) {
    try {
      check(
          "cuMemsetD8Async", (int) MemsetD8Async.HANDLE.invokeExact(address, value, count, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemsetD8Async {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemsetD8Async", cuda_h.cuMemsetD8Async$descriptor());
  }

  /** Sets {@code count} 16-bit elements. The address is a multiple of 2. */
  public static void memsetD16(long address, short value, long count) {
    try {
      check("cuMemsetD16", (int) MemsetD16.HANDLE.invokeExact(address, value, count));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemsetD16 {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemsetD16_v2", cuda_h.cuMemsetD16_v2$descriptor());
  }

  /** Sets {@code count} 16-bit elements in stream order. The address is a multiple of 2. */
  public static void memsetD16Async(long address, short value, long count, long stream) {
    try {
      check(
          "cuMemsetD16Async",
          (int) MemsetD16Async.HANDLE.invokeExact(address, value, count, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemsetD16Async {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemsetD16Async", cuda_h.cuMemsetD16Async$descriptor());
  }

  /** Sets {@code count} 32-bit elements. The address is a multiple of 4. */
  public static void memsetD32(long address, int value, long count) {
    try {
      check("cuMemsetD32", (int) MemsetD32.HANDLE.invokeExact(address, value, count));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemsetD32 {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemsetD32_v2", cuda_h.cuMemsetD32_v2$descriptor());
  }

  /** Sets {@code count} 32-bit elements in stream order. The address is a multiple of 4. */
  public static void memsetD32Async(long address, int value, long count, long stream) {
    try {
      check(
          "cuMemsetD32Async",
          (int) MemsetD32Async.HANDLE.invokeExact(address, value, count, stream));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class MemsetD32Async {
    static final MethodHandle HANDLE =
        Downcall.link("cuMemsetD32Async", cuda_h.cuMemsetD32Async$descriptor());
  }

  // ---- Images and kernels

  /**
   * Loads an image, independent of any context; returns the {@code CUlibrary}. The driver looks at
   * it lazily: junk passes here and shows in {@link #libraryGetModule}.
   *
   * @param image a cubin, fatbin or zero-terminated PTX in native memory; may be freed afterwards
   * @param log where the compiler writes if the image is PTX; lives until the library is unloaded
   * @throws InvalidImageException if the driver refuses the image
   */
  public static long libraryLoadData(MemorySegment image, JitLog log) {
    try (var out = Scratch.borrow()) {
      int code =
          (int)
              LibraryLoadData.HANDLE.invokeExact(
                  out.address(),
                  image,
                  log.options(),
                  log.optionValues(),
                  log.optionCount(),
                  0L,
                  0L,
                  0);
      if (code != 0) throw CudaException.of("cuLibraryLoadData", code, log.errors());
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LibraryLoadData {
    static final MethodHandle HANDLE =
        Downcall.link("cuLibraryLoadData", cuda_h.cuLibraryLoadData$descriptor(), 1);
  }

  /** Unloads a library. Its kernels must not be in use. */
  public static void libraryUnload(long library) {
    try {
      check("cuLibraryUnload", (int) LibraryUnload.HANDLE.invokeExact(library));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LibraryUnload {
    static final MethodHandle HANDLE =
        Downcall.link("cuLibraryUnload", cuda_h.cuLibraryUnload$descriptor());
  }

  /**
   * The {@code CUmodule} of a library in the current context; loads it there, so that a bad image
   * shows.
   *
   * @throws InvalidImageException if the driver refuses the image
   */
  public static long libraryGetModule(long library) {
    try (var out = Scratch.borrow()) {
      check(
          "cuLibraryGetModule", (int) LibraryGetModule.HANDLE.invokeExact(out.address(), library));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LibraryGetModule {
    static final MethodHandle HANDLE =
        Downcall.link("cuLibraryGetModule", cuda_h.cuLibraryGetModule$descriptor());
  }

  /**
   * The {@code CUkernel} of a name.
   *
   * @param name the symbol in the image
   */
  public static long libraryGetKernel(long library, String name) {
    try (var out = Scratch.borrow();
        Arena arena = Arena.ofConfined()) {
      int code =
          (int)
              LibraryGetKernel.HANDLE.invokeExact(
                  out.address(), library, arena.allocateFrom(name).address());
      if (code != 0) throw CudaException.of("cuLibraryGetKernel", code, "asked for " + name);
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LibraryGetKernel {
    static final MethodHandle HANDLE =
        Downcall.link("cuLibraryGetKernel", cuda_h.cuLibraryGetKernel$descriptor());
  }

  /**
   * Address and size of a {@code __device__} variable in the current context.
   *
   * @param name the symbol in the image
   */
  public static DeviceGlobal libraryGetGlobal(long library, String name) {
    try (var out = Scratch.borrow();
        Arena arena = Arena.ofConfined()) {
      int code =
          (int)
              LibraryGetGlobal.HANDLE.invokeExact(
                  out.address(), out.second(), library, arena.allocateFrom(name).address());
      if (code != 0) throw CudaException.of("cuLibraryGetGlobal", code, "asked for " + name);
      return new DeviceGlobal(out.getLong(), out.getSecondLong());
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LibraryGetGlobal {
    static final MethodHandle HANDLE =
        Downcall.link("cuLibraryGetGlobal", cuda_h.cuLibraryGetGlobal$descriptor());
  }

  /** The {@code CUfunction} of a kernel in the current context. */
  public static long kernelGetFunction(long kernel) {
    try (var out = Scratch.borrow()) {
      check(
          "cuKernelGetFunction", (int) KernelGetFunction.HANDLE.invokeExact(out.address(), kernel));
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class KernelGetFunction {
    static final MethodHandle HANDLE =
        Downcall.link("cuKernelGetFunction", cuda_h.cuKernelGetFunction$descriptor());
  }

  /**
   * One attribute of a kernel on a device.
   *
   * @param attribute a {@code CU_FUNC_ATTRIBUTE_*}
   */
  public static int kernelGetAttribute(int attribute, long kernel, int device) {
    try (var out = Scratch.borrow()) {
      check(
          "cuKernelGetAttribute",
          (int) KernelGetAttribute.HANDLE.invokeExact(out.address(), attribute, kernel, device));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class KernelGetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuKernelGetAttribute", cuda_h.cuKernelGetAttribute$descriptor());
  }

  /**
   * Sets an attribute of a kernel on a device.
   *
   * @param attribute a {@code CU_FUNC_ATTRIBUTE_*}
   */
  public static void kernelSetAttribute(int attribute, int value, long kernel, int device) {
    try {
      check(
          "cuKernelSetAttribute",
          (int) KernelSetAttribute.HANDLE.invokeExact(attribute, value, kernel, device));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class KernelSetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuKernelSetAttribute", cuda_h.cuKernelSetAttribute$descriptor());
  }

  /**
   * Loads an image into the current context; returns the {@code CUmodule}.
   *
   * @param image a cubin, fatbin or zero-terminated PTX in native memory; may be freed afterwards
   * @param log where the compiler writes if the image is PTX
   * @throws InvalidImageException if the driver refuses the image
   */
  public static long moduleLoadDataEx(MemorySegment image, JitLog log) {
    try (var out = Scratch.borrow()) {
      int code =
          (int)
              ModuleLoadDataEx.HANDLE.invokeExact(
                  out.address(), image, log.optionCount(), log.options(), log.optionValues());
      if (code != 0) throw CudaException.of("cuModuleLoadDataEx", code, log.errors());
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class ModuleLoadDataEx {
    static final MethodHandle HANDLE =
        Downcall.link("cuModuleLoadDataEx", cuda_h.cuModuleLoadDataEx$descriptor(), 1);
  }

  /**
   * The {@code CUfunction} of a name.
   *
   * @param name the symbol in the image
   */
  public static long moduleGetFunction(long module, String name) {
    try (var out = Scratch.borrow();
        Arena arena = Arena.ofConfined()) {
      int code =
          (int)
              ModuleGetFunction.HANDLE.invokeExact(
                  out.address(), module, arena.allocateFrom(name).address());
      if (code != 0) throw CudaException.of("cuModuleGetFunction", code, "asked for " + name);
      return out.getLong();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class ModuleGetFunction {
    static final MethodHandle HANDLE =
        Downcall.link("cuModuleGetFunction", cuda_h.cuModuleGetFunction$descriptor());
  }

  /** Unloads a module. Its functions must not be in use. */
  public static void moduleUnload(long module) {
    try {
      check("cuModuleUnload", (int) ModuleUnload.HANDLE.invokeExact(module));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class ModuleUnload {
    static final MethodHandle HANDLE =
        Downcall.link("cuModuleUnload", cuda_h.cuModuleUnload$descriptor());
  }

  /**
   * One attribute of a function.
   *
   * @param attribute a {@code CU_FUNC_ATTRIBUTE_*}
   */
  public static int funcGetAttribute(int attribute, long function) {
    try (var out = Scratch.borrow()) {
      check(
          "cuFuncGetAttribute",
          (int) FuncGetAttribute.HANDLE.invokeExact(out.address(), attribute, function));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class FuncGetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuFuncGetAttribute", cuda_h.cuFuncGetAttribute$descriptor());
  }

  /**
   * Sets an attribute of a function.
   *
   * @param attribute a {@code CU_FUNC_ATTRIBUTE_*}
   */
  public static void funcSetAttribute(long function, int attribute, int value) {
    try {
      check(
          "cuFuncSetAttribute",
          (int) FuncSetAttribute.HANDLE.invokeExact(function, attribute, value));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class FuncSetAttribute {
    static final MethodHandle HANDLE =
        Downcall.link("cuFuncSetAttribute", cuda_h.cuFuncSetAttribute$descriptor());
  }

  /**
   * Where a parameter of a function lies, or empty if it has no such parameter: counting up from 0
   * until then gives the number of parameters. Needs CUDA 12.4.
   *
   * @param index the parameter, from 0
   */
  public static Optional<ParamInfo> funcGetParamInfo(long function, int index) {
    try (var out = Scratch.borrow()) {
      int code =
          (int)
              FuncGetParamInfo.HANDLE.invokeExact(
                  function, (long) index, out.address(), out.second());
      if (code == CudaResult.INVALID_VALUE.code()) return Optional.empty();
      check("cuFuncGetParamInfo", code);
      return Optional.of(new ParamInfo(out.getLong(), out.getSecondLong()));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class FuncGetParamInfo {
    static final MethodHandle HANDLE =
        Downcall.link("cuFuncGetParamInfo", cuda_h.cuFuncGetParamInfo$descriptor());
  }

  /** Loads a function now, where the driver would load it at its first launch. Needs CUDA 12.4. */
  public static void funcLoad(long function) {
    try {
      check("cuFuncLoad", (int) FuncLoad.HANDLE.invokeExact(function));
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class FuncLoad {
    static final MethodHandle HANDLE = Downcall.link("cuFuncLoad", cuda_h.cuFuncLoad$descriptor());
  }

  // ---- Launches

  /** How many blocks of a function one multiprocessor holds at once. */
  public static int occupancyMaxActiveBlocksPerMultiprocessor(
      long function, int blockThreads, long dynamicSharedBytes) {
    try (var out = Scratch.borrow()) {
      check(
          "cuOccupancyMaxActiveBlocksPerMultiprocessor",
          (int)
              OccupancyMaxActiveBlocksPerMultiprocessor.HANDLE.invokeExact(
                  out.address(), function, blockThreads, dynamicSharedBytes));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class OccupancyMaxActiveBlocksPerMultiprocessor {
    static final MethodHandle HANDLE =
        Downcall.link(
            "cuOccupancyMaxActiveBlocksPerMultiprocessor",
            cuda_h.cuOccupancyMaxActiveBlocksPerMultiprocessor$descriptor());
  }

  /**
   * How many clusters of a function the device holds at once.
   *
   * @param config address of a {@code CUlaunchConfig} with the cluster's shape among its attributes
   */
  public static int occupancyMaxActiveClusters(long function, long config) {
    try (var out = Scratch.borrow()) {
      check(
          "cuOccupancyMaxActiveClusters",
          (int) OccupancyMaxActiveClusters.HANDLE.invokeExact(out.address(), function, config));
      return out.getInt();
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class OccupancyMaxActiveClusters {
    static final MethodHandle HANDLE =
        Downcall.link(
            "cuOccupancyMaxActiveClusters", cuda_h.cuOccupancyMaxActiveClusters$descriptor());
  }

  /**
   * Launches a function. The code is returned, not checked, so that this stays small enough to be
   * inlined: pass it to {@link #check} with {@code "cuLaunchKernel"}.
   *
   * @param sharedBytes dynamic shared memory of a block
   * @param stream a {@code CUstream}; 0 is the legacy default stream
   * @param parameters address of an array of addresses, one for each parameter's value. The driver
   *     has copied the values when the call returns; the caller keeps them alive until then
   * @return the {@code CUresult}
   */
  public static int launchKernel(
      long function,
      int gridX,
      int gridY,
      int gridZ,
      int blockX,
      int blockY,
      int blockZ,
      int sharedBytes,
      long stream,
      long parameters) {
    try {
      return (int)
          LaunchKernel.HANDLE.invokeExact(
              function,
              gridX,
              gridY,
              gridZ,
              blockX,
              blockY,
              blockZ,
              sharedBytes,
              stream,
              parameters,
              0L);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LaunchKernel {
    static final MethodHandle HANDLE =
        Downcall.link("cuLaunchKernel", cuda_h.cuLaunchKernel$descriptor());
  }

  /**
   * Launches a function with attributes (clusters, cooperative and dependent launches). As {@link
   * #launchKernel}, the code is returned, not checked.
   *
   * @param config address of a {@code CUlaunchConfig}; it and its attributes live during the call
   * @param parameters as for {@link #launchKernel}
   * @return the {@code CUresult}
   */
  public static int launchKernelEx(long config, long function, long parameters) {
    try {
      return (int) LaunchKernelEx.HANDLE.invokeExact(config, function, parameters, 0L);
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class LaunchKernelEx {
    static final MethodHandle HANDLE =
        Downcall.link("cuLaunchKernelEx", cuda_h.cuLaunchKernelEx$descriptor());
  }

  /**
   * State of a primary context.
   *
   * @param flags the {@code CU_CTX_*} flags it has or will have
   * @param active whether it exists
   */
  public record PrimaryCtxState(int flags, boolean active) {}

  /**
   * Stream priorities; lower numbers are more urgent.
   *
   * @param least the least urgent priority
   * @param greatest the most urgent priority
   */
  public record StreamPriorityRange(int least, int greatest) {}

  /**
   * Device memory.
   *
   * @param freeBytes what could be allocated now
   * @param totalBytes what the device has
   */
  public record MemInfo(long freeBytes, long totalBytes) {}

  /**
   * A {@code __device__} variable.
   *
   * @param address its device address
   * @param bytes its size
   */
  public record DeviceGlobal(long address, long bytes) {}

  /**
   * Where a parameter lies in a function's parameter block.
   *
   * @param offset in bytes
   * @param bytes its size
   */
  public record ParamInfo(long offset, long bytes) {}
}
