package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.ops.Softmax;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code culebra demo}: predicts the next character of a text, with the softmax on the device. */
@Command(
    name = "demo",
    description = {
      "Counts which character follows which few in a text, and predicts the next one.",
      "The logarithms of the counts are the logits, a row a context; their softmax runs on the device."
    })
final class DemoCommand implements Callable<Integer> {
  private static final String BUNDLED_TEXT = "pride-and-prejudice.txt";
  private static final String BUNDLED_TITLE = "Pride and Prejudice, chapters 1 to 24";
  private static final int MAX_ORDER = 8;
  private static final int CANDIDATES = 5;
  private static final int LOOK_AHEAD = 12;

  /** Float64 on the host is slow; this many rows are enough to see an error. */
  private static final int CHECKED_ROWS = 20_000;

  /** The matrix is made on the host first, and should not fill it. */
  private static final long MAX_LOGIT_BYTES = 2L << 30;

  /** Beside the counts, the heap holds what is made of them, up to twice as large. */
  private static final int HEAP_SHARE = 4;

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Option(
      names = "--text",
      paramLabel = "FILE",
      description = "Count this UTF-8 text. Default: " + BUNDLED_TITLE + ".")
  private @Nullable Path text;

  @Option(
      names = "--prompt",
      paramLabel = "TEXT",
      description = "What to continue. Default: '${DEFAULT-VALUE}'.")
  private String prompt = "It is a truth universally ac";

  @Option(
      names = "--order",
      paramLabel = "N",
      description = "Characters of context, 1 to " + MAX_ORDER + ". Default: ${DEFAULT-VALUE}.")
  private int order = 3;

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(names = "--json", description = "Print one JSON object instead of a table.")
  private boolean json;

  DemoCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    if (order < 1 || order > MAX_ORDER) {
      throw new ParameterException(
          spec.commandLine(), "--order " + order + ": it must be from 1 to " + MAX_ORDER);
    }
    NgramModel model = count(readText());
    try (Arena arena = Arena.ofConfined();
        OpenDevice open = OpenDevice.open(surroundings, device)) {
      MemorySegment logits = model.logits(arena);
      DemoResult result = compute(model, logits, open, arena);
      if (json) {
        Json.print(surroundings.out(), result::writeJson);
      } else {
        result.printText(surroundings.out(), spec.commandLine().getColorScheme().ansi());
      }
    }
    return ExitStatus.OK;
  }

  private String readText() throws IOException {
    if (text == null) {
      try (InputStream in = DemoCommand.class.getResourceAsStream(BUNDLED_TEXT)) {
        if (in == null) {
          throw new IllegalStateException(BUNDLED_TEXT + " is not in the jar");
        }
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
      }
    }
    if (Files.isDirectory(text)) {
      throw new FileSystemException(text.toString(), null, "it is a folder");
    }
    try {
      return Files.readString(text);
    } catch (CharacterCodingException e) {
      throw new FileSystemException(text.toString(), null, "it is not a UTF-8 text");
    }
  }

  private NgramModel count(String characters) throws IOException {
    String name = text == null ? BUNDLED_TITLE : text.toString();
    try {
      return NgramModel.count(
          characters,
          order,
          Math.min(MAX_LOGIT_BYTES, Runtime.getRuntime().maxMemory() / HEAP_SHARE));
    } catch (IllegalArgumentException e) {
      throw new FileSystemException(name, null, e.getMessage());
    }
  }

  private DemoResult compute(NgramModel model, MemorySegment logits, OpenDevice open, Arena arena) {
    long elements = (long) model.rowCount() * model.columnCount();
    MemorySegment probabilities = arena.allocate(ElementType.F32.layout(), elements);
    KernelTimer.Repeated time;
    Softmax softmax = Softmax.of(open.context());
    try (DeviceBuffer<ElementType.F32> in =
            open.context().allocate(ElementType.F32, elements, open.stream());
        DeviceBuffer<ElementType.F32> out =
            open.context().allocate(ElementType.F32, elements, open.stream())) {
      in.copyFrom(logits);
      TensorView<ElementType.F32> from = TensorView.of(in, model.rowCount(), model.columnCount());
      TensorView<ElementType.F32> to = TensorView.of(out, model.rowCount(), model.columnCount());
      try (KernelTimer timer = new KernelTimer(open.context(), open.stream())) {
        timer.warmUp(() -> softmax.forward(from.slice(0, 0, 1), to.slice(0, 0, 1), open.stream()));
        time = timer.repeat(() -> softmax.forward(from, to, open.stream()));
      }
      out.copyTo(probabilities);
    }
    Prediction prediction = new Prediction(model, probabilities);
    return new DemoResult(
        text == null ? BUNDLED_TITLE : text.toString(),
        model,
        prompt,
        prediction.best(prompt, CANDIDATES, LOOK_AHEAD),
        open.device(),
        softmax.kernelName(ElementType.F32, model.rowCount(), model.columnCount()),
        time,
        prediction.check(logits, CHECKED_ROWS));
  }
}
