package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The inputs and outputs of a problem, several sets of them that take turns, so that a pass never
 * meets in the L2 cache what it used last. All sets of a tensor lie in one allocation.
 */
final class Sets implements AutoCloseable {
  /** How far all sets together reach beyond the L2 cache. */
  private static final int CACHES = 4;

  private static final int MOST = 256;
  private static final long ALIGNMENT_BYTES = 256;

  /** Part of the free memory that may be used: peers want some as well. */
  private static final double SHARE = 0.45;

  private final Problem problem;
  private final int count;
  private final List<DeviceBuffer<?>> inputs = new ArrayList<>();
  private final List<DeviceBuffer<?>> outputs = new ArrayList<>();
  private final List<Tensors> sets = new ArrayList<>();
  private final List<RandomValues> values = new ArrayList<>();
  private final Stream stream;

  private Sets(Problem problem, int count, Stream stream) {
    this.problem = problem;
    this.count = count;
    this.stream = stream;
  }

  /**
   * Allocates and fills the inputs.
   *
   * @param l2Bytes the size of the device's L2 cache
   * @throws IllegalStateException if the device has too little memory
   */
  static Sets of(Problem problem, Context context, Stream stream, DeviceData data, long l2Bytes) {
    long footprint = problem.footprint();
    long wanted = Math.clamp(Math.ceilDiv(CACHES * l2Bytes, footprint), 2, MOST);
    long fitting = (long) (SHARE * context.memoryInfo().freeBytes()) / footprint;
    if (fitting < 1) {
      throw new IllegalStateException(
          "needs %.1f GB of device memory, free are %.1f"
              .formatted(footprint / 1e9, context.memoryInfo().freeBytes() / 1e9));
    }
    Sets sets = new Sets(problem, (int) Math.min(wanted, fitting), stream);
    try {
      sets.allocate(context, data);
    } catch (RuntimeException e) {
      sets.close();
      throw e;
    }
    return sets;
  }

  private void allocate(Context context, DeviceData data) {
    SplittableRandom seeds = new SplittableRandom();
    for (TensorSpec spec : problem.inputs()) {
      DeviceBuffer<?> buffer = context.allocate(spec.type(), count * stride(spec), stream);
      inputs.add(buffer);
      values.add(new RandomValues(seeds.nextLong()));
      data.fill(buffer, values.getLast());
    }
    for (TensorSpec spec : problem.outputs()) {
      outputs.add(context.allocate(spec.type(), count * stride(spec), stream));
    }
    for (int set = 0; set < count; set++) {
      sets.add(
          new Tensors(
              views(problem.inputs(), inputs, set), views(problem.outputs(), outputs, set)));
    }
  }

  private static List<TensorView<?>> views(
      List<TensorSpec> specs, List<DeviceBuffer<?>> buffers, int set) {
    List<TensorView<?>> views = new ArrayList<>();
    for (int i = 0; i < specs.size(); i++) {
      views.add(view(specs.get(i), buffers.get(i), set));
    }
    return views;
  }

  private static <E extends ElementType<E>> TensorView<E> view(
      TensorSpec spec, DeviceBuffer<E> buffer, int set) {
    long from = set * stride(spec);
    DeviceView<E> part = buffer.view(from, from + spec.elements());
    long[] shape = spec.shape().stream().mapToLong(Long::longValue).toArray();
    return TensorView.of(part, shape);
  }

  /** Elements from one set to the next: an alignment that every access width likes. */
  private static long stride(TensorSpec spec) {
    long unit = ALIGNMENT_BYTES / spec.type().byteSize();
    return Math.ceilDiv(spec.elements(), unit) * unit;
  }

  int count() {
    return count;
  }

  Tensors set(int index) {
    return sets.get(index);
  }

  long seed() {
    return values.getFirst().seed();
  }

  Reader reader(int set) {
    return new Reader(
        sets.get(set), values, set, problem.inputs().stream().map(Sets::stride).toList());
  }

  /** Puts poison wherever an output will be. */
  void poison() {
    outputs.forEach(buffer -> DeviceData.poison(buffer, stream));
  }

  /**
   * That the outputs of the sets that were used have no poison left, and what is beside them has
   * nothing else.
   *
   * @throws IllegalStateException if something was not written, or something else was
   */
  void requireWritten(DeviceData data, int used) {
    for (int i = 0; i < outputs.size(); i++) {
      TensorSpec spec = problem.outputs().get(i);
      long left = data.countPoison(outputs.get(i));
      long expected = count * stride(spec) - used * spec.elements();
      if (left != expected) {
        throw new IllegalStateException(
            "of %d elements of output %d that the timed launches had to write, %d are still poison"
                .formatted(used * spec.elements(), i, left - expected));
      }
    }
  }

  @Override
  public void close() {
    inputs.forEach(DeviceBuffer::close);
    outputs.forEach(DeviceBuffer::close);
  }
}
