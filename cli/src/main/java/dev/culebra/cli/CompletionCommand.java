package dev.culebra.cli;

import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code culebra completion}: the script with which a shell completes the others. */
@Command(
    name = "completion",
    description = "Prints a shell completion script: source <(culebra completion bash)")
final class CompletionCommand implements Callable<Integer> {
  /** The shells that understand the script; zsh does after bashcompinit, which it contains. */
  enum Shell {
    BASH,
    ZSH;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  // One script serves both; the word is asked for so that another shell can get its own.
  @SuppressWarnings("UnusedVariable")
  @Parameters(paramLabel = "SHELL", defaultValue = "bash", description = "${COMPLETION-CANDIDATES}")
  private Shell shell = Shell.BASH;

  CompletionCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    surroundings.out().print(AutoComplete.bash("culebra", spec.root().commandLine()));
    surroundings.out().flush();
    return ExitStatus.OK;
  }
}
