package dev.culebra.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.PrettyPrinter;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.DefaultPrettyPrinter;

/**
 * The results of one run as one JSON file. Its fields are described in {@code
 * benchmarks/README.md}; whoever changes one changes the other and the schema's number.
 *
 * <p>The file is written again after every section, so that a run that is cut short leaves what it
 * had.
 */
final class Report {
  private static final int SCHEMA = 1;

  private final Path file;
  private final Map<String, Object> root = new LinkedHashMap<>();

  /**
   * @param about what was measured where: machine, driver, device, commit, date
   */
  Report(Path file, Map<String, Object> about) {
    this.file = file;
    root.put("schema", SCHEMA);
    root.putAll(about);
  }

  Path file() {
    return file;
  }

  /** Appends an entry to a section and writes the file. */
  void add(String section, Map<String, Object> entry) throws IOException {
    @SuppressWarnings("unchecked") // only lists of entries are put under a section's name, here
    List<Object> entries =
        (List<Object>) root.computeIfAbsent(section, name -> new ArrayList<Object>());
    entries.add(entry);
    write();
  }

  private void write() throws IOException {
    Path beside = file.resolveSibling(file.getFileName() + ".new");
    try (JsonGenerator json =
        JsonFactory.builder()
            .build()
            .createGenerator(new Pretty(), Files.newOutputStream(beside))) {
      value(json, root);
    }
    Files.move(beside, file, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void value(JsonGenerator json, @Nullable Object value) {
    switch (value) {
      case null -> json.writeNull();
      case Map<?, ?> map -> {
        json.writeStartObject();
        map.forEach(
            (key, member) -> {
              json.writeName((String) key);
              value(json, member);
            });
        json.writeEndObject();
      }
      case Iterable<?> list -> {
        json.writeStartArray();
        list.forEach(element -> value(json, element));
        json.writeEndArray();
      }
      case double[] samples -> json.writeArray(samples, 0, samples.length);
      case long[] samples -> json.writeArray(samples, 0, samples.length);
      case Integer number -> json.writeNumber(number);
      case Long number -> json.writeNumber(number);
      case Double number -> json.writeNumber(number);
      case Boolean flag -> json.writeBoolean(flag);
      default -> json.writeString(value.toString());
    }
  }

  /** Indented objects, arrays of samples on one line: for people who read diffs. */
  private static final class Pretty extends ObjectWriteContext.Base {
    @Override
    public PrettyPrinter getPrettyPrinter() {
      return new DefaultPrettyPrinter();
    }
  }
}
