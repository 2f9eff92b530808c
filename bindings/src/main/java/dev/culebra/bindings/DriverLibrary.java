package dev.culebra.bindings;

import dev.culebra.bindings.DriverProbe.Attempt;
import dev.culebra.bindings.DriverProbe.Reason;
import dev.culebra.generated.DriverFunction;
import dev.culebra.generated.SymbolResolver;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The driver's shared library: found, opened, initialised and asked for its functions; or the
 * reason why not, which every function then throws.
 */
final class DriverLibrary implements SymbolResolver.Source {
  /** The driver of CUDA 12.0 is the first with cuGetProcAddress_v2 and cuLibrary*. */
  static final int OLDEST_VERSION = 12000;

  private final DriverProbe probe;
  private final @Nullable ProcAddress procAddress;

  private DriverLibrary(DriverProbe probe, @Nullable ProcAddress procAddress) {
    this.probe = probe;
    this.procAddress = procAddress;
  }

  /** The library of this process, opened at the first call. Never throws. */
  static DriverLibrary opened() {
    return Opened.LIBRARY;
  }

  private static final class Opened {
    static final DriverLibrary LIBRARY = open();
  }

  /** Looks for the driver anew. Never throws. */
  static DriverLibrary open() {
    return new Search().run();
  }

  DriverProbe probe() {
    return probe;
  }

  /** Throws if there is no usable driver. */
  void require() {
    if (!probe.isAvailable()) throw new DriverUnavailableException(probe);
  }

  @Override
  public MemorySegment address(String symbol) {
    return procAddress == null ? MemorySegment.NULL : procAddress.find(DriverFunction.of(symbol));
  }

  @Override
  public MethodHandle downcall(String symbol, FunctionDescriptor descriptor) {
    return downcall(symbol, descriptor, new Linker.Option[0]);
  }

  MethodHandle downcall(String symbol, FunctionDescriptor descriptor, Linker.Option... options) {
    if (!probe.isAvailable()) {
      return SymbolResolver.failing(
          descriptor.toMethodType(), () -> new DriverUnavailableException(probe));
    }
    MemorySegment address = address(symbol);
    if (address.equals(MemorySegment.NULL)) {
      DriverFunction function = DriverFunction.of(symbol);
      return SymbolResolver.failing(
          descriptor.toMethodType(),
          () ->
              new UnsupportedByDriverException(
                  function.baseName(), function.abiVersion(), probe.driverVersion()));
    }
    return Linker.nativeLinker().downcallHandle(address, descriptor, options);
  }

  /** One search; its fields are what is known so far. */
  private static final class Search {
    private final List<Attempt> attempts = new ArrayList<>();
    private @Nullable String library;
    private int driverVersion;
    private int deviceCount;
    private int initCode = -1;

    DriverLibrary run() {
      SymbolLookup lookup = null;
      for (String name : DriverNames.candidates()) {
        try {
          lookup = SymbolLookup.libraryLookup(name, Arena.global());
          library = name;
          attempts.add(new Attempt(name, "opened"));
          break;
        } catch (IllegalArgumentException e) {
          attempts.add(new Attempt(name, LoaderText.of(name, String.valueOf(e.getMessage()))));
        } catch (IllegalCallerException e) {
          return failed(Reason.NATIVE_ACCESS_DENIED, DriverMessages.nativeAccessDenied());
        }
      }
      if (lookup == null) return failed(Reason.NO_LIBRARY, DriverMessages.noLibrary(attempts));
      return initialise(lookup, String.valueOf(library));
    }

    private DriverLibrary initialise(SymbolLookup lookup, String name) {
      MemorySegment init = lookup.find("cuInit").orElse(MemorySegment.NULL);
      MemorySegment getVersion = lookup.find("cuDriverGetVersion").orElse(MemorySegment.NULL);
      if (init.equals(MemorySegment.NULL) || getVersion.equals(MemorySegment.NULL)) {
        return failed(Reason.NOT_A_DRIVER, DriverMessages.notADriver(name));
      }
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment out = arena.allocate(ValueLayout.JAVA_INT);
        int code = (int) linkIntPointer(getVersion).invokeExact(out.address());
        if (code == CudaResult.STUB_LIBRARY.code()) return stub(name);
        driverVersion = code == 0 ? out.get(ValueLayout.JAVA_INT, 0) : 0;

        MemorySegment resolver = lookup.find("cuGetProcAddress_v2").orElse(MemorySegment.NULL);
        if (driverVersion < OLDEST_VERSION || resolver.equals(MemorySegment.NULL)) {
          return failed(Reason.DRIVER_TOO_OLD, DriverMessages.tooOld(name, driverVersion));
        }

        initCode =
            (int)
                Linker.nativeLinker()
                    .downcallHandle(
                        init, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                    .invokeExact(0);
        if (initCode == CudaResult.STUB_LIBRARY.code()) return stub(name);
        if (initCode == CudaResult.NO_DEVICE.code()) {
          return failed(Reason.NO_DEVICE, DriverMessages.noDevice(name, driverVersion));
        }
        if (initCode != 0) {
          return failed(Reason.INIT_FAILED, DriverMessages.initFailed(name, initCode));
        }

        var procAddress = new ProcAddress(resolver);
        MemorySegment getCount = procAddress.find(DriverFunction.of("cuDeviceGetCount"));
        if (getCount.equals(MemorySegment.NULL)) {
          return failed(Reason.NOT_A_DRIVER, DriverMessages.notADriver(name));
        }
        code = (int) linkIntPointer(getCount).invokeExact(out.address());
        deviceCount = code == 0 ? out.get(ValueLayout.JAVA_INT, 0) : 0;
        if (deviceCount == 0) {
          return failed(Reason.NO_DEVICE, DriverMessages.noDevice(name, driverVersion));
        }
        return new DriverLibrary(
            probe(Reason.AVAILABLE, DriverMessages.available(name, driverVersion, deviceCount)),
            procAddress);
      } catch (Throwable t) {
        throw Downcall.rethrow(t);
      }
    }

    /** Links {@code CUresult f(int *)}. */
    private static MethodHandle linkIntPointer(MemorySegment function) {
      return Linker.nativeLinker()
          .downcallHandle(
              function, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    }

    private DriverLibrary stub(String name) {
      return failed(Reason.STUB_LIBRARY, DriverMessages.stub(name));
    }

    private DriverLibrary failed(Reason reason, String message) {
      return new DriverLibrary(probe(reason, message), null);
    }

    private DriverProbe probe(Reason reason, String message) {
      return new DriverProbe(
          reason, attempts, library, driverVersion, deviceCount, initCode, message);
    }
  }
}
