package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.results.Json;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * torch in a process of its own ({@code torch_peer.py}), which answers requests, a line of JSON
 * each: so its turns lie between ours, and it is idle while ours run.
 */
final class TorchPeer implements AutoCloseable {
  /** Names the script. */
  static final String SCRIPT_PROPERTY = "culebra.torch_peer";

  private @Nullable Process process;
  private @Nullable BufferedReader answers;
  private @Nullable BufferedWriter requests;
  private Optional<String> name = Optional.empty();

  private TorchPeer() {}

  /**
   * Starts it; where that does not work, says so in one line, and there is no peer.
   *
   * @param python the command, or nothing
   */
  static TorchPeer start(String python) {
    TorchPeer peer = new TorchPeer();
    String script = System.getProperty(SCRIPT_PROPERTY);
    if (python.isEmpty() || script == null) {
      return peer;
    }
    try {
      Process process =
          new ProcessBuilder(python, Path.of(script).toString())
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      peer.process = process;
      peer.answers = process.inputReader(StandardCharsets.UTF_8);
      peer.requests = process.outputWriter(StandardCharsets.UTF_8);
      peer.name =
          Optional.ofNullable(peer.ask(Map.of("ask", "name")).get("name")).map(Object::toString);
    } catch (IOException | IllegalStateException e) {
      System.out.println("torch is not measured: " + e.getMessage());
      peer.name = Optional.empty();
    }
    return peer;
  }

  /** Name and version, if it runs here. */
  Optional<String> name() {
    return name;
  }

  /**
   * Lets it allocate, fill and warm up.
   *
   * @throws IllegalStateException with its reason, if it cannot
   */
  void open(Problem problem, int sets) {
    Map<String, Object> request = new LinkedHashMap<>(problem.peer());
    request.put("ask", "open");
    request.put("sets", sets);
    ask(request);
  }

  /**
   * Lets it take its turn.
   *
   * @param micros gets the samples
   * @return what else it says, for the details of the result
   */
  Map<String, Object> take(Problem problem, int samples, List<Double> micros) {
    Map<String, Object> answer =
        ask(Map.of("ask", "take", "samples", samples, "problem", problem.name()));
    for (Object sample : (List<?>) Objects.requireNonNull(answer.remove("us"))) {
      micros.add(((Number) Objects.requireNonNull(sample)).doubleValue());
    }
    return answer;
  }

  /** Lets it give its memory back. */
  void close(Problem problem) {
    if (name.isPresent() && problem.peer().containsKey("op")) {
      try {
        ask(Map.of("ask", "close"));
      } catch (IllegalStateException e) {
        System.out.println("torch is gone: " + e.getMessage());
        name = Optional.empty();
      }
    }
  }

  private Map<String, Object> ask(Map<String, Object> request) {
    try {
      BufferedWriter to = Objects.requireNonNull(requests);
      to.write(Json.text(request));
      to.newLine();
      to.flush();
      String line = Objects.requireNonNull(answers).readLine();
      if (line == null) {
        throw new IllegalStateException("it ended");
      }
      @SuppressWarnings("unchecked") // the script answers with objects only
      Map<String, Object> answer = (Map<String, Object>) Objects.requireNonNull(Json.parse(line));
      if (answer.get("failed") instanceof String reason) {
        throw new IllegalStateException(reason);
      }
      return answer;
    } catch (IOException e) {
      throw new IllegalStateException(new UncheckedIOException(e));
    } catch (JacksonException | ClassCastException e) {
      throw new IllegalStateException("it does not answer in JSON", e);
    }
  }

  @Override
  public void close() {
    if (process != null) {
      process.destroy();
    }
  }
}
