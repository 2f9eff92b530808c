package dev.culebra.bindings.isolated;

import dev.culebra.bindings.Driver;
import dev.culebra.bindings.DriverProbe;
import dev.culebra.generated.cuda_h;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.Callable;

/**
 * Run in a process of its own: probes, then calls each of a few functions twice, and prints a line
 * {@code name=outcome} for each. Uses what is public only, and lies outside of the package, so that
 * it also runs against the named modules.
 */
public final class ProbeMain {
  private ProbeMain() {}

  /** Prints the outcomes; exits with 0 unless something unforeseen is thrown. */
  public static void main(String[] args) {
    DriverProbe probe = DriverProbe.run();
    print("reason", probe.reason());
    print("message", probe.message());
    print("attempts", probe.attempts());
    print("version", probe.driverVersion());
    Driver.installResolver();
    for (int round = 1; round <= 2; round++) {
      print("init" + round, outcome(Driver::driverGetVersion));
      print("current" + round, outcome(Driver::ctxGetCurrent));
      print("param" + round, outcome(() -> Driver.funcGetParamInfo(9, 0)));
      print("alloc" + round, outcome(() -> Driver.memAllocAsync(64, 4)));
      print("generated" + round, outcome(ProbeMain::countByGeneratedFunction));
    }
  }

  private static int countByGeneratedFunction() {
    try (Arena arena = Arena.ofConfined()) {
      var count = arena.allocate(ValueLayout.JAVA_INT);
      int code = cuda_h.cuDeviceGetCount(count);
      return code == 0 ? count.get(ValueLayout.JAVA_INT, 0) : -code;
    }
  }

  private static Object outcome(Callable<Object> call) {
    try {
      return call.call();
    } catch (Exception | LinkageError e) {
      return e.getClass().getSimpleName() + ": " + e.getMessage();
    }
  }

  private static void print(String name, Object value) {
    System.out.println(name + "=" + value);
  }
}
