package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.results.Json;
import dev.culebra.benchmarks.session.Command;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/**
 * torch in a process of its own ({@code torch_peer.py}), which answers requests, a line of JSON
 * each: so its turns lie between ours, and it is idle while ours run. A process that ends or does
 * not answer is no peer any more; the run goes on without it.
 */
final class TorchPeer implements AutoCloseable {
  /** Names the script. */
  static final String SCRIPT_PROPERTY = "culebra.torch_peer";

  /** Far above the slowest answer, which is its start on a machine that has not read it yet. */
  private static final Duration MOST = Duration.ofMinutes(2);

  private final Duration most;
  private @Nullable Process process;
  private @Nullable BufferedWriter requests;

  /** A line that came, or null: there will be no more. */
  private record Line(@Nullable String text) {}

  private final BlockingQueue<Line> answers = new LinkedBlockingQueue<>();

  private Optional<String> name = Optional.empty();

  private TorchPeer(Duration most) {
    this.most = most;
  }

  /**
   * Starts it; where that does not work, says so in one line, and there is no peer.
   *
   * @param python the command, or nothing
   */
  static TorchPeer start(String python) {
    return start(python, MOST);
  }

  /**
   * The same.
   *
   * @param most how long an answer may take
   */
  static TorchPeer start(String python, Duration most) {
    TorchPeer peer = new TorchPeer(most);
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
      peer.requests = process.outputWriter(StandardCharsets.UTF_8);
      Thread.ofPlatform()
          .daemon()
          .name("torch's answers")
          .start(() -> peer.read(process.inputReader(StandardCharsets.UTF_8)));
      peer.name =
          Optional.ofNullable(peer.ask(Map.of("ask", "name")).get("name")).map(Object::toString);
    } catch (IOException | IllegalStateException e) {
      System.out.println("torch is not measured: " + e.getMessage());
      peer.close();
    }
    return peer;
  }

  private void read(BufferedReader from) {
    try (from) {
      for (String line = from.readLine(); line != null; line = from.readLine()) {
        answers.add(new Line(line));
      }
    } catch (IOException e) {
      // It was ended: the same as the end of its answers.
    }
    answers.add(new Line(null));
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
   * @return the time of one operation in microseconds
   */
  double take() {
    return micros(ask(Map.of("ask", "take")));
  }

  /**
   * Lets it take its last turn, after which its outputs are looked at.
   *
   * @param details gets what else it says
   * @throws IllegalStateException if it computes something else than what was asked
   */
  double takeAndProve(Problem problem, Map<String, Object> details) {
    Map<String, Object> answer = ask(Map.of("ask", "take", "prove", true));
    double micros = micros(answer);
    answer.remove("us");
    if (!(answer.get("error") instanceof Number error)) {
      throw new IllegalStateException("it does not tell its error");
    }
    problem.requireRight(error.doubleValue());
    details.putAll(answer);
    details.put("allowed_error", problem.allowedError());
    return micros;
  }

  private static double micros(Map<String, Object> answer) {
    if (!(answer.get("us") instanceof Number micros)) {
      throw new IllegalStateException("it does not tell its time");
    }
    if (!(micros.doubleValue() > 0)) {
      throw new IllegalStateException("it tells a time of " + micros + " us");
    }
    return micros.doubleValue();
  }

  /** Lets it give its memory back. */
  void close(Problem problem) {
    if (name.isPresent() && problem.peer().containsKey("op")) {
      try {
        ask(Map.of("ask", "close"));
      } catch (IllegalStateException e) {
        System.out.println("torch is gone: " + e.getMessage());
        close();
      }
    }
  }

  private Map<String, Object> ask(Map<String, Object> request) {
    String line = answer(request);
    if (!(parse(line) instanceof Map<?, ?> map)) {
      throw new IllegalStateException("its answer is no JSON object: " + line);
    }
    if (map.get("failed") instanceof String reason) {
      throw new IllegalStateException(reason);
    }
    @SuppressWarnings("unchecked") // keys of JSON are strings, and the script answers without null
    Map<String, Object> answer = (Map<String, Object>) map;
    return answer;
  }

  /** What a line says; null if it is no JSON. */
  private static @Nullable Object parse(String line) {
    try {
      return Json.parse(line);
    } catch (JacksonException e) {
      return null;
    }
  }

  private String answer(Map<String, Object> request) {
    try {
      BufferedWriter to = Objects.requireNonNull(requests);
      to.write(Json.text(request));
      to.newLine();
      to.flush();
      Line line = answers.poll(most.toNanos(), TimeUnit.NANOSECONDS);
      if (line == null) {
        close();
        throw new IllegalStateException(
            "no answer to \"%s\" after %.1f s, so it was ended"
                .formatted(request.get("ask"), most.toMillis() / 1e3));
      }
      if (line.text == null) {
        close();
        throw new IllegalStateException("it ended");
      }
      return line.text;
    } catch (IOException e) {
      close();
      throw new IllegalStateException("it ended: " + e.getMessage(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      close();
      throw new IllegalStateException("interrupted while it worked", e);
    }
  }

  @Override
  public void close() {
    name = Optional.empty();
    if (process != null) {
      Command.end(process);
    }
  }
}
