package dev.culebra;

import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * What a fuzzer calls with bytes for {@code kernels.index}: the answer is an index whose kernels
 * have a signature, or an {@link IllegalArgumentException}, which the catalog turns into a damaged
 * index.
 */
public final class KernelIndexFuzz {
  private KernelIndexFuzz() {}

  /** Called by Jazzer, and by {@link FuzzRegressionTest} with what was found. */
  public static void fuzzerTestOneInput(byte[] data) {
    KernelIndex index;
    try {
      index = KernelIndex.parse(new String(data, UTF_8).lines().toList());
    } catch (IllegalArgumentException e) {
      FuzzRegressionTest.checkMessage(e, "");
      return;
    }
    index
        .kernels()
        .forEach(
            (symbol, entry) -> {
              if (!symbol.equals(entry.symbol()) || entry.maxThreads() < 0) {
                throw new AssertionError(entry + " is listed as " + symbol);
              }
              index.choose(entry.family(), new ComputeCapability(9, 0));
            });
  }
}
