/** The CUDA driver API as jextract sees it, one method per C function. */
module dev.culebra.generated {
  requires static transitive org.jspecify;

  exports dev.culebra.generated;
}
