package dev.culebra;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * {@code kernels.index}, which the kernels' build emits from C++: the images, and for each kernel
 * its parameters with the offsets the compiler gave them. The format is decision 0002.
 */
final class KernelIndex {

  private static final String FORMAT = "culebra-kernels";
  private static final String VERSION = "1";

  private final List<KernelCatalog.Image> images;
  private final Map<String, Entry> kernels;

  private KernelIndex(List<KernelCatalog.Image> images, Map<String, Entry> kernels) {
    this.images = List.copyOf(images);
    this.kernels = kernels;
  }

  /** A kernel: where its code is, how many threads a block may have, what it takes. */
  record Entry(String symbol, String family, int maxThreads, KernelSignature signature) {}

  List<KernelCatalog.Image> images() {
    return images;
  }

  Map<String, Entry> kernels() {
    return kernels;
  }

  /**
   * The best image of a family that a device can run: specific code, then machine code, then PTX;
   * newest first.
   */
  Optional<KernelCatalog.Image> choose(String family, ComputeCapability device) {
    return images.stream()
        .filter(image -> image.family().equals(family) && image.target().fits(device))
        .min(
            Comparator.comparing((KernelCatalog.Image image) -> image.target().form())
                .thenComparing(image -> image.target().capability(), Comparator.reverseOrder()));
  }

  /** Reads the lines of an index; a mistake is told with its line number. */
  static KernelIndex parse(List<String> lines) {
    return new Parser().parse(lines);
  }

  private record Param(String name, String type, long offset, long size, long align) {}

  private record Field(String name, String type, long offset, long size) {}

  private static final class Parser {

    private final List<KernelCatalog.Image> images = new ArrayList<>();
    private final Map<String, String[]> kernelLines = new LinkedHashMap<>();
    private final Map<String, Map<Integer, Param>> params = new HashMap<>();
    private final Map<String, List<Field>> fields = new HashMap<>();
    private boolean versionSeen;

    KernelIndex parse(List<String> lines) {
      int number = 0;
      for (String line : lines) {
        number++;
        if (line.isBlank() || line.startsWith("#")) {
          continue;
        }
        try {
          accept(line.split("\t", -1));
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
        }
      }
      if (!versionSeen) {
        throw new IllegalArgumentException("there is no line '" + FORMAT + "<TAB>" + VERSION + "'");
      }
      Map<String, Entry> kernels = new LinkedHashMap<>();
      kernelLines.forEach((symbol, line) -> kernels.put(symbol, entry(symbol, line)));
      for (String symbol : params.keySet()) {
        if (!kernels.containsKey(symbol)) {
          throw new IllegalArgumentException(
              "there are parameters of " + symbol + " but no such kernel");
        }
      }
      return new KernelIndex(images, java.util.Collections.unmodifiableMap(kernels));
    }

    private void accept(String[] f) {
      switch (f[0]) {
        case FORMAT -> {
          expect(f, 2);
          if (!f[1].equals(VERSION)) {
            throw new IllegalArgumentException(
                "version "
                    + f[1]
                    + " of the index is not the one this library reads ("
                    + VERSION
                    + ")");
          }
          versionSeen = true;
        }
        case "image" -> {
          expect(f, 6);
          images.add(
              new KernelCatalog.Image(
                  f[1],
                  KernelTarget.parse(f[2]),
                  f[3],
                  number(f[4]),
                  f[5].toLowerCase(Locale.ROOT)));
        }
        case "kernel" -> {
          expect(f, 4);
          if (kernelLines.putIfAbsent(f[1], f) != null) {
            throw new IllegalArgumentException("kernel " + f[1] + " is listed twice");
          }
        }
        case "param" -> {
          expect(f, 8);
          Param param = new Param(f[3], f[4], number(f[5]), number(f[6]), number(f[7]));
          int ordinal = intNumber(f[2]);
          if (params.computeIfAbsent(f[1], k -> new HashMap<>()).putIfAbsent(ordinal, param)
              != null) {
            throw new IllegalArgumentException(
                "parameter " + ordinal + " of " + f[1] + " is listed twice");
          }
        }
        case "field" -> {
          expect(f, 6);
          Field field = new Field(f[2], f[3], number(f[4]), number(f[5]));
          List<Field> known = fields.computeIfAbsent(f[1], k -> new ArrayList<>());
          // Each image that uses a struct tells its fields again.
          if (known.stream().noneMatch(other -> other.equals(field))) {
            if (known.stream().anyMatch(other -> other.name().equals(field.name()))) {
              throw new IllegalArgumentException(
                  "field " + f[1] + "." + f[2] + " is listed twice and not the same");
            }
            known.add(field);
          }
        }
        default -> throw new IllegalArgumentException("'" + f[0] + "' is not a kind of line");
      }
    }

