package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import java.util.HashMap;
import java.util.Map;

/**
 * The kernels of one family as an operation uses them: prepared when first needed and kept.
 * Confined to a thread, as prepared launches are.
 */
final class KernelFamily {

  private final Context context;
  private final KernelCatalog catalog;
  private final LaunchTable table;
  private final Map<String, RowKernel> kernels = new HashMap<>();

  KernelFamily(Context context, String family) {
    this.context = context;
    this.catalog = KernelCatalog.open();
    this.table = table(catalog, family);
  }

  /** The launch table of a family: needs no device. */
  static LaunchTable table(KernelCatalog catalog, String family) {
    return LaunchTable.parse(family + ".def", catalog.launchTable(family));
  }

  Context context() {
    return context;
  }

  LaunchTable table() {
    return table;
  }

  /** A kernel prepared with that many threads a block. */
  RowKernel kernel(String symbol, int threads) {
    return kernels.computeIfAbsent(symbol, unprepared -> prepare(symbol, threads));
  }

  private RowKernel prepare(String symbol, int threads) {
    try {
      return new RowKernel(prepared(symbol, threads));
    } catch (IllegalArgumentException e) {
      // Neither the name nor the parameters come from the caller.
      throw DamagedRoot.because(String.valueOf(e.getMessage()));
    }
  }

  /** A new launch of a kernel with that many threads a block, for who keeps it himself. */
  PreparedLaunch prepared(String symbol, int threads) {
    try {
      return catalog.kernel(context, symbol).prepare(LaunchConfig.of(1, threads));
    } catch (IllegalArgumentException e) {
      // Neither the name nor the number comes from the caller.
      throw DamagedRoot.because(String.valueOf(e.getMessage()));
    }
  }
}
