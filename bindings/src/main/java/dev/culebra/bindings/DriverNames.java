package dev.culebra.bindings;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Under which names the driver is looked for. */
final class DriverNames {
  static final String PROPERTY = "culebra.driver";
  static final String VARIABLE = "CULEBRA_DRIVER";

  private DriverNames() {}

  /** A path that the user gave is the only candidate: nothing else is taken in its place. */
  static List<String> candidates() {
    String chosen = chosen();
    if (chosen != null) return List.of(chosen);
    boolean windows =
        System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("windows");
    // Never libcuda.so: that is the name for linking, and often the toolkit's stub.
    return windows
        ? List.of("nvcuda.dll")
        : List.of("libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1");
  }

  private static @Nullable String chosen() {
    String property = System.getProperty(PROPERTY);
    if (property != null && !property.isEmpty()) return property;
    String variable = System.getenv(VARIABLE);
    return variable != null && !variable.isEmpty() ? variable : null;
  }
}
