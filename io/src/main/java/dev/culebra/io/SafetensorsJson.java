package dev.culebra.io;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads the JSON of a {@code .safetensors} header token by token, so that nothing in it is lost: a
 * key that occurs twice, text behind the object, an unknown key are all seen.
 */
final class SafetensorsJson {
  private static final JsonFactory FACTORY = new JsonFactory();

  private final String fileName;
  private final JsonParser parser;
  private final SequencedMap<String, SafetensorsHeader.Entry> entries = new LinkedHashMap<>();
  private final SequencedMap<String, String> metadata = new LinkedHashMap<>();

  private SafetensorsJson(String fileName, JsonParser parser) {
    this.fileName = fileName;
    this.parser = parser;
  }

  static SafetensorsJson parse(String fileName, String json) throws TensorFormatException {
    if (!json.startsWith("{")) {
      throw new TensorFormatException(fileName, null, "the header does not begin with '{'");
    }
    try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), json)) {
      SafetensorsJson reader = new SafetensorsJson(fileName, parser);
      reader.read();
      return reader;
    } catch (JacksonException e) {
      throw new TensorFormatException(
          fileName, null, "the header is not valid JSON: " + e.getOriginalMessage());
    }
  }

  List<SafetensorsHeader.Entry> entries() {
    return List.copyOf(entries.values());
  }

  SequencedMap<String, String> metadata() {
    return metadata;
  }

  private void read() throws TensorFormatException {
    expect(parser.nextToken(), JsonToken.START_OBJECT, null, "the header");
    boolean metadataSeen = false;
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String name = parser.currentName();
      if (name.equals(SafetensorsHeader.METADATA_KEY)) {
        if (metadataSeen) {
          throw bad(null, "the header has two " + SafetensorsHeader.METADATA_KEY);
        }
        metadataSeen = true;
        readMetadata();
      } else if (entries.put(name, readEntry(name)) != null) {
        throw bad(name, "the header has two tensors of this name");
      }
    }
    if (parser.nextToken() != null) {
      throw bad(null, "text follows the JSON object of the header");
    }
  }

  private void readMetadata() throws TensorFormatException {
    String what = SafetensorsHeader.METADATA_KEY;
    expect(parser.nextToken(), JsonToken.START_OBJECT, null, what);
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = parser.currentName();
      expect(parser.nextToken(), JsonToken.VALUE_STRING, null, what + " entry " + key);
      if (metadata.put(key, text(parser.getString(), what + " entry " + key)) != null) {
        throw bad(null, what + " has two entries " + key);
      }
    }
  }

  private SafetensorsHeader.Entry readEntry(String name) throws TensorFormatException {
    String dtype = null;
    long[] shape = null;
    long[] offsets = null;
    expect(parser.nextToken(), JsonToken.START_OBJECT, name, "the entry");
    while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
      String key = parser.currentName();
      boolean isNew;
      switch (key) {
        case "dtype" -> {
          isNew = dtype == null;
          expect(parser.nextToken(), JsonToken.VALUE_STRING, name, key);
          dtype = parser.getString();
        }
        case "shape" -> {
          isNew = shape == null;
          shape = readLongs(name, key);
        }
        case "data_offsets" -> {
          isNew = offsets == null;
          offsets = readLongs(name, key);
        }
        default -> throw bad(name, "the entry has the unknown key " + key);
      }
      if (!isNew) {
        throw bad(name, "the entry has two " + key);
      }
    }
    if (dtype == null || shape == null || offsets == null) {
      throw bad(name, "the entry needs dtype, shape and data_offsets");
    }
    return toEntry(name, dtype, shape, offsets);
  }

  private SafetensorsHeader.Entry toEntry(String name, String dtype, long[] shape, long[] offsets)
      throws TensorFormatException {
    DType type =
        DType.ofName(dtype).orElseThrow(() -> bad(name, "the type " + dtype + " is unknown"));
    if (offsets.length != 2 || offsets[0] > offsets[1]) {
      throw bad(name, "data_offsets must be a begin and an end, not " + Arrays.toString(offsets));
    }
    TensorSpec spec;
    try {
      spec = new TensorSpec(name, type, shape);
    } catch (IllegalArgumentException e) {
      throw bad(name, String.valueOf(e.getMessage()));
    }
    long there = offsets[1] - offsets[0];
    if (there != spec.byteSize()) {
      throw bad(
          name,
          "%s%s takes %d bytes, data_offsets give it %d"
              .formatted(type, Arrays.toString(shape), spec.byteSize(), there));
    }
    return new SafetensorsHeader.Entry(spec, offsets[0], offsets[1]);
  }

  private long[] readLongs(String name, String key) throws TensorFormatException {
    expect(parser.nextToken(), JsonToken.START_ARRAY, name, key);
    long[] values = new long[8];
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      expect(parser.currentToken(), JsonToken.VALUE_NUMBER_INT, name, "each of " + key);
      if (count == values.length) {
        values = Arrays.copyOf(values, 2 * count);
      }
      // Refuses what a long cannot hold with an exception of its own.
      long value = parser.getLongValue();
      if (value < 0) {
        throw bad(name, key + " has the negative number " + value);
      }
      values[count++] = value;
    }
    return Arrays.copyOf(values, count);
  }

  /**
   * JSON can escape half of a surrogate pair, which is no text: nobody could write it again. The
   * parser sees that in the names of properties only.
   */
  private String text(String string, String what) throws TensorFormatException {
    int at = SafetensorsHeader.loneSurrogate(string);
    if (at >= 0) {
      throw bad(
          null, "%s has half of a surrogate pair, \\u%x".formatted(what, (int) string.charAt(at)));
    }
    return string;
  }

  private void expect(
      @Nullable JsonToken token, JsonToken wanted, @Nullable String tensor, String what)
      throws TensorFormatException {
    if (token != wanted) {
      throw bad(
          tensor,
          what
              + " must be "
              + switch (wanted) {
                case START_OBJECT -> "an object";
                case START_ARRAY -> "a list";
                case VALUE_STRING -> "a string";
                default -> "a whole number";
              });
    }
  }

  private TensorFormatException bad(@Nullable String tensor, String reason) {
    return new TensorFormatException(fileName, tensor, reason);
  }
}
