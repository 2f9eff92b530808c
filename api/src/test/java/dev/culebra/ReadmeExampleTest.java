package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Java example of the README compiles, runs, and is right. */
class ReadmeExampleTest {
  private static final Pattern EXAMPLE =
      Pattern.compile("<!-- example: compiled by a test -->\\s*```java\n(.*?)```", Pattern.DOTALL);

  @BeforeAll
  static void needsTheSourceTreeAndACompiler() {
    assumeTrue(System.getenv("CULEBRA_ROOT") != null, "CULEBRA_ROOT is not set: no README here");
    assumeTrue(ToolProvider.getSystemJavaCompiler() != null, "this runtime has no compiler");
  }

  @Test
  void compilesAndPrintsTwoRowsThatSumToOne(@TempDir Path folder) throws Exception {
    String readme = Files.readString(Path.of(System.getenv("CULEBRA_ROOT"), "README.md"));
    Matcher example = EXAMPLE.matcher(readme);
    assertTrue(example.find(), "README.md has no example behind its marker");
    Path source = Files.writeString(folder.resolve("Example.java"), example.group(1));
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(
                null,
                null,
                null,
                "--release",
                "22",
                "-Xlint:all,-classfile",
                "-Werror",
                "-cp",
                System.getProperty("java.class.path"),
                "-d",
                folder.toString(),
                source.toString());
    assertEquals(0, status, "javac's exit status");

    double[] printed = parse(run(folder));

    assertEquals(8, printed.length);
    double d = Math.exp(2) + Math.exp(1) + 1 + Math.exp(-1);
    for (int i = 0; i < 4; i++) {
      assertEquals(Math.exp(2 - i) / d, printed[i], 1e-7);
      assertEquals(0.25, printed[4 + i], "equal logits give exactly 1/n");
    }
  }

  private static String run(Path folder) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = System.out;
    try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()});
        PrintStream captured = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      System.setOut(captured);
      loader
          .loadClass("Example")
          .getMethod("main", String[].class)
          .invoke(null, (Object) new String[0]);
    } catch (InvocationTargetException e) {
      throw new AssertionError("the example threw", e.getCause());
    } finally {
      System.setOut(out);
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static double[] parse(String line) {
    return Arrays.stream(line.strip().replaceAll("[\\[\\]]", "").split(", "))
        .mapToDouble(Double::parseDouble)
        .toArray();
  }
}
