package dev.culebra;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a kernel image was compiled for, as nvcc writes it: {@code sm_90a}, {@code sm_80}, {@code
 * compute_80}.
 *
 * @param form machine code or PTX
 * @param capability the architecture named
 */
public record KernelTarget(Form form, ComputeCapability capability) {

  /** What an image holds, and so which devices can run it. The order is the order of preference. */
  public enum Form {
    /** Machine code that uses features of exactly one architecture: {@code sm_90a}. */
    ARCHITECTURE_SPECIFIC,
    /** Machine code; it also runs on later members of the same generation: {@code sm_80}. */
    MACHINE_CODE,
    /** PTX, which the driver compiles for this and any later architecture: {@code compute_80}. */
    PTX
  }

  private static final Pattern SYNTAX = Pattern.compile("(sm|compute)_([1-9][0-9]{1,2})(a?)");

  /**
   * Reads a target.
   *
   * @param text such as {@code sm_90a}
   * @return the target
   * @throws IllegalArgumentException if it is not written like that
   */
  public static KernelTarget parse(String text) {
    Matcher matcher = SYNTAX.matcher(text);
    boolean ptx = text.startsWith("compute_");
    if (!matcher.matches() || (ptx && text.endsWith("a"))) {
      throw new IllegalArgumentException(
          "'" + text + "' is not a kernel target; write it like sm_90a, sm_80, compute_80");
    }
    boolean specific = text.endsWith("a");
    Form form = ptx ? Form.PTX : specific ? Form.ARCHITECTURE_SPECIFIC : Form.MACHINE_CODE;
    return new KernelTarget(form, ComputeCapability.ofSm(Integer.parseInt(matcher.group(2))));
  }

  /**
   * Whether a device can run such an image.
   *
   * @param device the device's compute capability
   * @return true if it can
   */
  public boolean fits(ComputeCapability device) {
    return switch (form) {
      case ARCHITECTURE_SPECIFIC -> device.equals(capability);
      case MACHINE_CODE ->
          device.major() == capability.major() && device.minor() >= capability.minor();
      case PTX -> device.compareTo(capability) >= 0;
    };
  }

  /** {@return the form {@code sm_90a}} */
  @Override
  public String toString() {
    return switch (form) {
      case ARCHITECTURE_SPECIFIC -> "sm_" + capability.sm() + "a";
      case MACHINE_CODE -> "sm_" + capability.sm();
      case PTX -> "compute_" + capability.sm();
    };
  }
}
