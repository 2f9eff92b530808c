package dev.culebra.bindings;

import dev.culebra.generated.cuda_h;
import java.lang.invoke.MethodHandle;

/**
 * Names and texts of results, from the driver. Empty where it cannot be asked: these never throw.
 */
final class ErrorTexts {
  private ErrorTexts() {}

  static String name(int code) {
    return isAvailable() ? ask(GetErrorName.HANDLE, code) : "";
  }

  static String text(int code) {
    return isAvailable() ? ask(GetErrorString.HANDLE, code) : "";
  }

  private static boolean isAvailable() {
    return DriverLibrary.opened().probe().isAvailable();
  }

  /** Calls {@code CUresult f(CUresult, const char **)}, which refuses codes it does not know. */
  private static String ask(MethodHandle function, int code) {
    try (var out = Scratch.borrow()) {
      int result = (int) function.invokeExact(code, out.address());
      return result == 0 ? NativeText.read(out.getLong()) : "";
    } catch (UnsupportedByDriverException e) {
      return "";
    } catch (Throwable t) {
      throw Downcall.rethrow(t);
    }
  }

  private static final class GetErrorName {
    static final MethodHandle HANDLE =
        Downcall.link("cuGetErrorName", cuda_h.cuGetErrorName$descriptor());
  }

  private static final class GetErrorString {
    static final MethodHandle HANDLE =
        Downcall.link("cuGetErrorString", cuda_h.cuGetErrorString$descriptor());
  }
}
