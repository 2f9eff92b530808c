package dev.culebra.cli;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Reads the distributions that the device computed for a model's contexts.
 *
 * @param model the model
 * @param probabilities its softmax: float32, a row a context
 */
record Prediction(NgramModel model, MemorySegment probabilities) {

  /** A character that may come next. */
  record Candidate(String character, float probability, String continuation) {}

  /**
   * The most probable next characters after a prompt, best first; of equals the one that sorts
   * first. Each is followed a little further, always to the most probable next, to show where it
   * leads.
   */
  List<Candidate> best(String prompt, int count, int lookAhead) {
    int row = model.row(prompt);
    return IntStream.range(0, model.columnCount())
        .boxed()
        .sorted(Comparator.comparingDouble((Integer column) -> -probability(row, column)))
        .limit(count)
        .map(
            column -> {
              String character = model.character(column);
              return new Candidate(
                  character, probability(row, column), follow(prompt + character, lookAhead));
            })
        .toList();
  }

  private String follow(String prompt, int lookAhead) {
    StringBuilder text = new StringBuilder(prompt);
    for (int i = 0; i < lookAhead; i++) {
      int row = model.row(text.toString());
      int best = 0;
      for (int column = 1; column < model.columnCount(); column++) {
        if (probability(row, column) > probability(row, best)) {
          best = column;
        }
      }
      text.append(model.character(best));
    }
    return text.substring(prompt.length());
  }

  private float probability(int row, int column) {
    return probabilities.getAtIndex(
        ValueLayout.JAVA_FLOAT, (long) row * model.columnCount() + column);
  }

  /**
   * The largest absolute difference from the same softmax in float64, over at most {@code rowLimit}
   * rows, evenly spread.
   *
   * @param logits what the device was given
   */
  Check check(MemorySegment logits, int rowLimit) {
    int columns = model.columnCount();
    int step = Math.max(1, Math.ceilDiv(model.rowCount(), rowLimit));
    double worst = 0;
    int rows = 0;
    for (int row = 0; row < model.rowCount(); row += step) {
      rows++;
      long start = (long) row * columns;
      double max = Double.NEGATIVE_INFINITY;
      for (int column = 0; column < columns; column++) {
        max = Math.max(max, logits.getAtIndex(ValueLayout.JAVA_FLOAT, start + column));
      }
      double sum = 0;
      for (int column = 0; column < columns; column++) {
        sum += Math.exp(logits.getAtIndex(ValueLayout.JAVA_FLOAT, start + column) - max);
      }
      for (int column = 0; column < columns; column++) {
        double truth =
            Math.exp(logits.getAtIndex(ValueLayout.JAVA_FLOAT, start + column) - max) / sum;
        double error = Math.abs(probability(row, column) - truth);
        // NaN must not pass for a small error.
        worst = error <= worst ? worst : error;
      }
    }
    return new Check(worst, rows);
  }

  /** The largest error, and over how many rows. */
  record Check(double maxError, int rows) {}
}
