/**
 * Finds and opens the driver, turns its results into exceptions, and binds the hot path by hand.
 */
module dev.culebra.bindings {
  requires dev.culebra.generated;
  requires static transitive org.jspecify;

  exports dev.culebra.bindings;
}
