package dev.culebra.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** The CUDA toolkit's headers and the C compiler, for tests that compare with C. */
final class Toolkit {
  private Toolkit() {}

  /** The folder of cuda.h, of the version that the classes were made from; else skips the test. */
  static Path includeOrSkip() throws IOException {
    List<Path> homes = new ArrayList<>();
    String home = System.getenv("CUDA_HOME");
    if (home != null) homes.add(Path.of(home));
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1)) {
      Path nvcc = Path.of(folder, "nvcc");
      if (Files.isExecutable(nvcc)) homes.add(nvcc.toRealPath().getParent().getParent());
    }
    homes.add(Path.of("/usr/local/cuda"));
    homes.add(Path.of("/usr/local/cuda-13.0"));
    String wanted = "#define CUDA_VERSION " + cuda_h.CUDA_VERSION();
    for (Path candidate : homes) {
      Path header = candidate.resolve("include/cuda.h");
      if (Files.isReadable(header)
          && Files.readAllLines(header, StandardCharsets.ISO_8859_1).contains(wanted)) {
        return header.getParent();
      }
    }
    String reason =
        "no cuda.h with " + wanted + " in " + homes + ": the comparison with C is left out";
    System.out.println(reason);
    return Assumptions.abort(reason);
  }

  /** Runs a program; returns what it prints. */
  static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), () -> String.join(" ", command) + "\n" + output);
    return output;
  }
}
