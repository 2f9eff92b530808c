package dev.culebra.benchmarks.compare;

/** What comes of comparing one result with its former self. */
enum Verdict {
  /** The whole interval of new/old is above the tolerance. */
  SLOWER,
  /** The whole interval of new/old is below the tolerance. */
  FASTER,
  /** The whole interval lies within the tolerance, or reaches only a little beyond it. */
  SAME,
  /** The interval is too wide to tell. */
  CANNOT_TELL,
  /** It was there, and is not any more; or it failed. */
  LOST,
  /** It was not there before. */
  NEW
}
