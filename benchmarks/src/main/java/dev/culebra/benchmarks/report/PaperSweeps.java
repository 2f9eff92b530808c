package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Results;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What the online softmax paper measured, as a file of results has it: for many rows and for few,
 * over the length.
 *
 * @param softmaxMany softmax of a batch that fills a device
 * @param softmaxFew of one that does not
 * @param topKMany softmax + top-5 of the first
 * @param topKFew of the second
 * @param overK softmax + top-k of many rows of one length over K, if it was measured
 */
record PaperSweeps(
    Sweep softmaxMany, Sweep softmaxFew, Sweep topKMany, Sweep topKFew, Optional<Sweep> overK) {

  static final String SAFE = "Culebra safe";
  static final String ONLINE = "Culebra online";
  static final String SINGLE_READ = "Culebra auto";
  static final String SAFE_UNFUSED = "Culebra safe unfused";
  static final String FUSED = "Culebra fused";
  private static final String SOFTMAX = "softmax";
  private static final String TOP_K = "softmax + top-k";
  private static final double K = 5;

  /**
   * Finds them.
   *
   * @throws IOException naming the file and what it lacks
   */
  static PaperSweeps of(Results file) throws IOException {
    List<Sweep> softmax = byRows(file, SOFTMAX, SAFE);
    List<Sweep> topK = byRows(file, TOP_K, SAFE_UNFUSED);
    if (softmax.size() < 2 || topK.size() < 2) {
      throw new IOException(
          "%s has not the paper's sweeps, but %d of softmax and %d of softmax + top-5 in f32 over at least three lengths; it takes two of each, which `make paper` or the section `paper` of the benchmarks measures"
              .formatted(file.file(), softmax.size(), topK.size()));
    }
    double many = topK.getLast().rows();
    // A length that one batch alone has is that of another benchmark in the same file.
    return new PaperSweeps(
        softmax.getLast().where(softmax.getFirst().xs()),
        softmax.getFirst().where(softmax.getLast().xs()),
        topK.getLast().where(topK.getFirst().xs()),
        topK.getFirst().where(topK.getLast().xs()),
        Sweep.of(file).stream()
            .filter(sweep -> sweep.axis().equals(Sweep.K) && isOf(sweep, TOP_K, SAFE_UNFUSED))
            .filter(sweep -> sweep.rows() == many)
            .findFirst());
  }

  private static List<Sweep> byRows(Results file, String operation, String safe) {
    return Sweep.of(file).stream()
        .filter(sweep -> sweep.axis().equals(Sweep.LENGTH) && isOf(sweep, operation, safe))
        .filter(sweep -> sweep.first("k").orElse(K) == K)
        .sorted(Comparator.comparingDouble(Sweep::rows))
        .toList();
  }

  private static boolean isOf(Sweep sweep, String operation, String safe) {
    return sweep.text("operation").equals(operation)
        && sweep.text("type").equals("f32")
        && sweep.contenders().containsKey(safe);
  }
}
