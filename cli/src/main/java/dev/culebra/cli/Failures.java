package dev.culebra.cli;

import dev.culebra.bindings.CudaException;
import dev.culebra.io.TensorFormatException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Turns whatever is thrown into one line on standard error and an exit status. What a user's input
 * can cause never shows a stack trace; a fault of Culebra does.
 */
final class Failures {
  private Failures() {}

  /** A wrong command line: what is wrong, and where to read on. */
  static int onWrongUsage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    PrintWriter err = command.getErr();
    report(err, e.getMessage(), ExitStatus.USAGE);
    UnmatchedArgumentException.printSuggestions(e, err);
    err.println("Try '" + command.getCommandSpec().qualifiedName() + " --help' for what it takes.");
    return ExitStatus.USAGE;
  }

  /** A command that failed under way. */
  static int onException(Exception e, CommandLine command, ParseResult parsed) {
    return onThrowable(e, command.getErr());
  }

  /** The same for all that can be thrown; picocli lets errors pass. */
  static int onThrowable(Throwable e, PrintWriter err) {
    return switch (e) {
      case IOException io -> report(err, describe(io), ExitStatus.BAD_INPUT);
      case UncheckedIOException io ->
          report(err, describe(Objects.requireNonNull(io.getCause())), ExitStatus.BAD_INPUT);
      case InvalidPathException path ->
          report(err, path.getInput() + ": " + path.getReason(), ExitStatus.USAGE);
      case OutOfMemoryError memory ->
          report(
              err,
              "this machine or this JVM has too little memory for that: " + memory.getMessage(),
              ExitStatus.BAD_INPUT);
      case NoSuchDeviceException device -> reportLines(err, device.getMessage());
      case CudaException cuda -> reportLines(err, cuda.getMessage());
      default -> {
        err.println("culebra: a fault in Culebra itself; please report it with what follows");
        e.printStackTrace(err);
        yield ExitStatus.INTERNAL;
      }
    };
  }

  private static int report(PrintWriter err, @Nullable String message, int status) {
    err.println("culebra: " + VisibleText.of(String.valueOf(message)));
    return status;
  }

  private static int reportLines(PrintWriter err, @Nullable String message) {
    err.println("culebra: " + VisibleText.lines(String.valueOf(message)));
    return ExitStatus.DEVICE;
  }

  private static String describe(IOException e) {
    return switch (e) {
      case TensorFormatException format -> format.getMessage();
      case NoSuchFileException missing ->
          missing.getFile()
              + ": "
              + Objects.requireNonNullElse(missing.getReason(), "no such file");
      case AccessDeniedException denied -> denied.getFile() + ": permission denied";
      case FileSystemException file ->
          file.getFile() + ": " + Objects.requireNonNullElse(file.getReason(), file.toString());
      default -> Objects.requireNonNullElse(e.getMessage(), e.toString());
    };
  }
}
