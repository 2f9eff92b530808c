package dev.culebra.benchmarks.peers;

import dev.culebra.benchmarks.calls.Contender;
import dev.culebra.benchmarks.calls.LaunchTarget;
import java.nio.file.Path;
import java.util.List;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.cudart;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.FloatPointer;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;

/**
 * JavaCPP's CUDA presets, with the parameter pointers made once: its fastest use. Their library
 * wants CUDA's runtime, {@code libcudart.so.13}, beside the driver; where the system's linker finds
 * none, this contender has a failure with that as its reason.
 */
@SuppressWarnings("NullAway.Init") // open() comes first
public final class JavaCpp implements Contender {
  private CUctx_st current;
  private CUmod_st module;
  private CUfunc_st function;
  private CUstream_st stream;

  /** The arguments. To be held: what a pointer of JavaCPP's points to is freed with it. */
  private List<Pointer> arguments;

  private PointerPointer<Pointer> parameters;

  @Override
  public String name() {
    return "JavaCPP 1.5.13";
  }

  @Override
  public void open(LaunchTarget target) {
    // Where it unpacks its libraries: not beside the user's other caches, where they would stay.
    System.setProperty(
        "org.bytedeco.javacpp.cachedir",
        Path.of(System.getProperty("java.io.tmpdir"), "culebra-javacpp").toString());
    current = new CUctx_st();
    module = new CUmod_st();
    function = new CUfunc_st();
    stream = new CUstream_st();
    check(cudart.cuInit(0));
    check(cudart.cuModuleLoadData(module, new BytePointer(target.image().toByteArray())));
    check(cudart.cuModuleGetFunction(function, module, target.symbol()));
    check(cudart.cuStreamCreate(stream, 1 /* CU_STREAM_NON_BLOCKING */));
    arguments =
        List.of(
            new LongPointer(new long[] {target.out()}),
            new FloatPointer(new float[] {target.value()}),
            new LongPointer(new long[] {target.count()}));
    parameters = new PointerPointer<>(arguments.size());
    for (int i = 0; i < arguments.size(); i++) {
      parameters.put(i, arguments.get(i));
    }
  }

  @Override
  public void getCurrent(int calls) {
    for (int i = 0; i < calls; i++) {
      check(cudart.cuCtxGetCurrent(current));
    }
  }

  @Override
  public void launch(int launches) {
    for (int i = 1; i <= launches; i++) {
      check(
          cudart.cuLaunchKernel(
              function, 1, 1, 1, LaunchTarget.BLOCK_THREADS, 1, 1, 0, stream, parameters, null));
      if (i % LaunchTarget.SYNC_EVERY == 0) {
        check(cudart.cuStreamSynchronize(stream));
      }
    }
    check(cudart.cuStreamSynchronize(stream));
  }

  @Override
  public void close() {
    if (parameters != null) {
      check(cudart.cuStreamDestroy(stream));
      check(cudart.cuModuleUnload(module));
      parameters.close();
      arguments.forEach(Pointer::close);
    }
  }

  private static void check(int result) {
    if (result != 0) {
      throw new IllegalStateException("CUresult " + result);
    }
  }
}
