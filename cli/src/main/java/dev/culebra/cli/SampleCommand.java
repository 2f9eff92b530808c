package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorFileFormat;
import dev.culebra.io.TensorFormatException;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.ops.Sampling;
import java.io.IOException;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code culebra sample}: a token drawn of each row of logits in a file. */
@Command(
    name = "sample",
    description = {
      "Draws one token of each row of the last axis: from softmax(logits / temperature), of which"
          + " top-k, then top-p, then min-p leave the first in the order of probability.",
      "The same seed and offset draw the same tokens. A row with NaN or +inf, or of nothing but"
          + " -inf, gives -1."
    })
final class SampleCommand implements Callable<Integer> {
  private static final Set<DType> TYPES = EnumSet.of(DType.F16, DType.BF16, DType.F32);
  private static final String TOKENS = "tokens";
  private static final String PROBABILITIES = "probabilities";

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "IN", description = "The logits: F16, BF16 or F32.")
  private TensorLocation in = new TensorLocation("", null);

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "OUT",
      description = {
        "A .safetensors with tokens and probabilities, or a .npy (- for standard output) of the"
            + " tokens alone.",
        "It appears when it is complete."
      })
  private TensorLocation out = new TensorLocation("", null);

  @Option(
      names = "--temperature",
      paramLabel = "T",
      description = "Divides the logits; 0 takes the largest. Default: ${DEFAULT-VALUE}.")
  private double temperature = 1;

  @Option(
      names = "--top-k",
      paramLabel = "K",
      description = "Keep the K most probable; 0 keeps all. Default: ${DEFAULT-VALUE}.")
  private int topK;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      description =
          "Keep the fewest that have P of the mass that is left; 1 keeps all. Default:"
              + " ${DEFAULT-VALUE}.")
  private double topP = 1;

  @Option(
      names = "--min-p",
      paramLabel = "P",
      description =
          "Keep what is at least P times as probable as the most probable; 0 keeps all. Default:"
              + " ${DEFAULT-VALUE}.")
  private double minP;

  @Option(names = "--seed", paramLabel = "N", description = "Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--offset",
      paramLabel = "N",
      description =
          "Which draw of that seed: another one for every step. Default: ${DEFAULT-VALUE}.")
  private long offset;

  @Option(
      names = "--index-type",
      paramLabel = "TYPE",
      description = "Of the tokens: ${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
  private IndexType indexType = IndexType.I32;

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(names = "--json", description = "Print one JSON object instead of a line.")
  private boolean json;

  SampleCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    TensorArguments arguments = new TensorArguments(surroundings, spec.commandLine());
    checkOptions();
    arguments.checkOutput(in, out, json);
    try (TensorFile file = arguments.open(in)) {
      TensorData tensor = arguments.computable(file, in, true, TYPES);
      checkLength(tensor.spec());
      List<TensorSpec> results = resultsOf(tensor.spec());
      arguments.checkResults(out, results, file.metadata());
      RunReport report =
          compute(
              arguments,
              file,
              tensor,
              results,
              TensorArguments.elementType(tensor.spec().dtype()),
              TensorArguments.elementType(results.getFirst().dtype()));
      report.printWritten(surroundings, out, json);
    }
    return ExitStatus.OK;
  }

  private void checkOptions() {
    if (!(temperature >= 0 && temperature <= Float.MAX_VALUE)) {
      throw wrong("--temperature " + temperature + ": it must be a finite number from 0 on");
    }
    if (topK < 0) {
      throw wrong("--top-k " + topK + ": it must not be negative; 0 keeps all");
    }
    if (!(topP > 0 && topP <= 1)) {
      throw wrong("--top-p " + topP + ": it must be above 0 and at most 1, which keeps all");
    }
    if (!(minP >= 0 && minP <= 1)) {
      throw wrong("--min-p " + minP + ": it must be from 0, which keeps all, to 1");
    }
    if (out.tensor() != null) {
      throw wrong(out + ": the results' names are given; leave out #" + out.tensor());
    }
  }

  private void checkLength(TensorSpec input) throws TensorFormatException {
    long length = input.shape()[input.rank() - 1];
    if (input.elementCount() == 0 && length > 0) {
      return;
    }
    if (length < 1 || length > Integer.MAX_VALUE) {
      throw TensorArguments.refuse(
          in,
          input,
          "a row has %d elements; a token is drawn from 1 to %d"
              .formatted(length, Integer.MAX_VALUE));
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** The tokens, and where there is room for them the probabilities. */
  private List<TensorSpec> resultsOf(TensorSpec input) {
    long[] shape = Arrays.copyOf(input.shape(), input.rank() - 1);
    TensorSpec tokens = new TensorSpec(TOKENS, DType.valueOf(indexType.name()), shape);
    boolean alone =
        out.isStream()
            || TensorFileFormat.of(out.file()).filter(f -> f == TensorFileFormat.NPY).isPresent();
    return alone
        ? List.of(tokens)
        : List.of(tokens, new TensorSpec(PROBABILITIES, DType.F32, shape));
  }

  private <E extends ElementType<E>> RunReport compute(
      TensorArguments arguments,
      TensorFile file,
      TensorData tensor,
      List<TensorSpec> results,
      ElementType<E> type,
      ElementType<?> tokenType)
      throws IOException {
    long startNanos = System.nanoTime();
    try (OpenDevice open = OpenDevice.open(surroundings, device)) {
      Sampling sampling =
          Sampling.of(open.context())
              .withTemperature(temperature)
              .withTopK(topK)
              .withTopP(topP)
              .withMinP(minP)
              .withSeed(seed);
      try (RowPassage<E> rows =
          new RowPassage<>(
              surroundings,
              open,
              file,
              tensor,
              type,
              List.of(
                  new RowPassage.Result(tokenType, 1), new RowPassage.Result(ElementType.F32, 1)),
              0,
              // Tokens do not depend on how the rows are cut into pieces.
              (logits, first, out, stream) ->
                  sampling
                      .withFirstRow(first)
                      .forward(
                          logits,
                          TensorView.of(out.get(0), logits.length(0)),
                          TensorView.of(out.get(1).as(ElementType.F32), logits.length(0)),
                          offset,
                          stream))) {
        rows.warmUp();
        // Not begun before the device has shown that it works: a driver that aborts deletes
        // nothing.
        try (TensorWriter writer = create(arguments, file, results)) {
          rows.run(
              (i, bytes) -> {
                if (i < results.size()) {
                  writer.append(results.get(i).name(), bytes);
                }
              });
          writer.commit();
        }
        long length = tensor.spec().shape()[tensor.spec().rank() - 1];
        return new RunReport(
            "sample",
            open.device(),
            sampling.kernelName(type, rows.rowsAtOnce(), length),
            tensor.spec(),
            tensor.spec().byteSize() + results.stream().mapToLong(TensorSpec::byteSize).sum(),
            rows.kernelSeconds(),
            (System.nanoTime() - startNanos) * 1e-9);
      }
    }
  }

  private TensorWriter create(TensorArguments arguments, TensorFile file, List<TensorSpec> results)
      throws IOException {
    return results.size() > 1
        ? arguments.createFile(out, results, file.metadata())
        : arguments.create(out, results.getFirst(), file.metadata());
  }
}
