package dev.culebra.benchmarks.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.culebra.benchmarks.results.Results;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** One page with everything in it: it asks no other server, and no script runs. */
final class Page {
  private final StringBuilder text = new StringBuilder();
  private final Reasons reasons;

  private Page(Reasons reasons) {
    this.reasons = reasons;
  }

  static String of(List<Results> files, Reasons reasons) {
    Page page = new Page(reasons);
    page.head();
    if (files.size() > 1) {
      page.contents(files);
    }
    for (int i = 0; i < files.size(); i++) {
      page.file(files.get(i), i);
    }
    page.text.append("</body>\n</html>\n");
    return page.text.toString();
  }

  private void head() {
    text.append("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .append("<title>Culebra: benchmarks</title>\n<style>\n")
        .append(resource("colours.css"))
        .append(resource("page.css"))
        .append(resource("figures.css"))
        .append("</style>\n</head>\n<body>\n<h1>Culebra: benchmarks</h1>\n");
    paragraph(
        "Every figure stands beside one that was taken in the same run on the same machine."
            + " Medians; whiskers are their 95 % intervals. Point at a bar or a dot for its"
            + " numbers.");
  }

  static String resource(String name) {
    try (InputStream in = Objects.requireNonNull(Page.class.getResourceAsStream(name))) {
      return new String(in.readAllBytes(), UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void contents(List<Results> files) {
    text.append("<nav><ul>");
    for (int i = 0; i < files.size(); i++) {
      text.append("<li><a href=\"#file")
          .append(i)
          .append("\">")
          .append(Format.escape(Warnings.name(files.get(i))))
          .append("</a></li>");
    }
    text.append("</ul></nav>\n");
  }

  private void file(Results results, int index) {
    text.append("<h2 id=\"file")
        .append(index)
        .append("\">")
        .append(Format.escape(Warnings.name(results)))
        .append("</h2>\n");
    for (String warning : Warnings.of(results)) {
      text.append("<p class=\"warning\">").append(Format.escape(warning)).append("</p>\n");
    }
    Goals.table(results, reasons).ifPresent(table -> text.append(table.html()));
    Figures figures = new Figures(results);
    group("Beside the same loop in C", figures.pairs());
    group("What a call costs, by shape and by how it is passed", figures.calls("calls"));
    group("What the driver's functions cost", figures.calls("driver"));
    group("By several threads at once", figures.threads());
    group("Under each garbage collector", figures.calls("collectors"));
    group("From the start of a process to its end", figures.calls("start"));
    group(
        "Kernels: below their roofs, and over the length beside their peers",
        Stream.concat(figures.roofline().stream(), figures.rates().stream()).toList());
    group("As in the online softmax paper: against the safe form", figures.againstSafe());
    text.append("<details><summary>All numbers</summary>\n");
    new Tables(results).all().forEach(table -> text.append(table.html()));
    text.append("</details>\n");
  }

  private void group(String title, List<Figure> figures) {
    if (figures.isEmpty()) {
      return;
    }
    text.append("<h4>").append(Format.escape(title)).append("</h4>\n<div class=\"figures\">\n");
    figures.forEach(figure -> text.append(figure.html()));
    text.append("</div>\n");
  }

  private void paragraph(String words) {
    text.append("<p>").append(Format.escape(words)).append("</p>\n");
  }
}
