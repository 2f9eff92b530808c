package dev.culebra;

/**
 * Device memory that a kernel only reads. Marking it lets several streams read at once without
 * waiting for each other, and lets a launch refuse to pass it to a parameter that is written.
 *
 * @param <E> the type of the elements
 * @param range the memory
 */
public record In<E extends ElementType<E>>(DeviceRange<E> range) {

  /**
   * Marks memory as only read.
   *
   * @param <E> the type of the elements
   * @param range the memory
   * @return the mark
   */
  public static <E extends ElementType<E>> In<E> of(DeviceRange<E> range) {
    return new In<>(range);
  }
}
