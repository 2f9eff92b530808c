package dev.culebra.benchmarks.peers;

import dev.culebra.benchmarks.calls.Contender;
import dev.culebra.benchmarks.calls.LaunchTarget;
import dev.culebra.bindings.Driver;
import java.nio.ByteBuffer;
import org.lwjgl.PointerBuffer;
import org.lwjgl.Version;
import org.lwjgl.cuda.CU;
import org.lwjgl.system.Configuration;
import org.lwjgl.system.MemoryUtil;

/** LWJGL, with its native buffers made once and its checks on, as it is shipped. */
@SuppressWarnings("NullAway.Init") // open() comes first
public final class Lwjgl implements Contender {
  private PointerBuffer out;
  private PointerBuffer parameters;
  private ByteBuffer arguments;
  private long module;
  private long function;
  private long stream;

  @Override
  public String name() {
    return "LWJGL "
        + Version.VERSION_MAJOR
        + "."
        + Version.VERSION_MINOR
        + "."
        + Version.VERSION_REVISION;
  }

  @Override
  public void open(LaunchTarget target) {
    // Its own search is for libcuda.so, which only a toolkit installs.
    Configuration.CUDA_LIBRARY_NAME.set(Driver.opened().library());
    out = MemoryUtil.memAllocPointer(1);
    byte[] bytes = target.image().toByteArray();
    ByteBuffer image = MemoryUtil.memAlloc(bytes.length);
    try {
      check(CU.cuInit(0));
      check(CU.cuModuleLoadData(out, image.put(bytes).flip()));
      module = out.get(0);
      check(CU.cuModuleGetFunction(out, module, target.symbol()));
      function = out.get(0);
      check(CU.cuStreamCreate(out, CU.CU_STREAM_NON_BLOCKING));
      stream = out.get(0);
    } finally {
      MemoryUtil.memFree(image);
    }
    arguments = MemoryUtil.memAlloc(24);
    arguments.putLong(0, target.out()).putFloat(8, target.value()).putLong(16, target.count());
    long address = MemoryUtil.memAddress(arguments);
    parameters = MemoryUtil.memAllocPointer(3);
    parameters.put(0, address).put(1, address + 8).put(2, address + 16);
  }

  @Override
  public void getCurrent(int calls) {
    for (int i = 0; i < calls; i++) {
      check(CU.cuCtxGetCurrent(out));
    }
  }

  @Override
  public void launch(int launches) {
    for (int i = 1; i <= launches; i++) {
      check(
          CU.cuLaunchKernel(
              function, 1, 1, 1, LaunchTarget.BLOCK_THREADS, 1, 1, 0, stream, parameters, null));
      if (i % LaunchTarget.SYNC_EVERY == 0) {
        check(CU.cuStreamSynchronize(stream));
      }
    }
    check(CU.cuStreamSynchronize(stream));
  }

  @Override
  public void close() {
    check(CU.cuStreamDestroy(stream));
    check(CU.cuModuleUnload(module));
    MemoryUtil.memFree(parameters);
    MemoryUtil.memFree(arguments);
    MemoryUtil.memFree(out);
  }

  private static void check(int result) {
    if (result != 0) {
      throw new IllegalStateException("CUresult " + result);
    }
  }
}
