package dev.culebra;

import java.util.Comparator;

/**
 * A device's architecture as CUDA counts it, such as 9.0 for Hopper.
 *
 * @param major the generation
 * @param minor the member of the generation
 */
public record ComputeCapability(int major, int minor) implements Comparable<ComputeCapability> {

  private static final Comparator<ComputeCapability> ORDER =
      Comparator.comparingInt(ComputeCapability::major).thenComparingInt(ComputeCapability::minor);

  /**
   * Checks that both numbers can be written as an SM number.
   *
   * @throws IllegalArgumentException if major is below 1 or minor is not one digit
   */
  public ComputeCapability {
    if (major < 1 || minor < 0 || minor > 9) {
      throw new IllegalArgumentException(
          "compute capability " + major + "." + minor + " cannot be");
    }
  }

  /**
   * Reads an SM number.
   *
   * @param smNumber such as 90 for 9.0 or 120 for 12.0
   * @return the compute capability
   */
  public static ComputeCapability ofSm(int smNumber) {
    return new ComputeCapability(smNumber / 10, smNumber % 10);
  }

  /** {@return the SM number, such as 90 for 9.0} */
  public int sm() {
    return major * 10 + minor;
  }

  @Override
  public int compareTo(ComputeCapability other) {
    return ORDER.compare(this, other);
  }

  /** {@return the form {@code 9.0}} */
  @Override
  public String toString() {
    return major + "." + minor;
  }
}
