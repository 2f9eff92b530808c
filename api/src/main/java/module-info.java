/** The typed API over the CUDA driver, and the operations above it. */
module dev.culebra {
  requires transitive dev.culebra.bindings;
  requires dev.culebra.kernels;
  requires static org.jspecify;

  exports dev.culebra;
  exports dev.culebra.ops;
}
