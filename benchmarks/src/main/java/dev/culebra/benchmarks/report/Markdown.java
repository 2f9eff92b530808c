package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Results;
import java.util.List;

/** The tables as a Markdown document. */
final class Markdown {
  private Markdown() {}

  static String of(List<Results> files, Reasons reasons) {
    StringBuilder text = new StringBuilder();
    text.append("# Benchmarks\n\n")
        .append("Made by `make report` from the files of results named below; not edited by hand. ")
        .append("How they are measured: [benchmarks/README.md](../benchmarks/README.md).\n\n");
    for (Results results : files) {
      text.append("## ").append(Format.markdown(Warnings.name(results))).append("\n\n");
      text.append("From `").append(results.file().getFileName()).append("`.\n\n");
      Warnings.of(results)
          .forEach(warning -> text.append("> ").append(Format.markdown(warning)).append("\n\n"));
      Goals.table(results, reasons).ifPresent(table -> text.append(table.markdown()));
      new Tables(results).all().forEach(table -> text.append(table.markdown()));
    }
    return text.toString().stripTrailing() + "\n";
  }
}
