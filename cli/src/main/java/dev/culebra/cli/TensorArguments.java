package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorFileFormat;
import dev.culebra.io.TensorFormatException;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/** Opens the tensors that a command line names, and refuses what cannot be meant. */
final class TensorArguments {
  /** What our kernels compute with. */
  private static final Set<DType> COMPUTABLE =
      EnumSet.of(DType.F16, DType.BF16, DType.F32, DType.F64);

  private final Surroundings surroundings;
  private final CommandLine command;

  TensorArguments(Surroundings surroundings, CommandLine command) {
    this.surroundings = surroundings;
    this.command = command;
  }

  /** The file of an input; the caller closes it. */
  TensorFile open(TensorLocation in) throws IOException {
    return in.isStream()
        ? TensorFile.readNpy(surroundings.stdin(), "standard input")
        : TensorFile.open(Path.of(in.file()));
  }

  /** The tensor of an input, of a type we compute with and, if asked for, with a last axis. */
  TensorData computable(TensorFile file, TensorLocation in, boolean needsAxis)
      throws TensorFormatException {
    return computable(file, in, needsAxis, COMPUTABLE);
  }

  /** The same for what computes with these types. */
  TensorData computable(TensorFile file, TensorLocation in, boolean needsAxis, Set<DType> types)
      throws TensorFormatException {
    TensorData tensor = file.tensor(in.tensor());
    TensorSpec spec = tensor.spec();
    if (!types.contains(spec.dtype())) {
      throw refuse(in, spec, "it is %s; %s are taken".formatted(spec.dtype(), inWords(types)));
    }
    if (needsAxis && spec.rank() == 0) {
      throw refuse(in, spec, "it is a scalar and has no last axis; give it the shape [1]");
    }
    return tensor;
  }

  /** In the order of the constants: "F16, BF16 and F32". */
  private static String inWords(Set<DType> types) {
    List<String> names = EnumSet.copyOf(types).stream().map(DType::name).toList();
    int last = names.size() - 1;
    return String.join(", ", names.subList(0, last)) + " and " + names.get(last);
  }

  static TensorFormatException refuse(TensorLocation in, TensorSpec spec, String reason) {
    return new TensorFormatException(
        in.isStream() ? "standard input" : in.file(),
        spec.name().isEmpty() ? null : spec.name(),
        reason);
  }

  /**
   * Checks, before anything is read, that an output can be meant: of a known format, not the input
   * itself, and not where the report goes.
   *
   * @param json whether a report for machines goes to standard output
   */
  void checkOutput(TensorLocation in, TensorLocation out, boolean json) {
    if (out.isStream()) {
      if (json) {
        throw new ParameterException(
            command, "--json and the tensor cannot both go to standard output");
      }
      return;
    }
    if (TensorFileFormat.of(out.file()).isEmpty()) {
      throw new ParameterException(
          command, out.file() + ": an output's name must end in .npy or .safetensors");
    }
    if (!in.isStream() && isSameFile(Path.of(in.file()), Path.of(out.file()))) {
      throw new ParameterException(
          command, out.file() + ": the output is the input; choose another name");
    }
  }

  /**
   * Checks that an output can be begun: the format can say it, and there is a place and space for
   * it. To be called before a device is opened, which takes long and can end the process.
   *
   * @param spec name, type and shape
   * @param metadata kept if the format can
   */
  void checkResult(TensorLocation out, TensorSpec spec, Map<String, String> metadata)
      throws IOException {
    checkResults(out, List.of(spec), metadata);
  }

  /** The same for a result of several tensors, which not every format can hold. */
  void checkResults(TensorLocation out, List<TensorSpec> specs, Map<String, String> metadata)
      throws IOException {
    try {
      if (!out.isStream()) {
        TensorWriter.check(Path.of(out.file()), specs, metadataFor(out, metadata));
      } else if (specs.size() == 1) {
        // Writes nothing before the first element.
        npyToStandardOutput(specs.getFirst()).close();
      } else {
        throw new IllegalArgumentException(
            "it takes a .npy of one tensor, the result is " + specs.size() + "; name a file");
      }
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          command, (out.isStream() ? "standard output" : out) + ": " + e.getMessage(), e);
    }
  }

  /** Begins an output that has been checked. */
  TensorWriter create(TensorLocation out, TensorSpec spec, Map<String, String> metadata)
      throws IOException {
    return out.isStream() ? npyToStandardOutput(spec) : createFile(out, List.of(spec), metadata);
  }

  /** Begins a file that has been checked. */
  TensorWriter createFile(TensorLocation out, List<TensorSpec> specs, Map<String, String> metadata)
      throws IOException {
    return TensorWriter.create(Path.of(out.file()), specs, metadataFor(out, metadata));
  }

  private TensorWriter npyToStandardOutput(TensorSpec spec) throws IOException {
    return TensorWriter.npyTo(surroundings.stdout(), "standard output", spec);
  }

  private static Map<String, String> metadataFor(TensorLocation out, Map<String, String> metadata) {
    return TensorFileFormat.of(out.file()).filter(f -> f == TensorFileFormat.NPY).isPresent()
        ? Map.of()
        : metadata;
  }

  /** The device's type of the same elements. */
  static ElementType<?> elementType(DType dtype) {
    return ElementType.of(dtype.name().toLowerCase(Locale.ROOT));
  }

  /** The name of an output's tensor: what the user gave, else the input's, else the operation's. */
  static String outputName(TensorLocation out, TensorSpec in, String operation) {
    @Nullable String given = out.tensor();
    if (given != null && !given.isEmpty()) {
      return given;
    }
    return in.name().isEmpty() ? operation : in.name();
  }

  private static boolean isSameFile(Path in, Path out) {
    try {
      return (Files.exists(out) && Files.exists(in))
          ? Files.isSameFile(in, out)
          : in.toAbsolutePath().normalize().equals(out.toAbsolutePath().normalize());
    } catch (IOException e) {
      return false; // whichever of them cannot be reached will say so when it is opened
    }
  }
}
