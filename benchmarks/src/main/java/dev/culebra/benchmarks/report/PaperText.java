package dev.culebra.benchmarks.report;

import static java.util.Map.entry;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The paper's numbers beside the measured ones, why they differ, and all times, in Markdown. */
final class PaperText {
  /** From this length on the paper speaks of gains. */
  private static final double FROM = 1000;

  /** A length at which the paper tells its softmax's gain. */
  private static final double AT = 4000;

  /** What is a gain of the online form, of the third that it can be at most. */
  private static final double GAIN = 1.1;

  private final Results results;
  private final PaperSweeps sweeps;

  PaperText(Results results, PaperSweeps sweeps) {
    this.results = results;
    this.sweeps = sweeps;
  }

  String markdown() {
    StringBuilder text = new StringBuilder();
    text.append("# The online softmax paper's benchmark: ")
        .append(Format.markdown(Warnings.name(results)))
        .append("\n\n")
        .append(
            """
            Naive, safe and online softmax, and softmax + top-k fused and one after the other, after Milakov and Gimelshein,
            [Online normalizer calculation for softmax](https://arxiv.org/abs/1805.02867). `make paper` (in the GPU bundle: `run paper`) measures
            it and writes this page and its figures. "Against" means how many times as fast, with the 95 % interval of the median of interleaved pairs.

            ![Softmax](softmax.svg)

            ![Softmax + top-k](topk.svg)

            """)
        .append("From `%s`, ".formatted(results.file().getFileName()))
        .append(Format.markdown(results.about("device", "name")))
        .append(", driver (CUDA) ")
        .append(results.about("driver", "version"))
        .append(", ")
        .append(results.about("date"))
        .append(".\n\n");
    Warnings.of(results)
        .forEach(warning -> text.append("> ").append(Format.markdown(warning)).append("\n\n"));
    text.append(beside().markdown());
    if (!results.isEmulated()) {
      text.append(why());
    }
    sweeps.overK().ifPresent(sweep -> text.append(times(sweep, PaperSweeps.SAFE_UNFUSED)));
    text.append(times(sweeps.softmaxMany(), PaperSweeps.SAFE))
        .append(times(sweeps.softmaxFew(), PaperSweeps.SAFE))
        .append(times(sweeps.topKMany(), PaperSweeps.SAFE_UNFUSED))
        .append(times(sweeps.topKFew(), PaperSweeps.SAFE_UNFUSED));
    return text.toString().stripTrailing() + "\n";
  }

  /** A gain at a place of the sweep. */
  private record Gain(double x, Interval speed) {
    String at() {
      return "V = " + Format.count(x);
    }
  }

  /** The gains of a contender against the safe form, from the length on that the paper does. */
  private static List<Gain> gains(Sweep sweep, String who, String safe) {
    List<Gain> gains = new ArrayList<>();
    for (double x : sweep.xs()) {
      if (x >= FROM) {
        sweep.speed(x, who, safe).ifPresent(speed -> gains.add(new Gain(x, speed)));
      }
    }
    return gains;
  }

  private static Optional<Gain> best(List<Gain> gains) {
    return gains.stream().max(Comparator.comparingDouble(gain -> gain.speed().median()));
  }

  private Table beside() {
    Table table = Table.of("Beside the paper", "", "what", "paper", "here", "at");
    List<Gain> online = gains(sweeps.softmaxMany(), PaperSweeps.ONLINE, PaperSweeps.SAFE);
    String many = "softmax, %.0f rows: ".formatted(sweeps.softmaxMany().rows());
    String few = "softmax, %.0f rows: ".formatted(sweeps.softmaxFew().rows());
    row(table, many + "online against safe, at most", "1.3", best(online));
    row(
        table,
        many + "the same at V = 4000",
        "about 1.3",
        online.stream().filter(gain -> gain.x() == AT).findFirst());
    List<Gain> small = gains(sweeps.softmaxFew(), PaperSweeps.ONLINE, PaperSweeps.SAFE);
    row(table, few + "online against safe, at most", "1.15", best(small));
    for (Map.Entry<Sweep, String> each :
        List.of(entry(sweeps.topKMany(), "5"), entry(sweeps.topKFew(), "(not quoted)"))) {
      row(
          table,
          "softmax + top-5, %.0f rows: fused against safe, unfused, at most"
              .formatted(each.getKey().rows()),
          each.getValue(),
          best(gains(each.getKey(), PaperSweeps.FUSED, PaperSweeps.SAFE_UNFUSED)));
    }
    row(
        table,
        many + "a single read against safe, at most",
        "(has none)",
        best(gains(sweeps.softmaxMany(), PaperSweeps.SINGLE_READ, PaperSweeps.SAFE)));
    row(
        table,
        few + "a single read against safe, at most",
        "(has none)",
        best(gains(sweeps.softmaxFew(), PaperSweeps.SINGLE_READ, PaperSweeps.SAFE)));
    return table;
  }

