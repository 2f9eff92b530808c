/** Reads and writes .npy and .safetensors files. */
module dev.culebra.io {
  requires tools.jackson.core;
  requires static transitive org.jspecify;

  exports dev.culebra.io;
}
