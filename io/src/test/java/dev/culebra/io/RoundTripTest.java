package dev.culebra.io;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;

/** What is written is read; what is damaged is refused, and nothing worse. */
class RoundTripTest {
  private final List<Path> files = new ArrayList<>();
  private Path folder = Path.of("");

  @BeforeTry
  void makeFolder() throws IOException {
    folder = Files.createTempDirectory("culebra-io");
  }

  @AfterTry
  void deleteFolder() throws IOException {
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
    files.clear();
    Files.delete(folder);
  }

  @Property(tries = 200)
  void npyRoundTrip(@ForAll("specs") TensorSpec drawn, @ForAll long seed) throws IOException {
    if (!drawn.dtype().isInNpy()) {
      return;
    }
    TensorSpec spec = new TensorSpec("", drawn.dtype(), drawn.shape());
    byte[] data = data(spec, seed);
    Path path = write("a.npy", List.of(spec), List.of(data), Map.of());
    try (TensorFile file = TensorFile.open(path)) {
      assertSame(spec, data, file.tensor(null));
    }
  }

  @Property(tries = 200)
  void safetensorsRoundTrip(
      @ForAll @Size(max = 5) List<@From("specs") TensorSpec> drawn,
      @ForAll @Size(max = 3) Map<String, String> metadata,
      @ForAll long seed)
      throws IOException {
    Map<String, TensorSpec> distinct = new LinkedHashMap<>();
    drawn.forEach(spec -> distinct.put(spec.name(), spec));
    List<TensorSpec> specs = List.copyOf(distinct.values());
    List<byte[]> data = new ArrayList<>();
    specs.forEach(spec -> data.add(data(spec, seed + spec.hashCode())));
    Map<String, String> encodable = new LinkedHashMap<>();
    metadata.forEach((key, value) -> encodable.put(encodable(key), encodable(value)));
    Path path = write("a.safetensors", specs, data, encodable);
    try (TensorFile file = TensorFile.open(path)) {
      assertEquals(encodable, file.metadata());
      assertEquals(specs.size(), file.tensors().size());
      for (int i = 0; i < specs.size(); i++) {
        assertSame(specs.get(i), data.get(i), file.tensor(specs.get(i).name()));
      }
    }
  }

  @Property(tries = 600)
  void damagedNpyIsReadOrRefused(
      @ForAll @Size(min = 1, max = 4) List<@IntRange(max = 200) Integer> places,
      @ForAll long seed,
      @ForAll @IntRange(max = 152) int length)
      throws IOException {
    damage("f4.npy", places, seed, length);
  }

  @Property(tries = 1200)
  void damagedSafetensorsIsReadOrRefused(
      @ForAll @Size(min = 1, max = 4) List<@IntRange(max = 600) Integer> places,
      @ForAll long seed,
      @ForAll @IntRange(max = 4096) int length)
      throws IOException {
    damage("several.safetensors", places, seed, length);
  }

  private void damage(String fixture, List<Integer> places, long seed, int length)
      throws IOException {
    byte[] bytes = Files.readAllBytes(Fixtures.fixture(fixture));
    Random random = new Random(seed);
    for (int place : places) {
      // Half of the changes stay within the header's alphabet, and get further into the reader.
      String alphabet = "0123456789-.,:'\"[]{}()LTF<>= ";
      bytes[place % bytes.length] =
          random.nextBoolean()
              ? (byte) random.nextInt()
              : (byte) alphabet.charAt(random.nextInt(alphabet.length()));
    }
    byte[] cut =
        random.nextInt(4) == 0 ? Arrays.copyOf(bytes, Math.min(length, bytes.length)) : bytes;
    Path path = folder.resolve(fixture);
    files.add(path);
    Files.write(path, cut);
    try (TensorFile file = TensorFile.open(path)) {
      for (TensorData tensor : file.tensors()) {
        // Whatever it says now, it must be true of the bytes at hand.
        assertEquals(tensor.spec().byteSize(), tensor.bytes().byteSize());
        assertTrue(tensor.bytes().byteSize() <= cut.length);
      }
    } catch (TensorFormatException e) {
      assertTrue(e.getMessage() != null && e.getMessage().startsWith(path.toString()));
    }
  }

  @Provide
  Arbitrary<TensorSpec> specs() {
    Arbitrary<DType> types = Arbitraries.of(DType.values()).filter(type -> type.bits() % 8 == 0);
    Arbitrary<long[]> shapes = Arbitraries.longs().between(0, 6).array(long[].class).ofMaxSize(4);
    Arbitrary<String> names =
        Arbitraries.strings()
            .ofMaxLength(12)
            .map(RoundTripTest::encodable)
            .filter(name -> !name.equals("__metadata__"));
    return Combinators.combine(names, types, shapes).as(TensorSpec::new);
  }

  /** Lone surrogates have no UTF-8. */
  private static String encodable(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  private static byte[] data(TensorSpec spec, long seed) {
    byte[] data = new byte[Math.toIntExact(spec.byteSize())];
    new Random(seed).nextBytes(data);
    return data;
  }

  private Path write(
      String name, List<TensorSpec> specs, List<byte[]> data, Map<String, String> metadata)
      throws IOException {
    Path path = folder.resolve(name);
    files.add(path);
    try (TensorWriter writer = TensorWriter.create(path, specs, metadata)) {
      for (int i = 0; i < specs.size(); i++) {
        writer.append(specs.get(i).name(), MemorySegment.ofArray(data.get(i)));
      }
      writer.commit();
    }
    return path;
  }

  private static void assertSame(TensorSpec spec, byte[] data, TensorData tensor) {
    assertEquals(spec, tensor.spec());
    assertEquals(-1, tensor.bytes().mismatch(MemorySegment.ofArray(data)));
  }
}
