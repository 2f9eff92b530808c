package dev.culebra.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.PaddingLayout;
import java.lang.foreign.UnionLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Size, alignment and every field's offset of every struct and union, against C. {@code
 * layouts.tsv} is what a C compiler said and is compared always; where the toolkit's headers are, C
 * is asked again.
 */
class LayoutTest {
  /** jextract drops {@code alignas}: what must be aligned by hand, with what Java believes. */
  private static final Map<String, Long> ALIGNMENT_LOST = Map.of("CUtensorMap_st", 8L);

  @Test
  @DisplayName("Java's layouts are those of C, but for the alignment of CUtensorMap")
  void layoutsAreThoseOfC() throws IOException, ReflectiveOperationException {
    List<String> expected = table();
    List<String> actual = new ArrayList<>();
    for (var layout : layouts().entrySet()) actual.addAll(describe(layout.getValue()));
    for (var lost : ALIGNMENT_LOST.entrySet()) {
      String mark = lost.getKey() + "\talignof\t";
      assertTrue(
          actual.remove(mark + lost.getValue()), "jextract keeps the alignment now: " + mark);
      expected.removeIf(line -> line.startsWith(mark));
    }
    assertEquals(expected.stream().sorted().toList(), actual.stream().sorted().toList());
  }

  @Test
  @DisplayName("a tensor map needs 128 bytes of alignment, which its Java layout does not say")
  void tensorMapAlignment() throws IOException {
    assertTrue(table().contains("CUtensorMap_st\talignof\t128"));
    assertEquals(8, CUtensorMap.layout().byteAlignment());
    assertEquals(128, CUtensorMap.layout().byteSize());
  }

  @Test
  @DisplayName("layouts.tsv is what the C compiler says today")
  void tableIsWhatCSays(@TempDir Path folder)
      throws IOException, InterruptedException, ReflectiveOperationException {
    Path include = Toolkit.includeOrSkip();
    Files.writeString(folder.resolve("rows.inc"), cRows());
    Path program = folder.resolve("layouts");
    Toolkit.run(
        "gcc",
        "-std=c11",
        "-I" + folder,
        "-isystem" + include,
        "-o",
        program.toString(),
        "src/test/c/layouts.c");
    String said = Toolkit.run(program.toString());
    Path renewed = Files.createDirectories(Path.of("target")).resolve("layouts.tsv");
    Files.writeString(renewed, said);
    assertEquals(String.join("\n", table()), said.strip(), "to renew: copy " + renewed);
  }

  /**
   * The layouts of all structs and unions, by class name; aliases and function pointers have none.
   */
  private static Map<String, GroupLayout> layouts()
      throws IOException, ReflectiveOperationException {
    Map<String, GroupLayout> layouts = new TreeMap<>();
    File[] sources = new File("src/jextract/java/dev/culebra/generated").listFiles();
    assertTrue(sources != null && sources.length > 200);
    for (File source : sources) {
      String name = source.getName().replace(".java", "");
      Class<?> type = Class.forName("dev.culebra.generated." + name);
      for (var method : type.getDeclaredMethods()) {
        if (!method.getName().equals("layout") || method.getParameterCount() != 0) continue;
        // A typedef'd array has a layout too.
        if (method.invoke(null) instanceof GroupLayout layout) layouts.put(name, layout);
      }
    }
    assertTrue(layouts.size() > 70, () -> "only " + layouts.keySet());
    return layouts;
  }

  private static List<String> describe(GroupLayout layout) {
    String name = layout.name().orElseThrow();
    List<String> lines = new ArrayList<>();
    lines.add("%s\tsizeof\t%d".formatted(name, layout.byteSize()));
    lines.add("%s\talignof\t%d".formatted(name, layout.byteAlignment()));
    fields(layout, "", 0)
        .forEach((field, offset) -> lines.add("%s\t%s\t%d".formatted(name, field, offset)));
    return lines;
  }

  /** Offsets of the named fields, also of nested structs and unions. */
  private static Map<String, Long> fields(GroupLayout layout, String prefix, long base) {
    Map<String, Long> offsets = new TreeMap<>();
    long offset = base;
    for (MemoryLayout member : layout.memberLayouts()) {
      if (!(member instanceof PaddingLayout)) {
        String field = member.name().orElse("");
        if (member instanceof GroupLayout nested) {
          // An anonymous member's fields belong to the outer struct.
          boolean anonymous = field.isEmpty() || field.contains("$anon$");
          if (!anonymous) offsets.put(prefix + field, offset);
          offsets.putAll(fields(nested, anonymous ? prefix : prefix + field + ".", offset));
        } else {
          offsets.put(prefix + field, offset);
        }
      }
      if (!(layout instanceof UnionLayout)) offset += member.byteSize();
    }
    return offsets;
  }

  private static String cRows() throws IOException, ReflectiveOperationException {
    var rows = new StringBuilder();
    for (var layout : layouts().entrySet()) {
      String name = layout.getValue().name().orElseThrow();
      // Tags end in _st or _union, or are the typedef's name.
      String type =
          name.endsWith("_st")
              ? "struct " + name
              : name.endsWith("_union") ? "union " + name : name;
      rows.append("TYPE(\"%s\", %s)\n".formatted(name, type));
      for (String field : fields(layout.getValue(), "", 0).keySet()) {
        rows.append("FIELD(\"%s\", %s, %s)\n".formatted(name, type, field));
      }
    }
    return rows.toString();
  }

  private static List<String> table() throws IOException {
    try (InputStream resource = LayoutTest.class.getResourceAsStream("layouts.tsv")) {
      assertTrue(resource != null, "layouts.tsv is missing");
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .collect(Collectors.toCollection(ArrayList::new));
    }
  }
}
