package dev.culebra.bindings;

/**
 * A kernel broke a rule (a bad address, an illegal instruction, an assertion, a timeout) or the
 * hardware failed. The call that reports it is often not the one that caused it. Sticky: the
 * context and the process are lost for this device.
 */
public final class KernelFaultException extends CudaException {
  private static final long serialVersionUID = 1;

  KernelFaultException(String function, CudaResult result, String driverText, String hint) {
    super(function, result, driverText, hint);
  }
}
