package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.Stream;

/**
 * What a command computes on: a device, its context and one stream.
 *
 * @param device the device
 * @param context its primary context
 * @param stream where everything is ordered
 */
record OpenDevice(Device device, Context context, Stream stream) implements AutoCloseable {

  /** Opens the device that was asked for, on the emulator if there is no driver. */
  static OpenDevice open(Surroundings surroundings, DeviceOption option) {
    EmulatorFallback.apply(surroundings.err());
    Device device = option.resolve();
    Context context = Context.primary(device);
    try {
      return new OpenDevice(device, context, context.newStream());
    } catch (RuntimeException e) {
      context.close();
      throw e;
    }
  }

  /**
   * How much of a tensor to have on the device at once: what is asked for, but no more than leaves
   * room for what else the work takes.
   *
   * @param wantedBytes what is asked for
   * @param share what a byte of it takes with all that is kept beside it
   */
  long pieceBytes(long wantedBytes, double share) {
    double room = context.memoryInfo().freeBytes() / (2 * share);
    return Math.clamp((long) room, 1, wantedBytes);
  }

  @Override
  public void close() {
    try {
      stream.close();
    } finally {
      context.close();
    }
  }
}
