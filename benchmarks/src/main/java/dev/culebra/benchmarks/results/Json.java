package dev.culebra.benchmarks.results;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.PrettyPrinter;
import tools.jackson.core.exc.StreamReadException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.core.util.DefaultPrettyPrinter;

/**
 * JSON as Java's own values: {@code Map}, {@code List}, {@code String}, {@code Long}, {@code
 * Double}, {@code Boolean} and null. Arrays of numbers may also be given as {@code double[]} or
 * {@code long[]}; anything else is written as its text.
 */
public final class Json {
  private static final JsonFactory FACTORY = JsonFactory.builder().build();

  private Json() {}

  /**
   * Reads a file.
   *
   * @throws IOException naming the file, if it cannot be read or is no JSON
   */
  public static @Nullable Object read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return read(in);
    } catch (NoSuchFileException e) {
      throw new IOException(file + " is not there", e);
    } catch (AccessDeniedException e) {
      throw new IOException(file + " may not be read", e);
    } catch (JacksonException e) {
      // What follows in brackets is where the parser would show a piece of the file.
      String problem =
          String.valueOf(e.getOriginalMessage()).replaceFirst(" \\(start marker .*", "");
      int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
      throw new IOException("%s is not JSON, line %d: %s".formatted(file, line, problem), e);
    }
  }

  /** Reads a stream to its end, which is that of its value. */
  public static @Nullable Object read(InputStream in) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), in)) {
      return whole(parser);
    }
  }

  /** Reads a text. */
  public static @Nullable Object parse(String text) {
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
      return whole(parser);
    }
  }

  private static @Nullable Object whole(JsonParser parser) {
    parser.nextToken();
    Object value = value(parser);
    if (parser.nextToken() != null) {
      throw new StreamReadException(parser, "something follows the value");
    }
    return value;
  }

  /** Replaces a file in one step: whoever reads it sees all of the old or all of the new. */
  public static void write(Path file, Object root) throws IOException {
    Path beside = file.resolveSibling(file.getFileName() + ".new");
    try (JsonGenerator json =
        FACTORY.createGenerator(new Pretty(), Files.newOutputStream(beside))) {
      value(json, root);
    }
    Files.move(beside, file, StandardCopyOption.REPLACE_EXISTING);
  }

  /** One line of text. */
  public static String text(Object root) {
    java.io.StringWriter text = new java.io.StringWriter();
    try (JsonGenerator json = FACTORY.createGenerator(ObjectWriteContext.empty(), text)) {
      value(json, root);
    } catch (JacksonException e) {
      throw new UncheckedIOException(new IOException(e));
    }
    return text.toString();
  }

  private static @Nullable Object value(JsonParser parser) {
    JsonToken token = parser.currentToken();
    if (token == null) {
      return null;
    }
    return switch (token) {
      case START_OBJECT -> {
        Map<String, @Nullable Object> map = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
          String name = parser.currentName();
          parser.nextToken();
          map.put(name, value(parser));
        }
        yield map;
      }
      case START_ARRAY -> {
        List<@Nullable Object> list = new ArrayList<>();
        while (parser.nextToken() != JsonToken.END_ARRAY) {
          list.add(value(parser));
        }
        yield list;
      }
      case VALUE_NUMBER_INT -> parser.getLongValue();
      case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      default -> parser.getString();
    };
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
