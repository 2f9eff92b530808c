package dev.culebra.ops;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rows of a launch table: the {@code .def} file that the kernels of a family include. One macro
 * call a line, {@code MACRO(word, 256, "text")}; {@code //} begins a comment.
 *
 * @param rows the calls in order
 */
record LaunchTable(List<Row> rows) {

  LaunchTable {
    rows = List.copyOf(rows);
  }

  /** One macro call. */
  record Row(String macro, List<String> arguments) {

    Row {
      arguments = List.copyOf(arguments);
    }

    int number(int argument) {
      return Integer.parseInt(arguments.get(argument));
    }
  }

  private static final Pattern CALL =
      Pattern.compile("([A-Za-z_]\\w*)\\s*\\((.*)\\)\\s*;?\\s*(?://.*)?");
  private static final Pattern ARGUMENT =
      Pattern.compile("\\s*(?:\"([^\"]*)\"|([\\w.+-]+))\\s*(,|$)");

  static LaunchTable parse(String name, List<String> lines) {
    List<Row> rows = new ArrayList<>();
    int number = 0;
    for (String line : lines) {
      number++;
      String text = line.strip();
      // The preprocessor guards of an X-macro are the C++ side's business.
      if (text.isEmpty() || text.startsWith("//") || text.startsWith("#")) {
        continue;
      }
      Matcher call = CALL.matcher(text);
      if (!call.matches()) {
        throw new IllegalArgumentException(
            name + " line " + number + ": '" + text + "' is not a macro call");
      }
      rows.add(new Row(call.group(1), arguments(name, number, call.group(2))));
    }
    return new LaunchTable(rows);
  }

  /** The one row of a macro that begins with these arguments. */
  Row row(String macro, String... first) {
    List<String> key = List.of(first);
    for (Row row : rows) {
      if (row.macro().equals(macro)
          && row.arguments().size() >= key.size()
          && row.arguments().subList(0, key.size()).equals(key)) {
        return row;
      }
    }
    throw new IllegalArgumentException("the launch table has no row " + macro + key);
  }

  private static List<String> arguments(String name, int number, String text) {
    List<String> arguments = new ArrayList<>();
    Matcher argument = ARGUMENT.matcher(text);
    int at = 0;
    while (at < text.length()) {
      if (!argument.find(at) || argument.start() != at) {
        throw new IllegalArgumentException(
            name
                + " line "
                + number
                + ": cannot read the argument at '"
                + text.substring(at)
                + "'");
      }
      String quoted = argument.group(1);
      arguments.add(quoted != null ? quoted : argument.group(2));
      at = argument.end();
    }
    return arguments;
  }
}
