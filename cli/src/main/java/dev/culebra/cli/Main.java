package dev.culebra.cli;

/** The process behind {@code bin/culebra}. */
public final class Main {
  private Main() {}

  /** Runs one command and ends the process with its status. */
  public static void main(String[] args) {
    Surroundings surroundings = Surroundings.ofProcess();
    int status = Culebra.run(surroundings, args);
    if (surroundings.out().checkError() && status == ExitStatus.OK) {
      surroundings.err().println("culebra: standard output cannot be written");
      status = ExitStatus.BAD_INPUT;
    }
    surroundings.err().flush();
    System.exit(status);
  }
}
