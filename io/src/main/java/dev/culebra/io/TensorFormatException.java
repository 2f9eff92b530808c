package dev.culebra.io;

import java.io.IOException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A file is not what its format says, or holds what Culebra does not take.
 *
 * <p>An {@link IOException}, since whoever opens a file handles those already; the message has the
 * file, the tensor and the reason.
 */
public final class TensorFormatException extends IOException {
  @Serial private static final long serialVersionUID = 1;

  private final String file;
  private final @Nullable String tensor;
  private final String reason;

  /**
   * Names the culprit.
   *
   * @param file the file as the user named it
   * @param tensor the tensor within, or null if the file as a whole is meant
   * @param reason what is wrong and, where there is something, what to do
   */
  public TensorFormatException(String file, @Nullable String tensor, String reason) {
    this.file = file;
    this.tensor = tensor;
    this.reason = reason;
  }

  /**
   * File, tensor and reason in one line. What the file calls its tensors, types and keys may hold
   * anything; control characters, which a terminal would obey, are replaced by a question mark.
   */
  @Override
  public String getMessage() {
    StringBuilder message = new StringBuilder(file);
    if (tensor != null) {
      message.append('#').append(tensor);
    }
    message.append(": ").append(reason);
    for (int i = 0; i < message.length(); i++) {
      if (Character.isISOControl(message.charAt(i))) {
        message.setCharAt(i, '?');
      }
    }
    return message.toString();
  }

  /** The file as the user named it. */
  public String file() {
    return file;
  }

  /** The tensor within, or null if the file as a whole is meant. */
  public @Nullable String tensor() {
    return tensor;
  }

  /** What is wrong. */
  public String reason() {
    return reason;
  }
}