  private static void row(Table table, String what, String paper, Optional<Gain> here) {
    table.add(
        what,
        paper,
        here.map(gain -> Format.ratio(gain.speed())).orElse("not measured"),
        here.map(Gain::at).orElse(""));
  }

  private String why() {
    List<Gain> online = gains(sweeps.softmaxMany(), PaperSweeps.ONLINE, PaperSweeps.SAFE);
    String begins =
        online.stream()
            .filter(gain -> gain.speed().low() > GAIN)
            .findFirst()
            .map(gain -> "here the online form gains more than a tenth from " + gain.at() + " on")
            .orElse("here the online form gains a tenth nowhere");
    String least =
        online.stream()
            .min(Comparator.comparingDouble(gain -> gain.speed().median()))
            .filter(gain -> gain.speed().high() < 1)
            .map(gain -> " (%.2f of its speed at %s)".formatted(gain.speed().median(), gain.at()))
            .orElse("");
    return """
    ### Why they differ

    What the paper counts are accesses of memory: the safe form makes 4 an element, naive and online 3, so that the gain is 4/3 at most; safe softmax
    and then a top-k make 5, the fused form 1. An access counts as much only where it goes to the memory.

    - *Caches.* A second pass over a row finds it in the cache, as long as the rows that are worked on at once fit there. In the paper the
      cache overflows from V = 1000 on, the gain begins there, and at V = 4000 it is about 1.3; %s%s.
    - *Arithmetic.* The online form computes more exponentials than the safe one. Where its fewer accesses save nothing, it is the slower%s.
    - *Launches.* %sShort rows and small batches measure launches and latency.
    - *Few rows.* One block a row leaves most of %s multiprocessors idle: each block waits for its own loads, pass by pass, whichever form it is.
      A single read, and the fused top-k, spread a row over several blocks; that is where their large factors come from.
    - *Top-k.* The gain of the fused form may be above 5, as a top-k by itself costs more than one read of the probabilities; for larger K
      more is kept and sorted, and the gain shrinks.

    """
        .formatted(
            results.about("device", "l2_bytes").isEmpty()
                ? ""
                : "this device has %.0f MiB of L2, and "
                    .formatted(Double.parseDouble(results.about("device", "l2_bytes")) / (1 << 20)),
            begins,
            least,
            results
                .find(new Result.Key("ceilings", "read", "device"))
                .filter(read -> read.failure().isEmpty())
                .map(
                    read ->
                        "This device reads %s in the same run. "
                            .formatted(
                                Format.rate(read.number("bytes").orElse(0.0) / read.seconds())))
                .orElse(""),
            results.about("device", "multiprocessors"));
  }

  /** Everybody's time, and how it is against the safe form's. */
  private static String times(Sweep sweep, String safe) {
    List<String> contenders = List.copyOf(sweep.contenders().keySet());
    List<String> columns = new ArrayList<>();
    columns.add(sweep.axis().equals(Sweep.K) ? "K" : "V");
    columns.addAll(contenders);
    Table table =
        Table.of(sweep.title(), "Time, and against " + safe + ".", columns.toArray(String[]::new));
    for (double x : sweep.xs()) {
      List<String> cells = new ArrayList<>();
      cells.add(Format.count(x));
      for (String who : contenders) {
        String time = sweep.find(x, who).map(found -> Format.time(found.seconds())).orElse("");
        String speed =
            sweep.speed(x, who, safe).map(found -> " (%.2f)".formatted(found.median())).orElse("");
        cells.add(time + speed);
      }
      table.add(cells.toArray(String[]::new));
    }
    return table.markdown();
  }
}
