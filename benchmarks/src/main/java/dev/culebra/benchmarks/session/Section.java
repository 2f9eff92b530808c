package dev.culebra.benchmarks.session;

/** A part of the suite. */
public interface Section {
  /** The name in results and on the command line. */
  String name();

  /**
   * Measures what the file of results does not have yet, and puts each result there as soon as it
   * is known. A contender that fails is a result too.
   *
   * @throws Exception if nothing more can be measured
   */
  void measure(Session session) throws Exception;
}
