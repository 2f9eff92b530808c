package dev.culebra.benchmarks.session;

/** A part of the suite. */
public interface Section {
  /** The name in results and on the command line. */
  String name();

  /**
   * What it takes, in seconds, with something to spare: its share of a run whose time is limited.
   *
   * @param isEmulated whether there is no GPU: problems are tiny then
   */
  double usualSeconds(Scale scale, boolean isEmulated);

  /**
   * Measures what the file of results does not have yet, and puts each result there as soon as it
   * is known. A contender that fails is a result too. Stops where {@link Allowance#isUsedUp} says
   * so.
   *
   * @throws Exception if nothing more can be measured
   */
  void measure(Session session) throws Exception;
}
