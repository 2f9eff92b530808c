package dev.culebra.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.culebra.generated.CUlaunchAttributeValue_union;
import dev.culebra.generated.CUlaunchAttribute_st;
import dev.culebra.generated.CUlaunchConfig_st;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** What the driver finds in the struct, read by jextract's accessors. */
class ClusterLaunchTest {

  @Test
  @DisplayName("every size is in its field, and the cluster in the only attribute")
  void structIsFilled() {
    FakeDriver fake = FakeDriver.install();
    ClusterLaunch launch = new ClusterLaunch();
    launch.grid(16, 15, 14);
    launch.block(13, 12, 11);
    launch.cluster(4, 3, 2);
    launch.sharedBytes(10);
    assertEquals(0, launch.launch(9, 1L << 40, 8));

    MemorySegment struct = launch.memory();
    assertEquals(List.of(struct.address(), 9L, 8L, 0L), fake.lastArguments());
    assertEquals(16, CUlaunchConfig_st.gridDimX(struct));
    assertEquals(15, CUlaunchConfig_st.gridDimY(struct));
    assertEquals(14, CUlaunchConfig_st.gridDimZ(struct));
    assertEquals(13, CUlaunchConfig_st.blockDimX(struct));
    assertEquals(12, CUlaunchConfig_st.blockDimY(struct));
    assertEquals(11, CUlaunchConfig_st.blockDimZ(struct));
    assertEquals(10, CUlaunchConfig_st.sharedMemBytes(struct));
    assertEquals(1L << 40, CUlaunchConfig_st.hStream(struct).address());
    assertEquals(1, CUlaunchConfig_st.numAttrs(struct));
    long attribute = CUlaunchConfig_st.attrs(struct).address() - struct.address();
    assertEquals(CUlaunchConfig_st.sizeof(), attribute);
    MemorySegment only = struct.asSlice(attribute);
    assertEquals(CUlaunchAttribute_st.sizeof(), only.byteSize());
    assertEquals(4, CUlaunchAttribute_st.id(only), "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION");
    MemorySegment shape = CUlaunchAttributeValue_union.clusterDim(CUlaunchAttribute_st.value(only));
    assertEquals(4, CUlaunchAttributeValue_union.clusterDim.x(shape));
    assertEquals(3, CUlaunchAttributeValue_union.clusterDim.y(shape));
    assertEquals(2, CUlaunchAttributeValue_union.clusterDim.z(shape));

    assertEquals(109, launch.maxActive(9));
    assertEquals(List.of(9L, struct.address()), fake.lastArguments());
  }
}
