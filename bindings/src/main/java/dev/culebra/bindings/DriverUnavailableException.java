package dev.culebra.bindings;

/**
 * There is no usable driver. The message tells why and what to do; {@link #probe()} has the facts.
 * The driver is opened once in a process, so every call fails with the same message.
 */
public final class DriverUnavailableException extends CudaException {
  private static final long serialVersionUID = 1;

  private final DriverProbe probe;

  DriverUnavailableException(DriverProbe probe) {
    super(probe.message(), "cuInit", probe.result(), "", probe.message(), null);
    this.probe = probe;
  }

  /** What was tried when the driver was opened, and what came of it. */
  public DriverProbe probe() {
    return probe;
  }
}
