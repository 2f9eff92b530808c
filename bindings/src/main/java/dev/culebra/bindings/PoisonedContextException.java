package dev.culebra.bindings;

/**
 * The context was poisoned by an earlier fault, which is the cause of this exception; the driver
 * was not called. Nothing in this process helps: restart it.
 */
public final class PoisonedContextException extends CudaException {
  private static final long serialVersionUID = 1;

  /**
   * @param function the C function that was about to be called
   * @param fault what poisoned the context, the first such failure
   */
  public PoisonedContextException(String function, CudaException fault) {
    super(
        function
            + " was not called: "
            + fault.function()
            + " reported "
            + fault.result()
            + " earlier and poisoned the context. The device cannot be used by this process again:"
            + " restart it",
        function,
        fault.result(),
        fault.driverText(),
        "restart the process",
        fault);
  }
}
