package dev.culebra.ops;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.culebra.FuzzRegressionTest;
import dev.culebra.bindings.InvalidImageException;

/**
 * What a fuzzer calls with bytes for a launch table: the answer is rows of arguments, or an {@link
 * InvalidImageException}.
 */
public final class LaunchTableFuzz {
  private LaunchTableFuzz() {}

  /** Called by Jazzer, and by {@link FuzzRegressionTest} with what was found. */
  public static void fuzzerTestOneInput(byte[] data) {
    LaunchTable table;
    try {
      table = LaunchTable.parse("fuzz.def", new String(data, UTF_8).lines().toList());
    } catch (InvalidImageException e) {
      FuzzRegressionTest.checkMessage(e, "fuzz.def");
      return;
    }
    for (LaunchTable.Row row : table.rows()) {
      if (row.macro().isEmpty()) {
        throw new AssertionError("a row without a macro");
      }
      table.row(row.macro());
    }
  }
}
