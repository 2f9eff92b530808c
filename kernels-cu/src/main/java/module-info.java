/** The kernel images of the jar, with their index and launch tables. */
module dev.culebra.kernels {
  requires static transitive org.jspecify;

  exports dev.culebra.kernels;
}
