package dev.culebra.bindings;

import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a driver function answered: C's {@code CUresult} as a value. The codes of the 13.0 header
 * are constants here, named as there without {@code CUDA_ERROR_}; a newer driver's code is kept as
 * the number it is. Equal if the code is equal; compare known codes with {@code ==} or {@code
 * equals}.
 */
public final class CudaResult {
  // Static initialisers run in textual order: the table comes before the constants that enter it.
  private static final Map<Integer, CudaResult> KNOWN = new HashMap<>();

  public static final CudaResult SUCCESS = known(0, "CUDA_SUCCESS");
  public static final CudaResult INVALID_VALUE = known(1, "CUDA_ERROR_INVALID_VALUE");
  public static final CudaResult OUT_OF_MEMORY = known(2, "CUDA_ERROR_OUT_OF_MEMORY");
  public static final CudaResult NOT_INITIALIZED = known(3, "CUDA_ERROR_NOT_INITIALIZED");
  public static final CudaResult DEINITIALIZED = known(4, "CUDA_ERROR_DEINITIALIZED");
  public static final CudaResult PROFILER_DISABLED = known(5, "CUDA_ERROR_PROFILER_DISABLED");
  public static final CudaResult PROFILER_NOT_INITIALIZED =
      known(6, "CUDA_ERROR_PROFILER_NOT_INITIALIZED");
  public static final CudaResult PROFILER_ALREADY_STARTED =
      known(7, "CUDA_ERROR_PROFILER_ALREADY_STARTED");
  public static final CudaResult PROFILER_ALREADY_STOPPED =
      known(8, "CUDA_ERROR_PROFILER_ALREADY_STOPPED");
  public static final CudaResult STUB_LIBRARY = known(34, "CUDA_ERROR_STUB_LIBRARY");
  public static final CudaResult CALL_REQUIRES_NEWER_DRIVER =
      known(36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER");
  public static final CudaResult DEVICE_UNAVAILABLE = known(46, "CUDA_ERROR_DEVICE_UNAVAILABLE");
  public static final CudaResult NO_DEVICE = known(100, "CUDA_ERROR_NO_DEVICE");
  public static final CudaResult INVALID_DEVICE = known(101, "CUDA_ERROR_INVALID_DEVICE");
  public static final CudaResult DEVICE_NOT_LICENSED = known(102, "CUDA_ERROR_DEVICE_NOT_LICENSED");
  public static final CudaResult INVALID_IMAGE = known(200, "CUDA_ERROR_INVALID_IMAGE");
  public static final CudaResult INVALID_CONTEXT = known(201, "CUDA_ERROR_INVALID_CONTEXT");
  public static final CudaResult CONTEXT_ALREADY_CURRENT =
      known(202, "CUDA_ERROR_CONTEXT_ALREADY_CURRENT");
  public static final CudaResult MAP_FAILED = known(205, "CUDA_ERROR_MAP_FAILED");
  public static final CudaResult UNMAP_FAILED = known(206, "CUDA_ERROR_UNMAP_FAILED");
  public static final CudaResult ARRAY_IS_MAPPED = known(207, "CUDA_ERROR_ARRAY_IS_MAPPED");
  public static final CudaResult ALREADY_MAPPED = known(208, "CUDA_ERROR_ALREADY_MAPPED");
  public static final CudaResult NO_BINARY_FOR_GPU = known(209, "CUDA_ERROR_NO_BINARY_FOR_GPU");
  public static final CudaResult ALREADY_ACQUIRED = known(210, "CUDA_ERROR_ALREADY_ACQUIRED");
  public static final CudaResult NOT_MAPPED = known(211, "CUDA_ERROR_NOT_MAPPED");
  public static final CudaResult NOT_MAPPED_AS_ARRAY = known(212, "CUDA_ERROR_NOT_MAPPED_AS_ARRAY");
  public static final CudaResult NOT_MAPPED_AS_POINTER =
      known(213, "CUDA_ERROR_NOT_MAPPED_AS_POINTER");
  public static final CudaResult ECC_UNCORRECTABLE = known(214, "CUDA_ERROR_ECC_UNCORRECTABLE");
  public static final CudaResult UNSUPPORTED_LIMIT = known(215, "CUDA_ERROR_UNSUPPORTED_LIMIT");
  public static final CudaResult CONTEXT_ALREADY_IN_USE =
      known(216, "CUDA_ERROR_CONTEXT_ALREADY_IN_USE");
  public static final CudaResult PEER_ACCESS_UNSUPPORTED =
      known(217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
  public static final CudaResult INVALID_PTX = known(218, "CUDA_ERROR_INVALID_PTX");
  public static final CudaResult INVALID_GRAPHICS_CONTEXT =
      known(219, "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT");
  public static final CudaResult NVLINK_UNCORRECTABLE =
      known(220, "CUDA_ERROR_NVLINK_UNCORRECTABLE");
  public static final CudaResult JIT_COMPILER_NOT_FOUND =
      known(221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND");
  public static final CudaResult UNSUPPORTED_PTX_VERSION =
      known(222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION");
  public static final CudaResult JIT_COMPILATION_DISABLED =
      known(223, "CUDA_ERROR_JIT_COMPILATION_DISABLED");
  public static final CudaResult UNSUPPORTED_EXEC_AFFINITY =
      known(224, "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY");
  public static final CudaResult UNSUPPORTED_DEVSIDE_SYNC =
      known(225, "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC");
  public static final CudaResult CONTAINED = known(226, "CUDA_ERROR_CONTAINED");
  public static final CudaResult INVALID_SOURCE = known(300, "CUDA_ERROR_INVALID_SOURCE");
  public static final CudaResult FILE_NOT_FOUND = known(301, "CUDA_ERROR_FILE_NOT_FOUND");
  public static final CudaResult SHARED_OBJECT_SYMBOL_NOT_FOUND =
      known(302, "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND");
  public static final CudaResult SHARED_OBJECT_INIT_FAILED =
      known(303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED");
  public static final CudaResult OPERATING_SYSTEM = known(304, "CUDA_ERROR_OPERATING_SYSTEM");
  public static final CudaResult INVALID_HANDLE = known(400, "CUDA_ERROR_INVALID_HANDLE");
  public static final CudaResult ILLEGAL_STATE = known(401, "CUDA_ERROR_ILLEGAL_STATE");
  public static final CudaResult LOSSY_QUERY = known(402, "CUDA_ERROR_LOSSY_QUERY");
  public static final CudaResult NOT_FOUND = known(500, "CUDA_ERROR_NOT_FOUND");
  public static final CudaResult NOT_READY = known(600, "CUDA_ERROR_NOT_READY");
  public static final CudaResult ILLEGAL_ADDRESS = known(700, "CUDA_ERROR_ILLEGAL_ADDRESS");
  public static final CudaResult LAUNCH_OUT_OF_RESOURCES =
      known(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES");
  public static final CudaResult LAUNCH_TIMEOUT = known(702, "CUDA_ERROR_LAUNCH_TIMEOUT");
  public static final CudaResult LAUNCH_INCOMPATIBLE_TEXTURING =
      known(703, "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING");
  public static final CudaResult PEER_ACCESS_ALREADY_ENABLED =
      known(704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED");
  public static final CudaResult PEER_ACCESS_NOT_ENABLED =
      known(705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED");
  public static final CudaResult PRIMARY_CONTEXT_ACTIVE =
      known(708, "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE");
  public static final CudaResult CONTEXT_IS_DESTROYED =
      known(709, "CUDA_ERROR_CONTEXT_IS_DESTROYED");
  public static final CudaResult ASSERT = known(710, "CUDA_ERROR_ASSERT");
  public static final CudaResult TOO_MANY_PEERS = known(711, "CUDA_ERROR_TOO_MANY_PEERS");
  public static final CudaResult HOST_MEMORY_ALREADY_REGISTERED =
      known(712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED");
  public static final CudaResult HOST_MEMORY_NOT_REGISTERED =
      known(713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED");
  public static final CudaResult HARDWARE_STACK_ERROR =
      known(714, "CUDA_ERROR_HARDWARE_STACK_ERROR");
  public static final CudaResult ILLEGAL_INSTRUCTION = known(715, "CUDA_ERROR_ILLEGAL_INSTRUCTION");
  public static final CudaResult MISALIGNED_ADDRESS = known(716, "CUDA_ERROR_MISALIGNED_ADDRESS");
  public static final CudaResult INVALID_ADDRESS_SPACE =
      known(717, "CUDA_ERROR_INVALID_ADDRESS_SPACE");
  public static final CudaResult INVALID_PC = known(718, "CUDA_ERROR_INVALID_PC");
  public static final CudaResult LAUNCH_FAILED = known(719, "CUDA_ERROR_LAUNCH_FAILED");
  public static final CudaResult COOPERATIVE_LAUNCH_TOO_LARGE =
      known(720, "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE");
  public static final CudaResult TENSOR_MEMORY_LEAK = known(721, "CUDA_ERROR_TENSOR_MEMORY_LEAK");
  public static final CudaResult NOT_PERMITTED = known(800, "CUDA_ERROR_NOT_PERMITTED");
  public static final CudaResult NOT_SUPPORTED = known(801, "CUDA_ERROR_NOT_SUPPORTED");
  public static final CudaResult SYSTEM_NOT_READY = known(802, "CUDA_ERROR_SYSTEM_NOT_READY");
  public static final CudaResult SYSTEM_DRIVER_MISMATCH =
      known(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
  public static final CudaResult COMPAT_NOT_SUPPORTED_ON_DEVICE =
      known(804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE");
  public static final CudaResult MPS_CONNECTION_FAILED =
      known(805, "CUDA_ERROR_MPS_CONNECTION_FAILED");
  public static final CudaResult MPS_RPC_FAILURE = known(806, "CUDA_ERROR_MPS_RPC_FAILURE");
  public static final CudaResult MPS_SERVER_NOT_READY =
      known(807, "CUDA_ERROR_MPS_SERVER_NOT_READY");
  public static final CudaResult MPS_MAX_CLIENTS_REACHED =
      known(808, "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED");
  public static final CudaResult MPS_MAX_CONNECTIONS_REACHED =
      known(809, "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED");
  public static final CudaResult MPS_CLIENT_TERMINATED =
      known(810, "CUDA_ERROR_MPS_CLIENT_TERMINATED");
  public static final CudaResult CDP_NOT_SUPPORTED = known(811, "CUDA_ERROR_CDP_NOT_SUPPORTED");
  public static final CudaResult CDP_VERSION_MISMATCH =
      known(812, "CUDA_ERROR_CDP_VERSION_MISMATCH");
  public static final CudaResult STREAM_CAPTURE_UNSUPPORTED =
      known(900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED");
  public static final CudaResult STREAM_CAPTURE_INVALIDATED =
      known(901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED");
  public static final CudaResult STREAM_CAPTURE_MERGE =
      known(902, "CUDA_ERROR_STREAM_CAPTURE_MERGE");
  public static final CudaResult STREAM_CAPTURE_UNMATCHED =
      known(903, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED");
  public static final CudaResult STREAM_CAPTURE_UNJOINED =
      known(904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED");
  public static final CudaResult STREAM_CAPTURE_ISOLATION =
      known(905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION");
  public static final CudaResult STREAM_CAPTURE_IMPLICIT =
      known(906, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT");
  public static final CudaResult CAPTURED_EVENT = known(907, "CUDA_ERROR_CAPTURED_EVENT");
  public static final CudaResult STREAM_CAPTURE_WRONG_THREAD =
      known(908, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD");
  public static final CudaResult TIMEOUT = known(909, "CUDA_ERROR_TIMEOUT");
  public static final CudaResult GRAPH_EXEC_UPDATE_FAILURE =
      known(910, "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE");
  public static final CudaResult EXTERNAL_DEVICE = known(911, "CUDA_ERROR_EXTERNAL_DEVICE");
  public static final CudaResult INVALID_CLUSTER_SIZE =
      known(912, "CUDA_ERROR_INVALID_CLUSTER_SIZE");
  public static final CudaResult FUNCTION_NOT_LOADED = known(913, "CUDA_ERROR_FUNCTION_NOT_LOADED");
  public static final CudaResult INVALID_RESOURCE_TYPE =
      known(914, "CUDA_ERROR_INVALID_RESOURCE_TYPE");
  public static final CudaResult INVALID_RESOURCE_CONFIGURATION =
      known(915, "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION");
  public static final CudaResult KEY_ROTATION = known(916, "CUDA_ERROR_KEY_ROTATION");
  public static final CudaResult UNKNOWN = known(999, "CUDA_ERROR_UNKNOWN");

  private final int code;
  private final String name;

  private CudaResult(int code, String name) {
    this.code = code;
    this.name = name;
  }

  private static CudaResult known(int code, String name) {
    var result = new CudaResult(code, name);
    KNOWN.put(code, result);
    return result;
  }

  /**
   * The result of a code. Known codes give their constant; no allocation.
   *
   * @param code a {@code CUresult}, known or not
   */
  public static CudaResult of(int code) {
    CudaResult known = code == 0 ? SUCCESS : KNOWN.get(code);
    return known != null ? known : new CudaResult(code, "CUresult " + code);
  }

  /** All results that the 13.0 header names. */
  public static Collection<CudaResult> known() {
    return Collections.unmodifiableCollection(KNOWN.values());
  }

  /** The number, as in C. */
  public int code() {
    return code;
  }

  /** The name, as in C ({@code CUDA_ERROR_INVALID_VALUE}); {@code CUresult 12345} if unknown. */
  public String name() {
    return name;
  }

  /** Whether the header of this version names the code. */
  public boolean isKnown() {
    return KNOWN.containsKey(code);
  }

  /**
   * Whether this result poisons: every later call in the context returns it too, and neither a
   * reset nor a new context helps. Only a new process does.
   */
  public boolean isSticky() {
    return switch (code) {
      case 214, 226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721, 911 -> true;
      default -> false;
    };
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CudaResult that && that.code == code;
  }

  @Override
  public int hashCode() {
    return code;
  }

  /** Name and code, as in {@code CUDA_ERROR_INVALID_VALUE (1)}. */
  @Override
  public String toString() {
    return isKnown() ? name + " (" + code + ")" : name;
  }
}
