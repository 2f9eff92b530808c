package dev.culebra.ops;

import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.ComputeCapability;
import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.ops.SoftmaxPlan.Variant;
import dev.culebra.ops.SoftmaxPlan.Wanted;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SoftmaxPlanTest {

  private static final ComputeCapability HOPPER = new ComputeCapability(9, 0);
  private static final ComputeCapability AMPERE = new ComputeCapability(8, 0);
  private static final int HOPPER_SHARED_BYTES = 232_448;
  private static final int ADA_SHARED_BYTES = 101_376;
  private static final LaunchTable TABLE =
      KernelFamily.table(KernelCatalog.open(), "softmax_fused");
  private static final LaunchTable GRADIENT =
      KernelFamily.table(KernelCatalog.open(), "softmax_backward");

  private static SoftmaxPlan plan(
      ComputeCapability device, int sharedBytes, ElementType<?> type, long rows, long length) {
    return SoftmaxPlan.choose(TABLE, device, sharedBytes, 1, type, rows, length, Wanted.ANY);
  }

  @Test
  @DisplayName("the team grows with the row")
  void byLength() {
    ElementType<?> type = ElementType.F32;
    assertEquals(Variant.LANES1, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1000, 10).variant());
    assertEquals(Variant.LANES4, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1000, 500).variant());
    assertEquals(Variant.REGISTERS4, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1000, 4000).variant());
    assertEquals(Variant.SHARED, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1000, 8192).variant());
    assertEquals(Variant.CLUSTER, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1000, 131072).variant());
    assertEquals(Variant.SPLIT, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1000, 1L << 31).variant());
    assertEquals(Variant.SPLIT, plan(HOPPER, HOPPER_SHARED_BYTES, type, 1, 1 << 20).variant());
  }

  @Test
  @DisplayName("a device with less shared memory, or without clusters, gets what it can run")
  void byDevice() {
    for (long length : new long[] {1, 1000, 10_000, 30_000, 100_000, 1_000_000}) {
      SoftmaxPlan plan = plan(AMPERE, ADA_SHARED_BYTES, ElementType.F32, 4000, length);
      assertTrue(plan.variant() != Variant.CLUSTER, () -> length + ": " + plan);
      if (plan.variant() == Variant.SHARED) {
        LaunchConfig config = plan.launch(ElementType.F32, 4000, length);
        assertTrue(config.dynamicSharedBytes() + 8192 <= ADA_SHARED_BYTES, config::toString);
      }
    }
  }

  @Test
  @DisplayName(
      "every length of every type has a plan whose team holds it, within the launch's limits")
  void everyLengthFits() {
    for (ElementType<?> type :
        List.of(ElementType.F32, ElementType.F16, ElementType.BF16, ElementType.F64)) {
      for (long rows : new long[] {1, 8, 32, 33, 5000, 1L << 40}) {
        for (long length = 1; length < 1L << 32; length += 1 + length / 3) {
          for (ComputeCapability device : List.of(HOPPER, AMPERE)) {
            requireHolds(plan(device, HOPPER_SHARED_BYTES, type, rows, length), type, rows, length);
            // The gradient's, with two rows of that length.
            requireHolds(
                SoftmaxPlan.choose(
                    GRADIENT, device, HOPPER_SHARED_BYTES, 2, type, rows, length, Wanted.ANY),
                type,
                rows,
                length);
          }
        }
      }
    }
  }

  private static void requireHolds(SoftmaxPlan plan, ElementType<?> type, long rows, long length) {
    if (plan.variant() == Variant.SPLIT) {
      return;
    }
    LaunchConfig config = plan.launch(type, rows, length);
    long packs = Math.ceilDiv(length * type.byteSize(), 16);
    long lanes = config.blockThreads().x();
    long held =
        switch (plan.variant()) {
          case LANES1 -> lanes;
          case LANES2, REGISTERS2 -> 2 * lanes;
          case LANES4, REGISTERS4 -> 4 * lanes;
          case SHARED, CLUSTER ->
              (long) config.dynamicSharedBytes() / 16 / plan.residentRows() * plan.cluster();
          case SPLIT -> 0;
        };
    String told = type + " " + rows + " x " + length + ": " + plan + ", " + config;
    assertTrue(held >= packs, told);
    long threads = lanes * config.blockThreads().y();
    assertTrue(threads % 32 == 0 && threads <= 1024, told);
    assertEquals(0, config.gridBlocks().x() % plan.cluster(), told);
    long teams = (long) config.gridBlocks().x() / plan.cluster() * config.blockThreads().y();
    assertTrue(teams >= Math.min(rows, 1 << 24), told);
  }

  @Test
  @DisplayName("FUSED refuses a row that no team holds, and says what does")
  void tooLong() {
    assertTells(
        assertThrows(
            IllegalArgumentException.class,
            () ->
                SoftmaxPlan.choose(
                    TABLE,
                    HOPPER,
                    HOPPER_SHARED_BYTES,
                    1,
                    ElementType.F32,
                    100,
                    1 << 24,
                    Wanted.FUSED)),
        "16777216 elements",
        "524288",
        "AUTO");
    assertEquals(
        Variant.SPLIT,
        SoftmaxPlan.choose(
                TABLE, HOPPER, HOPPER_SHARED_BYTES, 1, ElementType.F32, 9, 9, Wanted.SPLIT)
            .variant());
  }

  @Test
  @DisplayName("a table without a plan, or with one that is not, is damaged")
  void damaged() {
    LaunchTable empty = new LaunchTable("empty.def", List.of());
    LaunchTable strange =
        LaunchTable.parse(
            "strange.def", List.of("CULEBRA_SOFTMAX_PLAN(any, f32, 0, 9, laned, 32, 1, \"why\")"));
    for (LaunchTable table : List.of(empty, strange)) {
      assertThrows(
          dev.culebra.bindings.InvalidImageException.class,
          () ->
              SoftmaxPlan.choose(
                  table, HOPPER, HOPPER_SHARED_BYTES, 1, ElementType.F32, 1, 1, Wanted.ANY));
    }
  }
}
