package dev.culebra.benchmarks.results;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/**
 * The right to write a file of results: of two runs that replace it, each would lose what the other
 * has put there. An empty hidden file beside it is locked, and stays; the lock goes with the
 * process, however that ends.
 */
public final class RunLock implements AutoCloseable {
  private final FileChannel channel;

  private RunLock(FileChannel channel) {
    this.channel = channel;
  }

  /**
   * Takes it, for as long as this is open.
   *
   * @param results the file that will be written; its folder is made if it is not there
   * @throws IOException naming the file, if another run has it or its folder cannot be written
   */
  public static RunLock take(Path results) throws IOException {
    Path file = results.toAbsolutePath();
    String name = "." + Objects.requireNonNull(file.getFileName()) + ".lock";
    FileChannel channel;
    try {
      Files.createDirectories(Objects.requireNonNull(file.getParent()));
      channel =
          FileChannel.open(
              file.resolveSibling(name), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    } catch (IOException e) {
      throw new IOException(results + " cannot be written: " + e, e);
    }
    if (!isTaken(channel)) {
      channel.close();
      throw new IOException(
          "another run writes "
              + results
              + "; wait until it has ended, or give this one a file of its own with --out");
    }
    return new RunLock(channel);
  }

  private static boolean isTaken(FileChannel channel) throws IOException {
    try {
      FileLock lock = channel.tryLock();
      return lock != null;
    } catch (OverlappingFileLockException e) {
      return false; // by this very process
    }
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
