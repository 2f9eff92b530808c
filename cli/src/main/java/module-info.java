/** The culebra command. */
module dev.culebra.cli {
  requires dev.culebra;
  requires dev.culebra.io;
  requires info.picocli;
  requires tools.jackson.core;
  requires static org.jspecify;

  opens dev.culebra.cli to
      info.picocli;
}
