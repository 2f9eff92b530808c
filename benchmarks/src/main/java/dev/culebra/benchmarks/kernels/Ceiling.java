package dev.culebra.benchmarks.kernels;

/** Something that a device cannot do faster, ready to be timed. */
interface Ceiling extends AutoCloseable {
  /** The name in results. */
  String name();

  /** The kernel's symbol, or the driver's function. */
  String kernel();

  /** Bytes that one launch moves. */
  long bytes();

  /** Floating point operations of one launch; for {@code ex2}, exponentials. */
  double flops();

  /** Puts something else where results go. */
  void poison();

  /** Enqueues it. */
  void launch();

  /**
   * Compares what the timed launches left with what they had to.
   *
   * @return how many elements were compared
   * @throws IllegalStateException if they differ
   */
  long check();

  @Override
  void close();
}
