package dev.culebra.generated;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

/**
 * Where the functions of {@code cuda_h} get their addresses and call handles from. This module
 * opens no library itself: one resolver is installed for the whole process, by {@code
 * dev.culebra.bindings}, whose {@code Driver.installResolver()} must therefore have run before the
 * first function of {@code cuda_h} is called.
 *
 * <p>A function keeps the handle of its first call. A resolver therefore never throws: for a
 * function that cannot be had it returns a handle of the right type that throws the reason on every
 * call.
 *
 * <p>All methods are safe for use from any thread.
 */
@NullMarked
public final class SymbolResolver {
  /** Finds driver functions. Implementations are thread-safe and throw from no method. */
  public interface Source {
    /**
     * The address of a function, or {@link MemorySegment#NULL} if the driver cannot be had or lacks
     * it.
     *
     * @param symbol the C symbol with its ABI suffix, such as {@code cuMemAlloc_v2}
     */
    MemorySegment address(String symbol);

    /**
     * A handle that calls the function or, if it cannot be had, throws the reason.
     *
     * @param symbol the C symbol with its ABI suffix
     * @param descriptor the function's C signature; the handle has its {@code toMethodType()}
     */
    MethodHandle downcall(String symbol, FunctionDescriptor descriptor);
  }

  private static final AtomicReference<@Nullable Source> INSTALLED = new AtomicReference<>();

  private SymbolResolver() {}

  /**
   * Installs the resolver of this process. The first one stays.
   *
   * @return whether {@code source} was installed; false if another was there already
   */
  public static boolean install(Source source) {
    Objects.requireNonNull(source, "source");
    return INSTALLED.compareAndSet(null, source);
  }

  static MemorySegment address(String symbol) {
    Source source = INSTALLED.get();
    return source == null ? MemorySegment.NULL : source.address(symbol);
  }

  static MethodHandle downcall(String symbol, FunctionDescriptor descriptor) {
    Source source = INSTALLED.get();
    if (source == null) {
      return failing(
          descriptor.toMethodType(),
          () ->
              new IllegalStateException(
                  symbol
                      + " was called before a symbol resolver was installed: call"
                      + " dev.culebra.bindings.Driver.installResolver() first"));
    }
    return source.downcall(symbol, descriptor);
  }

  /**
   * A handle of the given type that throws on every call.
   *
   * @param reason makes the exception, anew for each call so that each has its caller's stack
   */
  public static MethodHandle failing(MethodType type, Supplier<? extends RuntimeException> reason) {
    MethodHandle thrower = MethodHandles.throwException(type.returnType(), RuntimeException.class);
    MethodHandle failing =
        MethodHandles.foldArguments(thrower, SUPPLIER_GET.bindTo(reason).asType(RAISE));
    return MethodHandles.dropArguments(failing, 0, type.parameterList());
  }

  private static final MethodType RAISE = MethodType.methodType(RuntimeException.class);
  private static final MethodHandle SUPPLIER_GET = supplierGet();

  private static MethodHandle supplierGet() {
    try {
      return MethodHandles.publicLookup()
          .findVirtual(Supplier.class, "get", MethodType.methodType(Object.class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("java.util.function.Supplier.get() is gone", e);
    }
  }
}
