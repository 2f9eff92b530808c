package dev.culebra.generated;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.NullMarked;

/**
 * How to ask the driver for a function of {@code cuda_h}.
 *
 * @param symbol the C symbol that the signature in {@code cuda_h} belongs to, such as {@code
 *     cuMemAlloc_v2}
 * @param baseName the name that {@code cuGetProcAddress} knows, such as {@code cuMemAlloc}
 * @param abiVersion the CUDA version to ask for; also the oldest driver that has the function, as
 *     1000 * major + 10 * minor
 */
@NullMarked
public record DriverFunction(String symbol, String baseName, int abiVersion) {
  /**
   * The function of a C symbol.
   *
   * @throws IllegalArgumentException if {@code cuda_h} has no such function
   */
  public static DriverFunction of(String symbol) {
    DriverFunction function = Table.BY_SYMBOL.get(symbol);
    if (function == null) {
      throw new IllegalArgumentException("cuda_h has no function " + symbol);
    }
    return function;
  }

  /** All functions of {@code cuda_h}. */
  public static Collection<DriverFunction> all() {
    return Table.BY_SYMBOL.values();
  }

  /** driver-functions.tsv, read when first asked for. */
  private static final class Table {
    static final Map<String, DriverFunction> BY_SYMBOL = Collections.unmodifiableMap(read());

    private static Map<String, DriverFunction> read() {
      Map<String, DriverFunction> table = new HashMap<>();
      try (InputStream resource =
          DriverFunction.class.getResourceAsStream("driver-functions.tsv")) {
        if (resource == null) throw new IllegalStateException("driver-functions.tsv is not packed");
        var lines = new BufferedReader(new InputStreamReader(resource, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          String[] field = line.split("\t", -1);
          table.put(field[0], new DriverFunction(field[0], field[1], Integer.parseInt(field[2])));
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return table;
    }
  }
}
