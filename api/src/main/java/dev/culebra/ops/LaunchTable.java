package dev.culebra.ops;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rows of a launch table: the {@code .def} file that the kernels of a family include. One macro
 * call a line, {@code MACRO(word, 256, "text")}; {@code //} begins a comment.
 *
 * <p>What cannot be read is a {@link DamagedRoot}.
 *
 * @param name what to call it in messages
 * @param rows the calls in order
 */
record LaunchTable(String name, List<Row> rows) {

  LaunchTable {
    rows = List.copyOf(rows);
  }

  /** One macro call; {@code place} is for messages. */
  record Row(String place, String macro, List<String> arguments) {

    Row {
      arguments = List.copyOf(arguments);
    }

    /** A word or a text. */
    String word(int argument) {
      if (argument >= arguments.size()) {
        throw DamagedRoot.because(place + ": argument " + argument + " is missing");
      }
      return arguments.get(argument);
    }

    /** A whole number that is not negative. */
    int natural(int argument) {
      return word(argument).equals("0") ? 0 : number(argument);
    }

    /** A positive whole number. */
    int number(int argument) {
      String text = argument < arguments.size() ? arguments.get(argument) : "";
      try {
        int number = Integer.parseInt(text);
        if (number > 0) {
          return number;
        }
      } catch (NumberFormatException e) {
        // told below
      }
      throw DamagedRoot.because(
          place + ": argument " + argument + " is '" + text + "', not a positive number");
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
      String place = name + " line " + number;
      // The preprocessor guards of an X-macro are the C++ side's business.
      if (text.isEmpty() || text.startsWith("//") || text.startsWith("#")) {
        continue;
      }
      Matcher call = CALL.matcher(text);
      if (!call.matches()) {
        throw DamagedRoot.because(place + ": '" + text + "' is not a macro call");
      }
      rows.add(new Row(place, call.group(1), arguments(place, call.group(2))));
    }
    return new LaunchTable(name, rows);
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
    throw DamagedRoot.because(name + " has no row " + macro + key);
  }

  private static List<String> arguments(String place, String text) {
    List<String> arguments = new ArrayList<>();
    Matcher argument = ARGUMENT.matcher(text);
    int at = 0;
    while (at < text.length()) {
      if (!argument.find(at) || argument.start() != at) {
        throw DamagedRoot.because(
            place + ": cannot read the argument at '" + text.substring(at) + "'");
      }
      String quoted = argument.group(1);
      arguments.add(quoted != null ? quoted : argument.group(2));
      at = argument.end();
    }
    return arguments;
  }
}
