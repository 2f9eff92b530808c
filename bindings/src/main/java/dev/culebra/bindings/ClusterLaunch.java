package dev.culebra.bindings;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.culebra.generated.CUlaunchAttributeValue_union;
import dev.culebra.generated.CUlaunchAttribute_st;
import dev.culebra.generated.CUlaunchConfig_st;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;

/**
 * A {@code CUlaunchConfig} whose one attribute is the cluster's shape. Its memory is taken once;
 * changing and launching allocate nothing. As in {@link Driver}, nothing is checked.
 *
 * <p>For one thread at a time. The garbage collector takes its memory.
 */
public final class ClusterLaunch {

  private static final long ATTRIBUTE = CUlaunchConfig_st.sizeof();
  private static final long CLUSTER = ATTRIBUTE + CUlaunchAttribute_st.value$offset();
  private static final long CLUSTER_X =
      CLUSTER + CUlaunchAttributeValue_union.clusterDim.x$offset();
  private static final long CLUSTER_Y =
      CLUSTER + CUlaunchAttributeValue_union.clusterDim.y$offset();
  private static final long CLUSTER_Z =
      CLUSTER + CUlaunchAttributeValue_union.clusterDim.z$offset();
  private static final long STREAM = CUlaunchConfig_st.hStream$offset();

  private final MemorySegment memory;
  private final long address;

  /** A launch of nothing, until the sizes are set. */
  public ClusterLaunch() {
    memory =
        Arena.ofAuto()
            .allocate(
                ATTRIBUTE + CUlaunchAttribute_st.sizeof(),
                CUlaunchConfig_st.layout().byteAlignment());
    address = memory.address();
    memory.set(JAVA_LONG, CUlaunchConfig_st.attrs$offset(), address + ATTRIBUTE);
    memory.set(JAVA_INT, CUlaunchConfig_st.numAttrs$offset(), 1);
    memory.set(
        JAVA_INT,
        ATTRIBUTE + CUlaunchAttribute_st.id$offset(),
        cuda_h.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION());
  }

  /** Sets the blocks of the grid: all of them, not the clusters. */
  public void grid(int x, int y, int z) {
    memory.set(JAVA_INT, CUlaunchConfig_st.gridDimX$offset(), x);
    memory.set(JAVA_INT, CUlaunchConfig_st.gridDimY$offset(), y);
    memory.set(JAVA_INT, CUlaunchConfig_st.gridDimZ$offset(), z);
  }

  /** Sets the threads of a block. */
  public void block(int x, int y, int z) {
    memory.set(JAVA_INT, CUlaunchConfig_st.blockDimX$offset(), x);
    memory.set(JAVA_INT, CUlaunchConfig_st.blockDimY$offset(), y);
    memory.set(JAVA_INT, CUlaunchConfig_st.blockDimZ$offset(), z);
  }

  /** Sets the blocks of a cluster. */
  public void cluster(int x, int y, int z) {
    memory.set(JAVA_INT, CLUSTER_X, x);
    memory.set(JAVA_INT, CLUSTER_Y, y);
    memory.set(JAVA_INT, CLUSTER_Z, z);
  }

  /** Sets the dynamic shared memory of a block, in bytes. */
  public void sharedBytes(int bytes) {
    memory.set(JAVA_INT, CUlaunchConfig_st.sharedMemBytes$offset(), bytes);
  }

  /**
   * Launches a function; see {@link Driver#launchKernelEx}.
   *
   * @param stream a {@code CUstream}
   * @param parameters as for {@link Driver#launchKernel}
   * @return the {@code CUresult}, not checked
   */
  public int launch(long function, long stream, long parameters) {
    memory.set(JAVA_LONG, STREAM, stream);
    try {
      return Driver.launchKernelEx(address, function, parameters);
    } finally {
      Reference.reachabilityFence(memory);
    }
  }

  /** How many such clusters of a function the device holds at once. Needs a current context. */
  public int maxActive(long function) {
    try {
      return Driver.occupancyMaxActiveClusters(function, address);
    } finally {
      Reference.reachabilityFence(memory);
    }
  }

  /** The struct and, behind it, its attribute. */
  MemorySegment memory() {
    return memory;
  }
}
