package dev.culebra.benchmarks.peers;

import dev.culebra.benchmarks.calls.Contender;
import dev.culebra.benchmarks.calls.LaunchTarget;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUfunction;
import jcuda.driver.CUmodule;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** JCuda, with its parameter pointers made once: its fastest use. */
@SuppressWarnings("NullAway.Init") // open() comes first
public final class JCuda implements Contender {
  private final CUcontext current = new CUcontext();
  private final CUmodule module = new CUmodule();
  private final CUfunction function = new CUfunction();
  private final CUstream stream = new CUstream();
  private Pointer parameters;

  @Override
  public String name() {
    return "JCuda 12.6.0";
  }

  @Override
  public void open(LaunchTarget target) {
    JCudaDriver.setExceptionsEnabled(true);
    JCudaDriver.cuInit(0);
    JCudaDriver.cuModuleLoadData(module, target.image().toByteArray());
    JCudaDriver.cuModuleGetFunction(function, module, target.symbol());
    JCudaDriver.cuStreamCreate(stream, 1 /* CU_STREAM_NON_BLOCKING */);
    parameters =
        Pointer.to(
            Pointer.to(new long[] {target.out()}),
            Pointer.to(new float[] {target.value()}),
            Pointer.to(new long[] {target.count()}));
  }

  @Override
  public void getCurrent(int calls) {
    for (int i = 0; i < calls; i++) {
      JCudaDriver.cuCtxGetCurrent(current);
    }
  }

  @Override
  public void launch(int launches) {
    for (int i = 1; i <= launches; i++) {
      JCudaDriver.cuLaunchKernel(
          function, 1, 1, 1, LaunchTarget.BLOCK_THREADS, 1, 1, 0, stream, parameters, null);
      if (i % LaunchTarget.SYNC_EVERY == 0) {
        JCudaDriver.cuStreamSynchronize(stream);
      }
    }
    JCudaDriver.cuStreamSynchronize(stream);
  }

  @Override
  public void close() {
    JCudaDriver.cuStreamDestroy(stream);
    JCudaDriver.cuModuleUnload(module);
  }
}
