package dev.culebra.benchmarks.results;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

class SchemaCheckTest {
  private static List<String> problems(String schema, String value) {
    return new SchemaCheck(Json.parse(schema)).problems(Json.parse(value));
  }

  @Test
  void numbersAndIntegersDiffer() {
    assertEquals(List.of(), problems("{\"type\":\"integer\"}", "3"));
    assertEquals(List.of("$ is not of type integer"), problems("{\"type\":\"integer\"}", "3.5"));
    assertEquals(List.of(), problems("{\"type\":\"number\",\"minimum\":0}", "0"));
    assertEquals(1, problems("{\"exclusiveMinimum\":0}", "0").size());
  }

  @Test
  void oneFormHasToFit() {
    String schema =
        "{\"oneOf\":[{\"type\":\"object\",\"required\":[\"a\"]},{\"type\":\"object\",\"required\":[\"b\",\"c\"]}]}";
    assertEquals(List.of(), problems(schema, "{\"a\":1}"));
    assertEquals(
        List.of("$ has no c"), problems(schema.replace("\"a\"", "\"a\",\"d\""), "{\"b\":1}"));
    assertEquals(1, problems(schema, "{\"a\":1,\"b\":1,\"c\":1}").size());
  }

  @Test
  void aSchemaThatItCannotCheckIsAnError() {
    assertThrows(IllegalArgumentException.class, () -> problems("{\"pattern\":\"x\"}", "1"));
    assertThrows(IllegalArgumentException.class, () -> problems("{\"$ref\":\"#/$defs/no\"}", "1"));
    assertThrows(IllegalArgumentException.class, () -> problems("{\"type\":\"text\"}", "1"));
  }
}
