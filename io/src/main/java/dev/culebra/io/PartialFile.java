package dev.culebra.io;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.HashSet;
import java.util.Set;

/**
 * A file under way: written beside its target under a name of its own, renamed to the target when
 * it is complete, deleted otherwise; also when the process ends by a signal it can handle.
 */
final class PartialFile implements TensorWriter.Sink {
  private static final long MAX_WRITE_BYTES = 1 << 30;
  private static final int SCRATCH_BYTES = 1 << 16;

  /** As many as Linux follows. */
  private static final int MAX_LINKS = 40;

  private final String name;
  private final Path place;
  private final Path partial;
  private final FileChannel channel;

  private PartialFile(String name, Path place, Path partial, FileChannel channel) {
    this.name = name;
    this.place = place;
    this.partial = partial;
    this.channel = channel;
  }

  /**
   * Checks that a file can be begun.
   *
   * @param content what it will hold, for messages
   * @param bytes its final size; more than the disk has free is refused
   * @return where it will be, with links followed: renaming onto a link would replace it and leave
   *     the file it names
   */
  static Path check(Path target, String content, long bytes) throws IOException {
    Path place = followLinks(target);
    Path folder = place.getParent();
    if (folder == null || Files.isDirectory(place)) {
      throw new IOException(target + ": it is a folder");
    }
    if (!Files.exists(folder)) {
      throw new NoSuchFileException(
          target.toString(), null, "the folder " + folder + " does not exist");
    }
    if (!Files.isDirectory(folder)) {
      throw new NotDirectoryException(folder.toString());
    }
    if (!Files.isWritable(folder)) {
      throw new AccessDeniedException(folder.toString());
    }
    if (Files.exists(place) && !Files.isRegularFile(place)) {
      throw new IOException(target + ": it exists and is not a regular file");
    }
    long free = Files.getFileStore(folder).getUsableSpace();
    if (free < bytes) {
      throw new IOException(
          "%s: %s takes %d bytes, the disk has %d free".formatted(target, content, bytes, free));
    }
    return place;
  }

  /** Begins a file that has been checked. */
  static PartialFile create(Path target, Path place) throws IOException {
    String name =
        ".culebra-%d-%x.partial".formatted(ProcessHandle.current().pid(), System.nanoTime());
    Path partial = place.resolveSibling(name);
    return new PartialFile(target.toString(), place, partial, Orphanage.open(partial));
  }

  /** The file at the end of any links, also where the last one names a file that is not there. */
  private static Path followLinks(Path target) throws IOException {
    Path place = target.toAbsolutePath();
    for (int links = 0; Files.isSymbolicLink(place); links++) {
      if (links == MAX_LINKS) {
        throw new FileSystemLoopException(target.toString());
      }
      place = place.resolveSibling(Files.readSymbolicLink(place));
    }
    return place;
  }

  @Override
  public void write(long position, MemorySegment bytes) throws IOException {
    if (bytes.isNative()) {
      for (long done = 0; done < bytes.byteSize(); done += MAX_WRITE_BYTES) {
        long size = Math.min(MAX_WRITE_BYTES, bytes.byteSize() - done);
        writeFully(position + done, bytes.asSlice(done, size).asByteBuffer());
      }
      return;
    }
    // The channel would copy a heap buffer whole into memory of its own, and keep that.
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment scratch = arena.allocate(SCRATCH_BYTES);
      for (long done = 0; done < bytes.byteSize(); done += SCRATCH_BYTES) {
        long size = Math.min(SCRATCH_BYTES, bytes.byteSize() - done);
        MemorySegment.copy(bytes, done, scratch, 0, size);
        writeFully(position + done, scratch.asSlice(0, size).asByteBuffer());
      }
    }
  }

  private void writeFully(long position, ByteBuffer buffer) throws IOException {
    long next = position;
    try {
      while (buffer.hasRemaining()) {
        next += channel.write(buffer, next);
      }
    } catch (IOException e) {
      throw new IOException(name + ": " + e.getMessage(), e);
    }
  }

  @Override
  public void commit() throws IOException {
    channel.close();
    keepPermissions();
    try {
      Files.move(
          partial, place, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (AtomicMoveNotSupportedException e) {
      Files.move(partial, place, StandardCopyOption.REPLACE_EXISTING);
    }
    Orphanage.forget(partial);
  }

  @Override
  public void close() throws IOException {
    channel.close();
    Orphanage.delete(partial);
  }

  private void keepPermissions() throws IOException {
    PosixFileAttributeView old = Files.getFileAttributeView(place, PosixFileAttributeView.class);
    if (Files.exists(place) && old != null) {
      Files.setPosixFilePermissions(partial, old.readAttributes().permissions());
    }
  }

  /** The partial files of this process: a shutdown hook deletes those that nobody finished. */
  private static final class Orphanage {
    private static final Set<Path> PARTIALS = new HashSet<>();
    private static boolean closed;

    static {
      Runtime.getRuntime().addShutdownHook(new Thread(Orphanage::deleteAll, "culebra-partials"));
    }

    static synchronized FileChannel open(Path partial) throws IOException {
      if (closed) {
        throw new IOException("the process is ending; " + partial + " is not begun");
      }
      FileChannel channel =
          FileChannel.open(partial, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      PARTIALS.add(partial);
      return channel;
    }

    static synchronized void forget(Path partial) {
      PARTIALS.remove(partial);
    }

    static synchronized void delete(Path partial) throws IOException {
      if (PARTIALS.remove(partial)) {
        Files.deleteIfExists(partial);
      }
    }

    private static synchronized void deleteAll() {
      closed = true;
      for (Path partial : PARTIALS) {
        try {
          Files.deleteIfExists(partial);
        } catch (IOException e) {
          System.err.println("culebra: cannot delete " + partial + ": " + e.getMessage());
        }
      }
    }
  }
}
