package dev.culebra.benchmarks.calls;

import dev.culebra.bindings.Driver;

/**
 * Culebra itself: the result layer for the smallest call, the typed and checked launch for the
 * kernel.
 */
final class Culebra implements Contender {
  private final FillKernel fill;

  /** A contender over a kernel that its maker closes. */
  Culebra(FillKernel fill) {
    this.fill = fill;
  }

  @Override
  public String name() {
    return "Culebra";
  }

  @Override
  public void open(LaunchTarget target) {}

  @Override
  public void getCurrent(int calls) {
    for (int i = 0; i < calls; i++) {
      Driver.ctxGetCurrent();
    }
  }

  @Override
  public void launch(int launches) {
    for (int i = 1; i <= launches; i++) {
      fill.launch();
      if (i % LaunchTarget.SYNC_EVERY == 0) {
        fill.synchronize();
      }
    }
    fill.synchronize();
  }

  @Override
  public void close() {}
}
