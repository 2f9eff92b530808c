package dev.culebra.benchmarks.calls;

/**
 * One way to reach the driver from Java, put beside the same loop in C. All contenders run in one
 * process, on one thread, with the same context current, and launch the same kernel.
 *
 * <p>Implementations are found with {@link java.util.ServiceLoader}, so that the peers stay out of
 * the product's build: they take part when their jar is on the class path.
 */
public interface Contender extends AutoCloseable {
  /** The name in reports, with a version where it is somebody else's. */
  String name();

  /**
   * Gets ready: loads the kernel, makes a stream. The context of the device is current on the
   * calling thread and stays so.
   *
   * @throws Exception if this contender cannot run here; the report then has the reason
   */
  void open(LaunchTarget target) throws Exception;

  /** Calls {@code cuCtxGetCurrent} {@code calls} times, checking each result. */
  void getCurrent(int calls);

  /**
   * Launches the kernel {@code launches} times into a stream of its own, checking each result, and
   * waits for the stream after every {@link LaunchTarget#SYNC_EVERY} launches and at the end.
   */
  void launch(int launches);

  @Override
  void close();
}
