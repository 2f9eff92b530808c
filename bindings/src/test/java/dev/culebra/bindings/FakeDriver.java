package dev.culebra.bindings;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;

/**
 * {@code fake_driver.c}, built and loaded as the driver of this JVM, and what it was last asked.
 */
final class FakeDriver {
  private static final Path FOLDER = Path.of("target/fake-driver");

  private final MethodHandle lastName;
  private final MethodHandle lastCount;
  private final MethodHandle lastArgument;
  private final MethodHandle setResult;

  private FakeDriver(Path library) {
    SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
    lastName = link(lookup, "fake_last_name", FunctionDescriptor.of(ADDRESS));
    lastCount = link(lookup, "fake_last_count", FunctionDescriptor.of(JAVA_INT));
    lastArgument = link(lookup, "fake_last_argument", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
    setResult = link(lookup, "fake_set_result", FunctionDescriptor.ofVoid(JAVA_INT));
  }

  private static MethodHandle link(
      SymbolLookup lookup, String name, FunctionDescriptor descriptor) {
    return Linker.nativeLinker().downcallHandle(lookup.find(name).orElseThrow(), descriptor);
  }

  /**
   * Makes the fake the driver of this JVM. Every test class that lets Driver be opened calls it.
   */
  static FakeDriver install() {
    requireCompiler();
    return Installed.DRIVER;
  }

  /** Skips the test where there is no C compiler: a machine that only has the GPU bundle. */
  private static void requireCompiler() {
    boolean found =
        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "gcc")));
    String reason = "no gcc on PATH: the fake driver cannot be built";
    if (!found) System.out.println(reason);
    Assumptions.assumeTrue(found, reason);
  }

  private static final class Installed {
    static final FakeDriver DRIVER = make();

    private static FakeDriver make() {
      Path library = build("libfake-driver.so");
      System.setProperty("culebra.driver", library.toString());
      return new FakeDriver(library);
    }
  }

  /** Builds the fake with the C compiler; returns the library's path. */
  static Path build(String name, String... options) {
    return compile("src/test/c/fake_driver.c", name, options);
  }

  /** Builds a shared library of one C file. */
  static Path compile(String source, String name, String... options) {
    requireCompiler();
    try {
      Path library = Files.createDirectories(FOLDER).toAbsolutePath().resolve(name);
      List<String> command =
          new ArrayList<>(
              List.of("gcc", "-std=gnu17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"));
      command.addAll(List.of("-fvisibility=hidden", "-o", library.toString()));
      command.addAll(List.of(options));
      command.add(source);
      Process gcc = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      Assertions.assertEquals(0, gcc.waitFor(), output);
      return library;
    } catch (IOException e) {
      throw new UncheckedIOException("building " + source, e);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Base name of the function that was called last. */
  String lastName() {
    try {
      var name = (MemorySegment) lastName.invokeExact();
      return name.reinterpret(256).getString(0);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  /** Its by-value arguments, sign- or zero-extended as C has them. */
  List<Long> lastArguments() {
    try {
      List<Long> arguments = new ArrayList<>();
      int count = (int) lastCount.invokeExact();
      for (int i = 0; i < count; i++) arguments.add((long) lastArgument.invokeExact(i));
      return arguments;
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }

  /** What every later function returns, until set to 0. */
  void setResult(int code) {
    try {
      setResult.invokeExact(code);
    } catch (Throwable t) {
      throw new AssertionError(t);
    }
  }
}
