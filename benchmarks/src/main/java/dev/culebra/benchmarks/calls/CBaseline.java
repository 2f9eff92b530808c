package dev.culebra.benchmarks.calls;

import dev.culebra.bindings.Driver;
import dev.culebra.bindings.JitLog;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * The loops in C ({@code driver_loops.c}) that contenders are compared with. One call from Java
 * runs a whole loop, so that the cost of that call is shared by thousands.
 */
final class CBaseline implements AutoCloseable {
  private static final ValueLayout.OfLong POINTER = ValueLayout.JAVA_LONG;

  private final Arena arena = Arena.ofConfined();
  private final MethodHandle getCurrentLoop;
  private final MethodHandle launchLoop;
  private final long getCurrent;
  private final long launchKernel;
  private final long streamSynchronize;
  private final MemorySegment parameters;
  private final long library;
  private final long function;
  private final long stream;

  CBaseline(LaunchTarget target) {
    getCurrentLoop =
        NativeCode.DRIVER_LOOPS.link(
            "culebra_baseline_ctx_get_current",
            FunctionDescriptor.of(ValueLayout.JAVA_INT, POINTER, ValueLayout.JAVA_LONG));
    launchLoop =
        NativeCode.DRIVER_LOOPS.link(
            "culebra_baseline_launch",
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT,
                POINTER,
                POINTER,
                POINTER,
                ValueLayout.JAVA_INT,
                ValueLayout.JAVA_INT,
                POINTER,
                POINTER,
                ValueLayout.JAVA_LONG,
                ValueLayout.JAVA_LONG));
    Driver.installResolver();
    getCurrent = cuda_h.cuCtxGetCurrent$address().address();
    launchKernel = cuda_h.cuLaunchKernel$address().address();
    streamSynchronize = cuda_h.cuStreamSynchronize$address().address();

    byte[] image = target.image().toByteArray();
    MemorySegment nativeImage =
        arena.allocate(image.length, 16).copyFrom(MemorySegment.ofArray(image));
    library = Driver.libraryLoadData(nativeImage, new JitLog(arena));
    function = Driver.kernelGetFunction(Driver.libraryGetKernel(library, target.symbol()));
    stream = Driver.streamCreateWithPriority(1 /* CU_STREAM_NON_BLOCKING */, 0);

    MemorySegment values = arena.allocate(24, 8);
    values.set(ValueLayout.JAVA_LONG, 0, target.out());
    values.set(ValueLayout.JAVA_FLOAT, 8, target.value());
    values.set(ValueLayout.JAVA_LONG, 16, target.count());
    parameters = arena.allocate(ValueLayout.JAVA_LONG, 3);
    for (int i = 0; i < 3; i++) {
      parameters.setAtIndex(ValueLayout.JAVA_LONG, i, values.address() + 8L * i);
    }
  }

  void getCurrent(int calls) throws Throwable {
    Driver.check("cuCtxGetCurrent", (int) getCurrentLoop.invokeExact(getCurrent, (long) calls));
  }

  void launch(int launches) throws Throwable {
    Driver.check(
        "cuLaunchKernel",
        (int)
            launchLoop.invokeExact(
                launchKernel,
                streamSynchronize,
                function,
                1,
                LaunchTarget.BLOCK_THREADS,
                stream,
                parameters.address(),
                (long) launches,
                (long) LaunchTarget.SYNC_EVERY));
  }

  /** The function that is launched, for who else launches it. */
  MemorySegment function() {
    return MemorySegment.ofAddress(function);
  }

  MemorySegment stream() {
    return MemorySegment.ofAddress(stream);
  }

  /** The addresses of its arguments. */
  MemorySegment parameters() {
    return parameters;
  }

  /** Waits for what was launched into {@link #stream}. */
  void synchronize() {
    Driver.streamSynchronize(stream);
  }

  @Override
  public void close() {
    Driver.streamDestroy(stream);
    Driver.libraryUnload(library);
    arena.close();
  }
}
