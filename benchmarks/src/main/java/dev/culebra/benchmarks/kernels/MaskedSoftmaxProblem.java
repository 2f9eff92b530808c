package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.RowMask;
import dev.culebra.ops.Softmax;
import dev.culebra.testkit.SoftmaxReference;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The softmax of rows of which not every element counts. What counts is a function of the place, by
 * which torch_peer.py makes the same mask; it is made once and is no part of what takes turns.
 */
final class MaskedSoftmaxProblem {
  private static final double FLOPS_AN_ELEMENT = 5;

  /** Knuth's multiplier, that scatters numbers which follow each other. */
  private static final long SCATTER = 2_654_435_761L;

  private MaskedSoftmaxProblem() {}

  /** What says which elements count. */
  enum Mask {
    /** A length for each row, from 1 to all of it: what is behind is not read. */
    LENGTHS("ragged softmax"),
    /** A byte for each element, of which every fourth or so is 0. */
    BYTES("masked softmax"),
    /** A number of the tensor's type for each element, 0, or -inf where BYTES has 0. */
    ADDENDS("additively masked softmax");

    final String operation;

    Mask(String operation) {
      this.operation = operation;
    }

    boolean counts(long row, long length, long place) {
      return this == LENGTHS
          ? place < rowLength(row, length)
          : ((((row * length + place) * SCATTER) >> 20) & 3) != 0;
    }

    /** Bytes that it lets a softmax move at least, in and out and its own. */
    long bytes(TensorSpec tensor) {
      long rows = tensor.shape().getFirst();
      if (this == BYTES) {
        return 2 * tensor.bytes() + tensor.elements();
      }
      if (this == ADDENDS) {
        return 3 * tensor.bytes();
      }
      long counting = 0;
      for (long row = 0; row < rows; row++) {
        counting += rowLength(row, tensor.shape().getLast());
      }
      return counting * tensor.type().byteSize() + tensor.bytes() + rows * Integer.BYTES;
    }
  }

  /** From 1 to {@code length}, each about as often. */
  static int rowLength(long row, long length) {
    return (int) (1 + ((row * SCATTER) & 0xffff_ffffL) % length);
  }

  static Problem of(ElementType<?> type, long rows, long length, Mask mask) {
    TensorSpec tensor = TensorSpec.of(type, rows, length);
    return new Problem(
        mask.operation,
        "%s %s %d x %d".formatted(mask.operation, type.symbol(), rows, length),
        Map.of("type", type.symbol(), "rows", rows, "length", length),
        List.of(tensor),
        List.of(tensor),
        mask.bytes(tensor),
        FLOPS_AN_ELEMENT * tensor.elements(),
        Ceilings.COPY,
        List.of(
            new Implementation(
                "Culebra auto",
                context -> kernelName(context, type, rows, length, mask),
                context -> new Masked<>(context, type, tensor, mask))),
        reader -> judge(reader, tensor, Math.toIntExact(length), mask),
        SoftmaxProblem.allowed(tensor.storage()),
        Map.of(
            "op",
            "masked_softmax",
            "type",
            type.symbol(),
            "rows",
            rows,
            "length",
            length,
            "mask",
            mask.name().toLowerCase(Locale.ROOT),
            "checked_rows",
            RowCheck.sampled(rows, length)));
  }

  private static String kernelName(
      Context context, ElementType<?> type, long rows, long length, Mask mask) {
    Softmax softmax = Softmax.of(context);
    if (mask != Mask.ADDENDS) {
      return softmax.kernelName(type, rows, length);
    }
    // Which kernel runs depends on there being addends, not on what they are.
    try (Stream stream = context.newStream();
        DeviceBuffer<?> one = context.allocate(type, 1, stream)) {
      return softmax.kernelName(type, rows, length, RowMask.ofAddends(TensorView.of(one, 1)));
    }
  }

  private static Verdict judge(Reader reader, TensorSpec tensor, int length, Mask mask) {
    return RowCheck.judge(
        tensor.shape().getFirst(),
        length,
        length,
        row -> {
          long from = row * length;
          reader.requireInput(0, from, length);
          double[] input = reader.input(0, from, length);
          for (int i = 0; i < length; i++) {
            input[i] = mask.counts(row, length, i) ? input[i] : Double.NEGATIVE_INFINITY;
          }
          return SoftmaxProblem.relativeError(
              reader.output(0, from, length),
              SoftmaxReference.rows(input, length, 1, false),
              tensor.storage().minNormal());
        });
  }

  /** The call, which owns its mask. */
  private static final class Masked<E extends ElementType<E>> implements Problem.Call {
    private final Softmax softmax;
    private final ElementType<E> type;
    private final DeviceBuffer<?> memory;
    private final RowMask mask;

    Masked(Context context, ElementType<E> type, TensorSpec tensor, Mask kind) {
      this.softmax = Softmax.of(context);
      this.type = type;
      long rows = tensor.shape().getFirst();
      long length = tensor.shape().getLast();
      try (Stream stream = context.newStream()) {
        switch (kind) {
          case LENGTHS -> {
            var lengths = context.allocate(ElementType.I32, rows, stream);
            int[] each = new int[Math.toIntExact(rows)];
            Arrays.setAll(each, row -> rowLength(row, length));
            lengths.copyFrom(each);
            memory = lengths;
            mask = RowMask.ofLengths(lengths);
          }
          case BYTES -> {
            var bytes = context.allocate(ElementType.U8, rows * length, stream);
            byte[] row = new byte[Math.toIntExact(length)];
            for (long r = 0; r < rows; r++) {
              for (int i = 0; i < row.length; i++) {
                row[i] = (byte) (kind.counts(r, length, i) ? 1 : 0);
              }
              bytes.view(r * length, (r + 1) * length).copyFrom(row);
            }
            memory = bytes;
            mask = RowMask.ofElements(TensorView.of(bytes, rows, length));
          }
          case ADDENDS -> {
            var addends = context.allocate(type, rows * length, stream);
            double[] row = new double[Math.toIntExact(length)];
            for (long r = 0; r < rows; r++) {
              for (int i = 0; i < row.length; i++) {
                row[i] = kind.counts(r, length, i) ? 0 : Double.NEGATIVE_INFINITY;
              }
              addends
                  .view(r * length, (r + 1) * length)
                  .copyFrom(MemorySegment.ofArray(tensor.storage().encode(row)));
            }
            memory = addends;
            mask = RowMask.ofAddends(TensorView.of(addends, rows, length));
          }
          default -> throw new AssertionError(kind);
        }
      }
    }

    @Override
    public void run(Tensors tensors, Stream stream) {
      softmax.forward(tensors.in(0, type), tensors.out(0, type), mask, stream);
    }

    @Override
    public void close() {
      memory.close();
    }
  }
}
