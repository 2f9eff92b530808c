package dev.culebra.benchmarks.session;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The state of a GPU as {@code nvidia-smi} tells it, where that is installed. */
final class Clocks {
  private static final List<String> FIELDS =
      List.of(
          "clocks.sm",
          "clocks.mem",
          "clocks.max.sm",
          "power.draw",
          "power.limit",
          "temperature.gpu",
          "clocks_event_reasons.active");

  private Clocks() {}

  /**
   * Asks for the device's clocks.
   *
   * @param device the UUID, as the tool's option takes it
   * @param before the section that is about to run
   */
  static Optional<Map<String, String>> now(String device, String before) {
    try {
      Command.Outcome outcome =
          Command.run(
              List.of(
                  "nvidia-smi",
                  "--id=" + device,
                  "--query-gpu=" + String.join(",", FIELDS),
                  "--format=csv,noheader"),
              Duration.ofSeconds(10));
      if (!outcome.isGood()) {
        return Optional.empty();
      }
      List<String> values = List.of(outcome.output().strip().split(", *"));
      if (values.size() != FIELDS.size()) {
        return Optional.empty();
      }
      Map<String, String> clocks = new LinkedHashMap<>();
      clocks.put("before", before);
      clocks.put("at", Instant.now().toString());
      for (int i = 0; i < FIELDS.size(); i++) {
        clocks.put(FIELDS.get(i), values.get(i));
      }
      return Optional.of(clocks);
    } catch (IOException e) {
      return Optional.empty(); // not installed here
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
