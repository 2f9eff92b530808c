package dev.culebra.bindings;

/**
 * The driver refused a kernel image: damaged, for another architecture, or PTX that its compiler
 * rejects (then the message has the compiler's log).
 */
public final class InvalidImageException extends CudaException {
  private static final long serialVersionUID = 1;

  InvalidImageException(String function, CudaResult result, String driverText, String hint) {
    super(function, result, driverText, hint);
  }
}