    private Entry entry(String symbol, String[] line) {
      Map<Integer, Param> byOrdinal = params.getOrDefault(symbol, Map.of());
      List<KernelParameter> parameters = new ArrayList<>();
      for (int ordinal = 0; ordinal < byOrdinal.size(); ordinal++) {
        Param param = byOrdinal.get(ordinal);
        if (param == null) {
          throw new IllegalArgumentException(
              "kernel "
                  + symbol
                  + " has "
                  + byOrdinal.size()
                  + " parameters but none with ordinal "
                  + ordinal);
        }
        parameters.add(new KernelParameter(param.name(), type(param)));
      }
      KernelSignature signature = KernelSignature.of(parameters);
      for (int ordinal = 0; ordinal < parameters.size(); ordinal++) {
        Param param = byOrdinal.get(ordinal);
        if (param != null && signature.offset(ordinal) != param.offset()) {
          throw new IllegalArgumentException(
              "parameter "
                  + param.name()
                  + " of "
                  + symbol
                  + " has offset "
                  + param.offset()
                  + ", by the rules of C it is "
                  + signature.offset(ordinal));
        }
      }
      return new Entry(symbol, line[2], intNumber(line[3]), signature);
    }

    private ParameterType type(Param param) {
      List<Field> members = fields.get(param.type());
      ParameterType type;
      if (members != null) {
        List<ParameterType.Struct.Field> typed = new ArrayList<>();
        for (Field field : members) {
          ParameterType leaf = leaf(field.type());
          checkSize(param.type() + "." + field.name(), leaf, field.size());
          typed.add(new ParameterType.Struct.Field(field.name(), leaf, field.offset()));
        }
        typed.sort(Comparator.comparingLong(ParameterType.Struct.Field::offset));
        type = new ParameterType.Struct(param.type(), typed, param.size(), param.align());
      } else {
        type = leaf(param.type());
        checkSize(param.name(), type, param.size());
      }
      return type;
    }

    private static void checkSize(String name, ParameterType type, long size) {
      if (type.byteSize() != size) {
        throw new IllegalArgumentException(
            name + " of type " + type + " has " + size + " bytes instead of " + type.byteSize());
      }
    }

    private static ParameterType leaf(String text) {
      if (text.endsWith("*")) {
        boolean readOnly = text.startsWith("const ");
        String target = text.substring(readOnly ? 6 : 0, text.length() - 1).strip();
        return new ParameterType.Pointer(target, readOnly);
      }
      for (ParameterType.Scalar scalar : ParameterType.Scalar.values()) {
        if (scalar.toString().equals(text)) {
          return scalar;
        }
      }
      throw new IllegalArgumentException(
          "type '" + text + "' is neither a scalar, a pointer nor a struct with fields");
    }

    private static void expect(String[] f, int count) {
      if (f.length != count) {
        throw new IllegalArgumentException(
            "a line '"
                + f[0]
                + "' has "
                + count
                + " fields separated by one TAB, this one has "
                + f.length);
      }
    }

    private static int intNumber(String text) {
      long value = number(text);
      if (value > Integer.MAX_VALUE) {
        throw new IllegalArgumentException(value + " is too large");
      }
      return (int) value;
    }

    private static long number(String text) {
      try {
        long value = Long.parseLong(text);
        if (value >= 0) {
          return value;
        }
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("'" + text + "' is not a number", e);
      }
      throw new IllegalArgumentException("'" + text + "' is negative");
    }
  }
}
