/** Truth and hard inputs for tests. */
module dev.culebra.testkit {
  requires static org.jspecify;

  exports dev.culebra.testkit;
}
