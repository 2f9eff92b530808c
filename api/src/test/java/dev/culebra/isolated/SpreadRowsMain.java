package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.ops.OnlineState;
import dev.culebra.ops.SoftmaxStates;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** A softmax of rows of which each device has a part; their states meet on the host. */
public final class SpreadRowsMain {

  private static final int ROWS = 5;
  private static final int LENGTH = 3000;
  private static final int CUT = 1234;

  private SpreadRowsMain() {}

  /** One device's part of the rows. */
  private static final class Part implements AutoCloseable {
    private final int first;
    private final int length;
    private final Context context;
    private final Stream stream;
    private final DeviceBuffer<ElementType.F32> memory;
    private final DeviceBuffer<ElementType.F32> states;
    private final TensorView<ElementType.F32> rows;
    private final TensorView<ElementType.F32> rowStates;
    private final SoftmaxStates softmax;

    Part(int device, int first, int end, double[] all) {
      this.first = first;
      this.length = end - first;
      context = Context.primary(Device.of(device));
      stream = context.newStream();
      memory = context.allocate(F32, (long) ROWS * length, stream);
      states = context.allocate(F32, 2 * ROWS, stream);
      rows = TensorView.of(memory, ROWS, length);
      rowStates = TensorView.of(states, ROWS, 2);
      softmax = SoftmaxStates.of(context);
      float[] own = new float[ROWS * length];
      for (int i = 0; i < own.length; i++) {
        own[i] = (float) all[i / length * LENGTH + first + i % length];
      }
      memory.copyFrom(own);
      softmax.states(rows, rowStates, stream);
    }

    MemorySegment states() {
      MemorySegment host = MemorySegment.ofArray(new float[2 * ROWS]);
      states.copyTo(host);
      return host;
    }

    void finish(MemorySegment whole, double[] result) {
      states.copyFrom(whole);
      softmax.finish(rows, rowStates, rows, stream);
      float[] own = new float[ROWS * length];
      memory.copyTo(own);
      for (int i = 0; i < own.length; i++) {
        result[i / length * LENGTH + first + i % length] = own[i];
      }
    }

    @Override
    public void close() {
      states.close();
      memory.close();
      stream.close();
      context.close();
    }
  }

  /** Prints "softmax=right", or throws. */
  public static void main(String[] args) {
    double[] logits = HardInput.NORMAL.rows(ROWS, LENGTH, StorageType.F32, 1);
    double[] result = new double[logits.length];
    List<Part> parts = new ArrayList<>();
    try {
      parts.add(new Part(0, 0, CUT, logits));
      parts.add(new Part(1, CUT, LENGTH, logits));
      MemorySegment whole = MemorySegment.ofArray(new float[2 * ROWS]);
      List<MemorySegment> states = parts.stream().map(Part::states).toList();
      for (int row = 0; row < ROWS; row++) {
        OnlineState state = OnlineState.EMPTY;
        for (MemorySegment some : states) {
          state = state.merge(OnlineState.read(some, F32, row));
        }
        state.write(whole, F32, row);
      }
      parts.forEach(part -> part.finish(whole, result));
      Judgement.assertClose(
          SoftmaxReference.rows(logits, LENGTH, 1, false), result, 2e-6, 0x1p-126);
      System.out.println("softmax=right");
    } finally {
      parts.forEach(Part::close);
    }
  }
}
