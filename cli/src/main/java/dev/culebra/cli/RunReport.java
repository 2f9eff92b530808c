package dev.culebra.cli;

import dev.culebra.Device;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import java.io.PrintWriter;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;

/**
 * What a run tells of itself when it is done.
 *
 * @param operation what was computed
 * @param device where
 * @param kernel the kernel that did it
 * @param input what was read
 * @param trafficBytes what the kernel must read and write at least
 * @param kernelSeconds time on the device, without copies
 * @param totalSeconds time of the whole run, with reading, copying and writing
 */
record RunReport(
    String operation,
    Device device,
    String kernel,
    TensorSpec input,
    long trafficBytes,
    double kernelSeconds,
    double totalSeconds) {

  /** Tells of a run that wrote a tensor; the text keeps clear of one on standard output. */
  void printWritten(Surroundings surroundings, TensorLocation out, boolean json) {
    if (json) {
      printJson(surroundings.out(), more -> more.writeStringProperty("output", out.toString()));
    } else if (out.isStream()) {
      printText(surroundings.err(), "");
    } else {
      printText(surroundings.out(), out.toString());
    }
  }

  /** One line for people. */
  private void printText(PrintWriter out, String destination) {
    out.printf(
        "%s of %s %s on %s: %s in %s%s, %s in all%s%n",
        operation,
        input.dtype(),
        Quantities.shape(input.shape()),
        device.name(),
        kernel,
        Quantities.seconds(kernelSeconds),
        rate().isEmpty() ? "" : " (" + rate() + ")",
        Quantities.seconds(totalSeconds),
        destination.isEmpty() ? "" : ", written to " + VisibleText.of(destination));
    out.flush();
  }

  /** One object for machines; {@code more} adds properties of the operation. */
  void printJson(PrintWriter out, Consumer<JsonGenerator> more) {
    Json.print(
        out,
        json -> {
          json.writeStringProperty("operation", operation);
          json.writeStringProperty("device", device.name());
          json.writeStringProperty("uuid", device.uuidText());
          json.writeStringProperty("kernel", kernel);
          json.writeStringProperty("dtype", input.dtype().name());
          Json.numbers(json, "shape", input.shape());
          json.writeNumberProperty("trafficBytes", trafficBytes);
          json.writeNumberProperty("kernelSeconds", kernelSeconds);
          json.writeStringProperty("kernelSecondsAre", KernelTimer.SUM_OF_SPANS);
          json.writeNumberProperty("totalSeconds", totalSeconds);
          more.accept(json);
        });
  }

  private String rate() {
    return kernelSeconds > 0 ? Quantities.bytesPerSecond(trafficBytes / kernelSeconds) : "";
  }
}
