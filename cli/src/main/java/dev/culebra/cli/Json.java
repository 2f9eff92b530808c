package dev.culebra.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Prints one JSON object on a line. NaN and the infinities, for which JSON has no numbers, become
 * the strings {@code "NaN"}, {@code "Infinity"} and {@code "-Infinity"}.
 */
final class Json {
  private Json() {}

  /** Prints the object whose properties {@code properties} writes. */
  static void print(PrintWriter out, Consumer<JsonGenerator> properties) {
    StringWriter text = new StringWriter();
    try (JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
      json.writeStartObject();
      properties.accept(json);
      json.writeEndObject();
    }
    out.println(text);
    out.flush();
  }

  /** A property that is a list of numbers. */
  static void numbers(JsonGenerator json, String name, long... values) {
    json.writeName(name).writeArray(values, 0, values.length);
  }
}
