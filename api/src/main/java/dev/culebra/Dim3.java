package dev.culebra;

/**
 * A size in up to three dimensions, as CUDA counts blocks of a grid and threads of a block.
 *
 * @param x the first axis, along which neighbours lie in one warp
 * @param y the second axis
 * @param z the third axis
 */
public record Dim3(int x, int y, int z) {

  /**
   * A size along x only.
   *
   * @param x the size
   * @return {@code (x, 1, 1)}
   */
  public static Dim3 of(int x) {
    return new Dim3(x, 1, 1);
  }

  /**
   * A size along x and y.
   *
   * @param x the size along x
   * @param y the size along y
   * @return {@code (x, y, 1)}
   */
  public static Dim3 of(int x, int y) {
    return new Dim3(x, y, 1);
  }

  /**
   * {@return how many blocks or threads there are in all}
   *
   * @throws ArithmeticException if there are more than {@link Long#MAX_VALUE}
   */
  public long count() {
    return Math.multiplyExact(Math.multiplyExact((long) x, y), z);
  }

  /** {@return the form {@code 128x1x1}} */
  @Override
  public String toString() {
    return x + "x" + y + "x" + z;
  }
}
