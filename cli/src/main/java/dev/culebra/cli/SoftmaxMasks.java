package dev.culebra.cli;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that mask elements, and the files that they name. */
final class SoftmaxMasks {
  private static final Set<DType> BYTES = EnumSet.of(DType.BOOL, DType.I8, DType.U8);
  private static final Set<DType> COUNTS = EnumSet.of(DType.I32, DType.I64);

  @Option(
      names = "--mask",
      paramLabel = "FILE",
      description = {
        "BOOL, U8 or I8: 0 where an element is masked and becomes 0 (--log: -inf). Its shape is that"
            + " of IN; axes before the last may be 1 or left out, and then it holds for all along"
            + " them."
      })
  private @Nullable TensorLocation elements;

  @Option(
      names = "--additive-mask",
      paramLabel = "FILE",
      description = {
        "Numbers that are added to the scaled logits, of the type of IN or F32; -inf masks. Its shape"
            + " is as that of --mask."
      })
  private @Nullable TensorLocation addends;

  @Option(
      names = "--lengths",
      paramLabel = "FILE",
      description = {
        "I32 or I64: how many of the first elements of each row count. Its shape is that of IN"
            + " without the last axis."
      })
  private @Nullable TensorLocation lengths;

  /** The files that were named. */
  List<TensorLocation> locations() {
    return Stream.of(elements, addends, lengths).filter(Objects::nonNull).toList();
  }

  /**
   * The opened files.
   *
   * @param elements bytes, or null
   * @param addends numbers that are added, or null
   * @param lengths of rows, or null
   */
  record Opened(
      @Nullable RepeatedRows elements,
      @Nullable RepeatedRows addends,
      @Nullable RowLengths lengths,
      List<TensorFile> files)
      implements AutoCloseable {

    /** Nothing is masked. */
    static final Opened NONE = new Opened(null, null, null, List.of());

    Opened {
      files = List.copyOf(files);
    }

    /** The bytes that masks take for an element of a tensor, at most. */
    int bytesPerElement() {
      return (elements == null ? 0 : elements.elementBytes())
          + (addends == null ? 0 : addends.elementBytes());
    }

    @Override
    public void close() {
      files.forEach(TensorFile::close);
    }
  }

  /** Opens and checks the files; the caller closes what it gets. */
  Opened open(TensorArguments arguments, TensorSpec masked) throws IOException {
    List<TensorFile> files = new ArrayList<>();
    try {
      RepeatedRows bytes = repeated(elements, BYTES, arguments, masked, files);
      RepeatedRows numbers =
          repeated(addends, EnumSet.of(masked.dtype(), DType.F32), arguments, masked, files);
      RowLengths counts = null;
      TensorLocation in = lengths;
      if (in != null) {
        TensorFile file = open(arguments, in, files);
        TensorData data = arguments.computable(file, in, false, COUNTS);
        counts = RowLengths.of(in, file, data, masked);
      }
      return new Opened(bytes, numbers, counts, files);
    } catch (Throwable t) {
      files.forEach(TensorFile::close);
      throw t;
    }
  }

  private static @Nullable RepeatedRows repeated(
      @Nullable TensorLocation in,
      Set<DType> types,
      TensorArguments arguments,
      TensorSpec masked,
      List<TensorFile> files)
      throws IOException {
    if (in == null) {
      return null;
    }
    TensorFile file = open(arguments, in, files);
    return RepeatedRows.of(in, file, arguments.computable(file, in, true, types), masked);
  }

  private static TensorFile open(
      TensorArguments arguments, TensorLocation in, List<TensorFile> files) throws IOException {
    TensorFile file = arguments.open(in);
    files.add(file);
    return file;
  }
}
