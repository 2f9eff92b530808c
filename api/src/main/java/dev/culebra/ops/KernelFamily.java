package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.Kernel;
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
  private final Map<String, PreparedLaunch> launches = new HashMap<>();

  KernelFamily(Context context, String family) {
    this.context = context;
    this.catalog = KernelCatalog.open();
    this.table = LaunchTable.parse(family + ".def", catalog.launchTable(family));
  }

  Context context() {
    return context;
  }

  LaunchTable table() {
    return table;
  }

  /** A launch of a kernel with that many threads a block; the grid is set before each launch. */
  PreparedLaunch launch(String symbol, int threads) {
    PreparedLaunch launch = launches.get(symbol);
    if (launch == null) {
      Kernel kernel = catalog.kernel(context, symbol);
      launch = kernel.prepare(LaunchConfig.of(1, threads));
      launches.put(symbol, launch);
    }
    return launch;
  }
}
