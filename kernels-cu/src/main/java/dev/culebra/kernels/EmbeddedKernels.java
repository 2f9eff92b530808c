package dev.culebra.kernels;

import java.io.InputStream;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The kernel root that this jar carries: {@code kernels.index}, the launch tables ({@code
 * softmax.def} ...) and the images ({@code sm_90a/softmax.cubin} ...).
 *
 * <p>A jar built on a machine without a CUDA compiler has the index and the tables but no images;
 * one built without the native build has nothing. Both are legal, and asking for what is not there
 * gives {@code null}.
 *
 * <p>Safe for use by several threads.
 */
public final class EmbeddedKernels {
  /** Parts that are neither empty nor "." nor "..", with a slash between two of them. */
  private static final Pattern RELATIVE =
      Pattern.compile("(?!\\.{1,2}(/|$))[^/]+(/(?!\\.{1,2}(/|$))[^/]+)*");

  private EmbeddedKernels() {}

  /**
   * Opens a file of the kernel root.
   *
   * @param name path relative to the root, its parts separated by {@code '/'}, as {@code
   *     kernels.index} names images: {@code "sm_90a/softmax.cubin"}
   * @return the file's bytes, to be closed by the caller, or {@code null} if the jar has no such
   *     file
   * @throws IllegalArgumentException if the name is not a relative path within the root: empty,
   *     absolute, with an empty part, or with a part {@code "."} or {@code ".."}
   */
  public static @Nullable InputStream open(String name) {
    if (!RELATIVE.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "'" + name + "' is not a relative path within the kernel root");
    }
    return EmbeddedKernels.class.getResourceAsStream(name);
  }
}
