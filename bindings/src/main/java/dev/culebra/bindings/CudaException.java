package dev.culebra.bindings;

import org.jspecify.annotations.Nullable;

/**
 * A driver function failed. The message names the function, the result and the driver's own text,
 * and says what to do where that is known. Subclasses mark what a caller can act on.
 */
public class CudaException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String function;
  private final int code;
  private final String driverText;
  private final String hint;

  /**
   * For the subclasses and for tests; {@link #of} chooses the class.
   *
   * @param function the C function, such as {@code cuMemAlloc_v2}
   * @param driverText what {@code cuGetErrorString} says; empty if the driver could not be asked
   * @param hint what to do about it; empty if we know nothing better than the driver
   */
  public CudaException(String function, CudaResult result, String driverText, String hint) {
    this(describe(function, result, driverText, hint), function, result, driverText, hint, null);
  }

  CudaException(
      String message,
      String function,
      CudaResult result,
      String driverText,
      String hint,
      @Nullable Throwable cause) {
    super(message, cause);
    this.function = function;
    this.code = result.code();
    this.driverText = driverText;
    this.hint = hint;
  }

  /**
   * The exception of a failed call, of the subclass that fits its result.
   *
   * @param function the C function that failed
   * @param code its {@code CUresult}, not 0
   */
  public static CudaException of(String function, int code) {
    return of(function, code, "");
  }

  /**
   * As {@link #of(String, int)}, with more to say.
   *
   * @param detail what the caller knows: a compiler's log, a size, a name; appended to the message
   */
  public static CudaException of(String function, int code, String detail) {
    CudaResult result = CudaResult.of(code);
    String text = Driver.getErrorString(code);
    String hint = Hints.of(function, result);
    String all = detail.isEmpty() ? hint : hint.isEmpty() ? detail : hint + "; " + detail;
    if (result.isSticky()) return new KernelFaultException(function, result, text, all);
    return switch (code) {
      case 2 -> new OutOfDeviceMemoryException(function, result, text, all);
      case 200, 209, 218, 221, 222, 223, 300 ->
          new InvalidImageException(function, result, text, all);
      case 701, 720, 912 -> new LaunchConfigException(function, result, text, all);
      case 1 ->
          function.startsWith("cuLaunchKernel")
              ? new LaunchConfigException(function, result, text, all)
              : new CudaException(function, result, text, all);
      default -> new CudaException(function, result, text, all);
    };
  }

  private static String describe(
      String function, CudaResult result, String driverText, String hint) {
    var message = new StringBuilder(function).append(": ");
    message.append(result.isKnown() ? result : Driver.getErrorName(result.code()));
    if (!driverText.isEmpty()) message.append(": ").append(driverText);
    if (!hint.isEmpty()) message.append("; ").append(hint);
    return message.toString();
  }

  /** The C function that failed. */
  public String function() {
    return function;
  }

  /** What it answered. */
  public CudaResult result() {
    return CudaResult.of(code);
  }

  /** The driver's text for the result; empty if it could not be asked. */
  public String driverText() {
    return driverText;
  }

  /** What to do about it; may be empty. */
  public String hint() {
    return hint;
  }
}
