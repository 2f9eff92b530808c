package dev.culebra.cli;

import dev.culebra.Device;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine.Help.Ansi;
import tools.jackson.core.JsonGenerator;

/**
 * What the demo shows.
 *
 * @param title the text that was counted
 * @param model its counts
 * @param prompt what was to be continued
 * @param candidates the most probable next characters
 * @param device where the softmax ran
 * @param kernel the kernel that did it
 * @param time its time on the device, without copies
 * @param check how far it is from float64
 */
record DemoResult(
    String title,
    NgramModel model,
    String prompt,
    List<Prediction.Candidate> candidates,
    Device device,
    String kernel,
    KernelTimer.Repeated time,
    Prediction.Check check) {

  private static final int BAR_WIDTH = 30;

  /** Every logit is read and every probability written once, float32 both. */
  private long trafficBytes() {
    return 2L * Float.BYTES * model.rowCount() * model.columnCount();
  }

  /** The table for people. */
  void printText(PrintWriter out, Ansi ansi) {
    out.printf("%s%n", VisibleText.of(title));
    out.printf(
        "%d contexts of %d characters x %d characters that may follow%n%n",
        model.rowCount(), model.order(), model.columnCount());
    out.printf("  %s ...%n%n", VisibleText.of(prompt));
    out.printf("  next  probability%n");
    float most = candidates.getFirst().probability();
    for (Prediction.Candidate candidate : candidates) {
      int width = Math.round(BAR_WIDTH * candidate.probability() / most);
      String bar = "#".repeat(width) + " ".repeat(BAR_WIDTH - width);
      out.printf(
          "  %-4s  %9.4f %%  %s  %s%n",
          candidate.character().equals(" ") ? "' '" : VisibleText.of(candidate.character()),
          100 * candidate.probability(),
          ansi.string("@|green " + bar + "|@"),
          VisibleText.of(candidate.continuation()));
    }
    out.println();
    out.printf("device     %s%n", device.name());
    out.printf("kernel     %s%n", kernel);
    out.printf(
        "time       %s, %s%n",
        Quantities.seconds(time.seconds()),
        Quantities.bytesPerSecond(trafficBytes() / time.seconds()));
    out.printf("max error  %.2g against float64, over %d rows%n", check.maxError(), check.rows());
    out.flush();
  }

  /** The same for machines. */
  void writeJson(JsonGenerator json) {
    json.writeStringProperty("text", title);
    json.writeNumberProperty("contexts", model.rowCount());
    json.writeNumberProperty("order", model.order());
    json.writeNumberProperty("characters", model.columnCount());
    json.writeStringProperty("prompt", prompt);
    json.writeArrayPropertyStart("next");
    for (Prediction.Candidate candidate : candidates) {
      json.writeStartObject();
      json.writeStringProperty("character", candidate.character());
      json.writeNumberProperty("probability", candidate.probability());
      json.writeStringProperty("continuation", candidate.continuation());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeStringProperty("device", device.name());
    json.writeStringProperty("uuid", device.uuidText());
    json.writeStringProperty("kernel", kernel);
    json.writeNumberProperty("kernelSeconds", time.seconds());
    json.writeStringProperty("kernelSecondsAre", time.description());
    json.writeNumberProperty("trafficBytes", trafficBytes());
    json.writeNumberProperty("maxError", check.maxError());
    json.writeNumberProperty("checkedRows", check.rows());
  }
}
