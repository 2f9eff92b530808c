package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceRange;
import dev.culebra.Dim3;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import java.util.HashMap;
import java.util.Map;

/**
 * The kernel that makes one state of those of each row. Confined to a thread, as prepared launches
 * are.
 */
final class StateMerge {

  private static final String FAMILY = "softmax_split";
  private static final String ROW = "CULEBRA_SOFTMAX_MERGE";
  private static final int THREADS = 2;
  private static final int WARP_THREADS = 32;

  /** Where states lie, strides counting states. */
  record Shape(long rows, long rowStates, long rowStride, long stateStride) {}

  private final KernelFamily family;
  private final Map<String, ArgumentList> prepared = new HashMap<>();

  StateMerge(Context context) {
    this.family = new KernelFamily(context, FAMILY);
  }

  /**
   * Enqueues the merge; there is at least one row.
   *
   * @param scale the factor of what the states are of
   * @param out a state for each row, side by side, apart from the states
   */
  void launch(DeviceRange<?> states, Shape shape, double scale, DeviceRange<?> out, Stream stream) {
    boolean lanes = shape.rowStates <= WARP_THREADS;
    String team = lanes ? "lanes" : "block";
    String type = out.type().symbol();
    int threads = family.table().row(ROW, team, type).number(THREADS);
    LaunchConfig config =
        lanes ? byLanes(shape, threads) : LaunchConfig.of(blocks(shape.rows), threads);
    prepared
        .computeIfAbsent(team + type, absent -> list(team, out.type()))
        .begin()
        .put(out)
        .put(states)
        .put(shape.rows)
        .put(shape.rowStates)
        .put(shape.rowStride)
        .put(shape.stateStride)
        .put(scale)
        .launch(config, stream);
  }

  /** A lane for each state: what a block gives, to the bit. */
  private static LaunchConfig byLanes(Shape shape, int threads) {
    int most = (int) Math.max(1, shape.rowStates);
    int lanes = most == 1 ? 1 : Integer.highestOneBit(most - 1) * 2;
    int together = threads / lanes;
    return LaunchConfig.of(blocks(Math.ceilDiv(shape.rows, together)), threads)
        .withBlockThreads(new Dim3(lanes, together, 1));
  }

  private static int blocks(long wanted) {
    return (int) Math.min(wanted, Integer.MAX_VALUE);
  }

  private ArgumentList list(String team, ElementType<?> type) {
    return new ArgumentList(
        family.prepared("culebra_softmax_split_merge_" + team + "_" + type.symbol(), 1),
        "out",
        "states",
        "rows",
        "row_states",
        "row_stride",
        "state_stride",
        "scale");
  }
}
