package dev.culebra.io;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The Python dictionary in the header of a {@code .npy} file. Only what NumPy writes is understood:
 * three keys in any order, a string, a truth value and a tuple of integers.
 */
final class NpyDictionary {
  private final String fileName;
  private final String text;
  private int position;

  private @Nullable String descr;
  private @Nullable Boolean fortranOrder;
  private long @Nullable [] shape;

  private NpyDictionary(String fileName, String text) {
    this.fileName = fileName;
    this.text = text;
  }

  static NpyDictionary parse(String fileName, String text) throws TensorFormatException {
    NpyDictionary dictionary = new NpyDictionary(fileName, text);
    dictionary.read();
    return dictionary;
  }

  /** The type, for instance {@code <f4}. */
  String descr() throws TensorFormatException {
    return required(descr, "descr");
  }

  boolean fortranOrder() throws TensorFormatException {
    return required(fortranOrder, "fortran_order");
  }

  long[] shape() throws TensorFormatException {
    return required(shape, "shape");
  }

  private <T> T required(@Nullable T value, String key) throws TensorFormatException {
    if (value == null) {
      throw bad("the key '" + key + "' is missing");
    }
    return value;
  }

  private void read() throws TensorFormatException {
    expect('{');
    while (!accept('}')) {
      String key = readString();
      expect(':');
      boolean isNew;
      switch (key) {
        case "descr" -> {
          isNew = descr == null;
          descr = readDescr();
        }
        case "fortran_order" -> {
          isNew = fortranOrder == null;
          fortranOrder = readBoolean();
        }
        case "shape" -> {
          isNew = shape == null;
          shape = readShape();
        }
        default -> throw bad("the key '" + key + "' is unknown");
      }
      if (!isNew) {
        throw bad("the key '" + key + "' occurs twice");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (position < text.length()) {
      throw bad("text follows the dictionary");
    }
  }

  private String readDescr() throws TensorFormatException {
    if (peek() == '[') {
      throw new TensorFormatException(fileName, null, "structured arrays are not supported");
    }
    return readString();
  }

  private String readString() throws TensorFormatException {
    char quote = peek();
    if (quote != '\'' && quote != '"') {
      throw bad("a string is expected at character " + position);
    }
    int end = text.indexOf(quote, position + 1);
    if (end < 0) {
      throw bad("a string does not end");
    }
    String string = text.substring(position + 1, end);
    position = end + 1;
    return string;
  }

  private boolean readBoolean() throws TensorFormatException {
    boolean value = peek() == 'T';
    String word = value ? "True" : "False";
    if (!text.startsWith(word, position)) {
      throw bad("True or False is expected at character " + position);
    }
    position += word.length();
    return value;
  }

  private long[] readShape() throws TensorFormatException {
    expect('(');
    long[] lengths = new long[8];
    int rank = 0;
    while (!accept(')')) {
      if (rank == lengths.length) {
        lengths = Arrays.copyOf(lengths, 2 * rank);
      }
      lengths[rank++] = readLength();
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return Arrays.copyOf(lengths, rank);
  }

  private long readLength() throws TensorFormatException {
    skipSpace();
    int start = position;
    while (position < text.length()
        && text.charAt(position) >= '0'
        && text.charAt(position) <= '9') {
      position++;
    }
    String digits = text.substring(start, position);
    try {
      long length = Long.parseLong(digits);
      accept('L'); // Python 2 wrote long integers so
      return length;
    } catch (NumberFormatException e) {
      throw bad(
          digits.isEmpty()
              ? "an axis' length is expected at character " + start
              : "the length " + digits + " is too large");
    }
  }

  private char peek() {
    skipSpace();
    return position < text.length() ? text.charAt(position) : 0;
  }

  private boolean accept(char wanted) {
    boolean there = peek() == wanted;
    if (there) {
      position++;
    }
    return there;
  }

  private void expect(char wanted) throws TensorFormatException {
    if (!accept(wanted)) {
      throw bad("'" + wanted + "' is expected at character " + position);
    }
  }

  private void skipSpace() {
    while (position < text.length() && " \t\r\n".indexOf(text.charAt(position)) >= 0) {
      position++;
    }
  }

  private TensorFormatException bad(String what) {
    return new TensorFormatException(fileName, null, "the .npy header is malformed: " + what);
  }
}
