package dev.culebra.benchmarks.results;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks a value against the part of JSON Schema that {@code results.schema.json} uses. A keyword
 * it does not know is an error of the schema, not something to skip.
 */
final class SchemaCheck {
  private static final Set<String> KNOWN =
      Set.of(
          "$schema",
          "$id",
          "$defs",
          "$ref",
          "title",
          "description",
          "type",
          "const",
          "enum",
          "properties",
          "required",
          "additionalProperties",
          "items",
          "minItems",
          "minimum",
          "exclusiveMinimum",
          "oneOf");

  private final Map<?, ?> root;

  SchemaCheck(@Nullable Object schema) {
    root = (Map<?, ?>) Objects.requireNonNull(schema);
  }

  /** What is wrong with a value, each with its place; nothing if it fits. */
  List<String> problems(@Nullable Object value) {
    List<String> problems = new ArrayList<>();
    check(root, value, "$", problems);
    return problems;
  }

  private void check(Map<?, ?> schema, @Nullable Object value, String at, List<String> problems) {
    for (Object keyword : schema.keySet()) {
      if (!KNOWN.contains(keyword)) {
        throw new IllegalArgumentException("the schema uses " + keyword + ", which is not checked");
      }
    }
    if (schema.get("$ref") instanceof String reference) {
      check(definition(reference), value, at, problems);
    }
    if (schema.get("type") instanceof String type && !isOf(type, value)) {
      problems.add(at + " is not of type " + type);
      return;
    }
    if (schema.containsKey("const") && !Objects.equals(schema.get("const"), value)) {
      problems.add(at + " is " + value + ", not " + schema.get("const"));
    }
    if (schema.get("enum") instanceof List<?> values && !values.contains(value)) {
      problems.add(at + " is " + value + ", not one of " + values);
    }
    if (value instanceof Number number) {
      checkNumber(schema, number.doubleValue(), at, problems);
    }
    if (value instanceof Map<?, ?> map) {
      checkObject(schema, map, at, problems);
    }
    if (value instanceof List<?> list) {
      checkArray(schema, list, at, problems);
    }
    if (schema.get("oneOf") instanceof List<?> choices) {
      checkChoice(choices, value, at, problems);
    }
  }

  /**
   * What is wrong with a value as one of the schema's definitions.
   *
   * @param definition its name
   */
  List<String> problems(String definition, @Nullable Object value) {
    List<String> problems = new ArrayList<>();
    check(definition("#/$defs/" + definition), value, "$", problems);
    return problems;
  }

  private Map<?, ?> definition(String reference) {
    String prefix = "#/$defs/";
    if (reference.startsWith(prefix)
        && root.get("$defs") instanceof Map<?, ?> definitions
        && definitions.get(reference.substring(prefix.length())) instanceof Map<?, ?> found) {
      return found;
    }
    throw new IllegalArgumentException(
        "the schema refers to " + reference + ", which is not there");
  }

  private static boolean isOf(String type, @Nullable Object value) {
    return switch (type) {
      case "object" -> value instanceof Map;
      case "array" -> value instanceof List;
      case "string" -> value instanceof String;
      case "boolean" -> value instanceof Boolean;
      // Text beyond the range of a double, 1e999, is read as infinity.
      case "number" -> value instanceof Number number && Double.isFinite(number.doubleValue());
      case "integer" -> value instanceof Long;
      case "null" -> value == null;
      default -> throw new IllegalArgumentException("the schema has the unknown type " + type);
    };
  }

  private static void checkNumber(
      Map<?, ?> schema, double value, String at, List<String> problems) {
    if (schema.get("minimum") instanceof Number least && value < least.doubleValue()) {
      problems.add(at + " is " + value + ", less than " + least);
    }
    if (schema.get("exclusiveMinimum") instanceof Number bound && value <= bound.doubleValue()) {
      problems.add(at + " is " + value + ", not more than " + bound);
    }
  }

  private void checkObject(Map<?, ?> schema, Map<?, ?> map, String at, List<String> problems) {
    if (schema.get("required") instanceof List<?> names) {
      for (Object name : names) {
        if (!map.containsKey(name)) {
          problems.add(at + " has no " + name);
        }
      }
    }
    Map<?, ?> properties = schema.get("properties") instanceof Map<?, ?> known ? known : Map.of();
    map.forEach(
        (name, member) -> {
          String place = at + "." + name;
          if (properties.get(name) instanceof Map<?, ?> property) {
            check(property, member, place, problems);
          } else if (schema.get("additionalProperties") instanceof Map<?, ?> others) {
            check(others, member, place, problems);
          } else if (Boolean.FALSE.equals(schema.get("additionalProperties"))) {
            problems.add(place + " is not known");
          }
        });
  }

  private void checkArray(Map<?, ?> schema, List<?> list, String at, List<String> problems) {
    if (schema.get("minItems") instanceof Long least && list.size() < least) {
      problems.add(at + " has " + list.size() + " elements, fewer than " + least);
    }
    if (schema.get("items") instanceof Map<?, ?> items) {
      for (int i = 0; i < list.size(); i++) {
        check(items, list.get(i), at + "[" + i + "]", problems);
      }
    }
  }

  /** Exactly one has to fit; if none does, the nearest miss is told. */
  private void checkChoice(
      List<?> choices, @Nullable Object value, String at, List<String> problems) {
    List<String> nearest = List.of(at + " fits more than one of its forms");
    int fitting = 0;
    boolean first = true;
    for (Object choice : choices) {
      List<String> misses = new ArrayList<>();
      check((Map<?, ?>) Objects.requireNonNull(choice), value, at, misses);
      if (misses.isEmpty()) {
        fitting++;
      } else if (first || misses.size() < nearest.size()) {
        nearest = misses;
        first = false;
      }
    }
    if (fitting == 0) {
      problems.addAll(nearest);
    } else if (fitting > 1) {
      problems.add(at + " fits more than one of its forms");
    }
  }
}
