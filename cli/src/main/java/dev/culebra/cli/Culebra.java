package dev.culebra.cli;

import dev.culebra.io.TensorLocation;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command with no subcommand: it only knows the others. */
@Command(
    name = "culebra",
    description = "Runs CUDA kernels on tensors in files, from Java without JNI.",
    footer = {
      "",
      "IN and OUT are .npy or .safetensors files; FILE.safetensors#NAME chooses a tensor; - is a .npy"
          + " on standard input or output.",
      "",
      "Exit status: 0 done, 1 a fault in Culebra, 2 wrong command line, 3 bad input or output, 4 device"
          + " error, 130 interrupted.",
      "Environment: CULEBRA_DRIVER and CULEBRA_KERNELS name another driver library and its kernels;"
          + " CUDA_VISIBLE_DEVICES is honoured."
    })
final class Culebra implements Runnable {
  @Spec private CommandSpec spec = CommandSpec.create();

  private Culebra() {}

  /** Runs one command and tells its exit status, whatever happens. */
  static int run(Surroundings surroundings, String... args) {
    try {
      return commandLine(surroundings).execute(args);
    } catch (Throwable e) {
      return Failures.onThrowable(e, surroundings.err());
    }
  }

  /** The whole command line, ready to execute. */
  static CommandLine commandLine(Surroundings surroundings) {
    CommandLine culebra = new CommandLine(new Culebra());
    culebra.addSubcommand(new InfoCommand(surroundings));
    culebra.addSubcommand(new SoftmaxCommand(surroundings));
    culebra.addSubcommand(new TopKCommand(surroundings));
    culebra.addSubcommand(new SampleCommand(surroundings));
    culebra.addSubcommand(new ReduceCommand(surroundings));
    culebra.addSubcommand(new DemoCommand(surroundings));
    culebra.addSubcommand(new CompletionCommand(surroundings));
    culebra
        .registerConverter(TensorLocation.class, TensorLocation::parse)
        .registerConverter(SoftmaxCommand.Choice.class, Words.of(SoftmaxCommand.Choice.class))
        .registerConverter(TopKCommand.Choice.class, Words.of(TopKCommand.Choice.class))
        .registerConverter(IndexType.class, Words.of(IndexType.class))
        .registerConverter(ReduceCommand.Operation.class, Words.of(ReduceCommand.Operation.class))
        .registerConverter(ReducedAxis.class, ReducedAxis::parse)
        .registerConverter(CompletionCommand.Shell.class, Words.of(CompletionCommand.Shell.class))
        // An argument that begins with @ is a file's name, as any other.
        .setExpandAtFiles(false)
        .setUsageHelpAutoWidth(false)
        .setUsageHelpWidth(100)
        .setOut(surroundings.out())
        .setErr(surroundings.err())
        .setColorScheme(
            CommandLine.Help.defaultColorScheme(
                surroundings.outIsTerminal() && System.getenv("NO_COLOR") == null
                    ? Ansi.ON
                    : Ansi.OFF))
        .setParameterExceptionHandler(Failures::onWrongUsage)
        .setExecutionExceptionHandler(Failures::onException);
    addStandardOptions(culebra);
    return culebra;
  }

  /** {@code --help} and {@code --version}, understood by every command. */
  private static void addStandardOptions(CommandLine command) {
    command.getCommandSpec().mixinStandardHelpOptions(true).versionProvider(new Version());
    command.getSubcommands().values().forEach(Culebra::addStandardOptions);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "a command is missing");
  }
}
