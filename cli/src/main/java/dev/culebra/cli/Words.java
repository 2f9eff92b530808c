package dev.culebra.cli;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads one of a few words, in any case, and names them all when it is none of them. */
final class Words {
  private Words() {}

  static <T extends Enum<T>> ITypeConverter<T> of(Class<T> type) {
    return word -> {
      for (T value : type.getEnumConstants()) {
        if (value.name().equalsIgnoreCase(word)) {
          return value;
        }
      }
      throw new TypeConversionException(
          "'%s' is none of %s"
              .formatted(
                  word,
                  Arrays.stream(type.getEnumConstants())
                      .map(value -> value.name().toLowerCase(Locale.ROOT))
                      .collect(Collectors.joining(", "))));
    };
  }
}
