package dev.culebra.benchmarks.results;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A run as the suite describes it, made up. */
public final class Runs {
  private Runs() {}

  /** A run of a commit on an imagined GPU. */
  public static Map<String, Object> of(String commit) {
    Map<String, Object> run = new LinkedHashMap<>();
    run.put("commit", commit);
    run.put("date", "2026-01-02T03:04:05Z");
    run.put(
        "machine",
        Map.of(
            "os",
            "Linux",
            "arch",
            "amd64",
            "cpu",
            "some",
            "cores",
            4,
            "memory_bytes",
            1L << 33,
            "jdk",
            "25",
            "vm",
            "some VM",
            "vm_arguments",
            List.of("-Xmx8g")));
    run.put("driver", Map.of("path", "libcuda.so.1", "version", 13000));
    run.put(
        "device",
        Map.of(
            "name",
            "GPU <7>",
            "emulator",
            false,
            "compute_capability",
            "9.0",
            "multiprocessors",
            132,
            "memory_bytes",
            1L << 37));
    return run;
  }
}
