package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Results;
import java.util.ArrayList;
import java.util.List;

/**
 * The figures of the online softmax paper: bars of what it compared, against the safe form; and
 * lines of the rates of all that was measured, with what the paper had not: a single read, torch, a
 * copy.
 */
final class PaperFigures {
  private final Results results;
  private final PaperSweeps sweeps;

  PaperFigures(Results results, PaperSweeps sweeps) {
    this.results = results;
    this.sweeps = sweeps;
  }

  /** Softmax, of many rows and of few. */
  Poster softmax() {
    Figures figures = new Figures(results);
    return poster(
        "Softmax: naive, safe and online",
        List.of(
            figures.against(sweeps.softmaxMany(), PaperSweeps.SAFE),
            figures.against(sweeps.softmaxFew(), PaperSweeps.SAFE),
            figures.rate(sweeps.softmaxMany()),
            figures.rate(sweeps.softmaxFew())));
  }

  /** Softmax + top-5, fused and not; and over K. */
  Poster topK() {
    Figures figures = new Figures(results);
    List<Figure> panels =
        new ArrayList<>(
            List.of(
                figures.against(sweeps.topKMany(), PaperSweeps.SAFE_UNFUSED),
                figures.against(sweeps.topKFew(), PaperSweeps.SAFE_UNFUSED),
                figures.rate(sweeps.topKMany()),
                figures.rate(sweeps.topKFew())));
    sweeps.overK().ifPresent(sweep -> panels.add(figures.against(sweep, PaperSweeps.SAFE_UNFUSED)));
    return poster("Softmax + top-k: fused and one after the other", panels);
  }

  private Poster poster(String title, List<Figure> panels) {
    List<String> notes = new ArrayList<>();
    notes.add(
        Warnings.name(results)
            + ". After Milakov and Gimelshein, Online normalizer calculation for softmax (2018).");
    if (results.isEmulated()) {
      notes.add(
          "NO GPU: THE DRIVER IS THE EMULATOR. THESE TIMES MEAN NOTHING; they show that the"
              + " benchmark works.");
    }
    notes.add(
        "Bars: times as fast as the safe form, which is the dotted line. Lines: bytes that have to"
            + " be moved at least, over the time.");
    return new Poster(title, notes, panels);
  }
}
