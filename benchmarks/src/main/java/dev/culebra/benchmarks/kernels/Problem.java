package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.Stream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * One thing to compute, and those who can.
 *
 * @param operation what kind of thing, such as {@code softmax}
 * @param name names it within the file of results
 * @param parameters of the results' details: type, rows, length
 * @param inputs filled with random values
 * @param outputs filled with NaN before and looked at after the timing
 * @param bytes that have to be moved at least, whatever a kernel really does
 * @param flops floating point operations
 * @param ceiling the ceiling that bounds it, by its name in the section of ceilings
 * @param implementations of ours
 * @param check how far an output is from what is right
 * @param allowedError how far that may be, also for the peer
 * @param peer what the peer is asked, without an entry {@code op} if there is none
 */
record Problem(
    String operation,
    String name,
    Map<String, Object> parameters,
    List<TensorSpec> inputs,
    List<TensorSpec> outputs,
    long bytes,
    double flops,
    String ceiling,
    List<Implementation> implementations,
    Check check,
    double allowedError,
    Map<String, Object> peer) {
  private static final String TABLE_ROWS = "table_rows";

  /**
   * One of ours.
   *
   * @param kernel the symbol that it launches there
   */
  record Implementation(String who, Function<Context, String> kernel, Opener opener) {}

  /** Makes the call, once a problem, so that what is prepared once is not timed. */
  @FunctionalInterface
  interface Opener {
    Call open(Context context);
  }

  /** Enqueues the operation; closed when all its turns are over. */
  @FunctionalInterface
  interface Call extends AutoCloseable {
    void run(Tensors tensors, Stream stream);

    /** Most own nothing. */
    @Override
    default void close() {}
  }

  /** Compares outputs with the truth. */
  @FunctionalInterface
  interface Check {
    Verdict judge(Reader reader);
  }

  /**
   * What a check found.
   *
   * @param error the largest error, in the measure of the operation
   * @param elements how many elements of outputs were compared
   */
  record Verdict(double error, long elements) {}

  /** The same by one of ours alone. */
  Problem only(String who) {
    return new Problem(
        operation,
        name,
        parameters,
        inputs,
        outputs,
        bytes,
        flops,
        ceiling,
        implementations.stream().filter(one -> one.who().equals(who)).toList(),
        check,
        allowedError,
        peer);
  }

  /**
   * The same with nobody beside it, to show what rows of a launch table are good for.
   *
   * @param family whose table it is
   * @param rows as they stand there
   */
  Problem ofTable(String family, List<String> rows) {
    Map<String, Object> more = new LinkedHashMap<>(parameters);
    more.put("table", family);
    more.put(TABLE_ROWS, rows);
    return new Problem(
        operation,
        family + ": " + name,
        more,
        inputs,
        outputs,
        bytes,
        flops,
        ceiling,
        implementations,
        check,
        allowedError,
        Map.of());
  }

  /** The same with other bytes, parameters and request to the peer. */
  Problem with(long otherBytes, Map<String, Object> others, Map<String, Object> otherPeer) {
    return new Problem(
        operation,
        name,
        others,
        inputs,
        outputs,
        otherBytes,
        flops,
        ceiling,
        implementations,
        check,
        allowedError,
        otherPeer);
  }

  /**
   * Refuses a result that is too far off, whoever's it is: what computes something else is no
   * contender. An error that is not a number is beyond every bound.
   *
   * @throws IllegalStateException if it is
   */
  void requireRight(double error) {
    if (!(error <= allowedError)) {
      throw new IllegalStateException(
          "the result is wrong: error %.3g, allowed %.3g".formatted(error, allowedError));
    }
  }

  /** Whether a copy of the input is as much to move as the operation, and stands beside it. */
  boolean isLikeCopy() {
    return !parameters.containsKey(TABLE_ROWS)
        && inputs.size() == 1
        && outputs.size() == 1
        && inputs.getFirst().equals(outputs.getFirst())
        && bytes == footprint();
  }

  /** Bytes of one set of inputs and outputs. */
  long footprint() {
    return inputs.stream().mapToLong(TensorSpec::bytes).sum()
        + outputs.stream().mapToLong(TensorSpec::bytes).sum();
  }
}
