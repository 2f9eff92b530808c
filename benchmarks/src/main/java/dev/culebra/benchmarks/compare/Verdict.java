package dev.culebra.benchmarks.compare;

/** What comes of comparing one result with its former self. */
enum Verdict {
  /** The whole interval of new/old is above the tolerance. */
  SLOWER,
  /** The whole interval of new/old is below the tolerance. */
  FASTER,
  /** The whole interval of new/old lies within the tolerance, to either side. */
  SAME,
  /** The interval reaches over an end of the tolerance: more samples, or a quieter machine. */
  UNDECIDED,
  /** It was there, and is not any more; or it failed. */
  LOST,
  /** It was not there before. */
  NEW,
  /** It did not run before, and does not now. */
  STILL_FAILED,
  /** Both have a time, but of a kernel on the emulator, which means nothing. */
  UNJUDGED
}
