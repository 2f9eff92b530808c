package dev.culebra;

/**
 * What can be asked of a {@link Device}: every {@code CU_DEVICE_ATTRIBUTE_*} of the CUDA 13.0
 * header, without that prefix and without its deprecated aliases. A driver older than an attribute
 * does not know it; see {@link Device#attributes()}.
 *
 * @see <a
 *     href="https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html">CUdevice_attribute</a>
 */
public enum DeviceAttribute {
  /** Most threads in a block. */
  MAX_THREADS_PER_BLOCK(1, Unit.COUNT),
  /** Most threads along x of a block. */
  MAX_BLOCK_DIM_X(2, Unit.COUNT),
  /** Most threads along y of a block. */
  MAX_BLOCK_DIM_Y(3, Unit.COUNT),
  /** Most threads along z of a block. */
  MAX_BLOCK_DIM_Z(4, Unit.COUNT),
  /** Most blocks along x of a grid. */
  MAX_GRID_DIM_X(5, Unit.COUNT),
  /** Most blocks along y of a grid. */
  MAX_GRID_DIM_Y(6, Unit.COUNT),
  /** Most blocks along z of a grid. */
  MAX_GRID_DIM_Z(7, Unit.COUNT),
  /** Shared memory of a block without opting in to more. */
  MAX_SHARED_MEMORY_PER_BLOCK(8, Unit.BYTES),
  /** Constant memory a kernel's module may use. */
  TOTAL_CONSTANT_MEMORY(9, Unit.BYTES),
  /** Threads in a warp. */
  WARP_SIZE(10, Unit.COUNT),
  /** Largest pitch of a strided copy. */
  MAX_PITCH(11, Unit.BYTES),
  /** 32-bit registers a block may use. */
  MAX_REGISTERS_PER_BLOCK(12, Unit.COUNT),
  /** Typical core clock. */
  CLOCK_RATE(13, Unit.KILOHERTZ),
  /** Alignment of a texture's base address. */
  TEXTURE_ALIGNMENT(14, Unit.BYTES),
  /** Copies may run beside kernels; {@link #ASYNC_ENGINE_COUNT} says more. */
  GPU_OVERLAP(15, Unit.BOOLEAN),
  /** Streaming multiprocessors. */
  MULTIPROCESSOR_COUNT(16, Unit.COUNT),
  /** A watchdog ends kernels that run too long. */
  KERNEL_EXEC_TIMEOUT(17, Unit.BOOLEAN),
  /** The device shares the host's memory. */
  INTEGRATED(18, Unit.BOOLEAN),
  /** Host memory can be mapped for the device. */
  CAN_MAP_HOST_MEMORY(19, Unit.BOOLEAN),
  /** Who may open contexts: 0 anybody, 2 nobody, 3 one process. */
  COMPUTE_MODE(20, Unit.CODE),
  /** Width limit of a 1D texture. */
  MAXIMUM_TEXTURE1D_WIDTH(21, Unit.COUNT),
  /** Width limit of a 2D texture. */
  MAXIMUM_TEXTURE2D_WIDTH(22, Unit.COUNT),
  /** Height limit of a 2D texture. */
  MAXIMUM_TEXTURE2D_HEIGHT(23, Unit.COUNT),
  /** Width limit of a 3D texture. */
  MAXIMUM_TEXTURE3D_WIDTH(24, Unit.COUNT),
  /** Height limit of a 3D texture. */
  MAXIMUM_TEXTURE3D_HEIGHT(25, Unit.COUNT),
  /** Depth limit of a 3D texture. */
  MAXIMUM_TEXTURE3D_DEPTH(26, Unit.COUNT),
  /** Width limit of a layered 2D texture. */
  MAXIMUM_TEXTURE2D_LAYERED_WIDTH(27, Unit.COUNT),
  /** Height limit of a layered 2D texture. */
  MAXIMUM_TEXTURE2D_LAYERED_HEIGHT(28, Unit.COUNT),
  /** Layer limit of a layered 2D texture. */
  MAXIMUM_TEXTURE2D_LAYERED_LAYERS(29, Unit.COUNT),
  /** Alignment of a surface's base address. */
  SURFACE_ALIGNMENT(30, Unit.BYTES),
  /** Several kernels may run at once. */
  CONCURRENT_KERNELS(31, Unit.BOOLEAN),
  /** Error correction of device memory is on. */
  ECC_ENABLED(32, Unit.BOOLEAN),
  /** PCI bus number. */
  PCI_BUS_ID(33, Unit.CODE),
  /** PCI slot number on its bus. */
  PCI_DEVICE_ID(34, Unit.CODE),
  /** Windows only: the compute-only driver model is in use. */
  TCC_DRIVER(35, Unit.BOOLEAN),
  /** Peak memory clock. */
  MEMORY_CLOCK_RATE(36, Unit.KILOHERTZ),
  /** Width of the memory bus. */
  GLOBAL_MEMORY_BUS_WIDTH(37, Unit.BITS),
  /** Size of the L2 cache. */
  L2_CACHE_SIZE(38, Unit.BYTES),
  /** Threads resident on one multiprocessor at most. */
  MAX_THREADS_PER_MULTIPROCESSOR(39, Unit.COUNT),
  /** Copy engines that work beside kernels. */
  ASYNC_ENGINE_COUNT(40, Unit.COUNT),
  /** Host and device share one address space. */
  UNIFIED_ADDRESSING(41, Unit.BOOLEAN),
  /** Width limit of a layered 1D texture. */
  MAXIMUM_TEXTURE1D_LAYERED_WIDTH(42, Unit.COUNT),
  /** Layer limit of a layered 1D texture. */
  MAXIMUM_TEXTURE1D_LAYERED_LAYERS(43, Unit.COUNT),
  /** Deprecated by CUDA: gathering from 2D textures. */
  CAN_TEX2D_GATHER(44, Unit.BOOLEAN),
  /** Width limit of a 2D texture that is gathered from. */
  MAXIMUM_TEXTURE2D_GATHER_WIDTH(45, Unit.COUNT),
  /** Height limit of a 2D texture that is gathered from. */
  MAXIMUM_TEXTURE2D_GATHER_HEIGHT(46, Unit.COUNT),
  /** Width limit of a 3D texture of the other allowed shape. */
  MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE(47, Unit.COUNT),
  /** Height limit of a 3D texture of the other allowed shape. */
  MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE(48, Unit.COUNT),
  /** Depth limit of a 3D texture of the other allowed shape. */
  MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE(49, Unit.COUNT),
  /** PCI domain number. */
  PCI_DOMAIN_ID(50, Unit.CODE),
  /** Alignment of the pitch of a texture over linear memory. */
  TEXTURE_PITCH_ALIGNMENT(51, Unit.BYTES),
  /** Edge limit of a cube map texture. */
  MAXIMUM_TEXTURECUBEMAP_WIDTH(52, Unit.COUNT),
  /** Edge limit of a layered cube map texture. */
  MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH(53, Unit.COUNT),
  /** Layer limit of a layered cube map texture. */
  MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS(54, Unit.COUNT),
  /** Width limit of a 1D surface. */
  MAXIMUM_SURFACE1D_WIDTH(55, Unit.COUNT),
  /** Width limit of a 2D surface. */
  MAXIMUM_SURFACE2D_WIDTH(56, Unit.COUNT),
  /** Height limit of a 2D surface. */
  MAXIMUM_SURFACE2D_HEIGHT(57, Unit.COUNT),
  /** Width limit of a 3D surface. */
  MAXIMUM_SURFACE3D_WIDTH(58, Unit.COUNT),
  /** Height limit of a 3D surface. */
  MAXIMUM_SURFACE3D_HEIGHT(59, Unit.COUNT),
  /** Depth limit of a 3D surface. */
  MAXIMUM_SURFACE3D_DEPTH(60, Unit.COUNT),
  /** Width limit of a layered 1D surface. */
  MAXIMUM_SURFACE1D_LAYERED_WIDTH(61, Unit.COUNT),
  /** Layer limit of a layered 1D surface. */
  MAXIMUM_SURFACE1D_LAYERED_LAYERS(62, Unit.COUNT),
  /** Width limit of a layered 2D surface. */
  MAXIMUM_SURFACE2D_LAYERED_WIDTH(63, Unit.COUNT),
  /** Height limit of a layered 2D surface. */
  MAXIMUM_SURFACE2D_LAYERED_HEIGHT(64, Unit.COUNT),
  /** Layer limit of a layered 2D surface. */
  MAXIMUM_SURFACE2D_LAYERED_LAYERS(65, Unit.COUNT),
  /** Edge limit of a cube map surface. */
  MAXIMUM_SURFACECUBEMAP_WIDTH(66, Unit.COUNT),
  /** Edge limit of a layered cube map surface. */
  MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH(67, Unit.COUNT),
  /** Layer limit of a layered cube map surface. */
  MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS(68, Unit.COUNT),
  /** Deprecated by CUDA: width limit of a 1D texture over linear memory. */
  MAXIMUM_TEXTURE1D_LINEAR_WIDTH(69, Unit.COUNT),
  /** Width limit of a 2D texture over linear memory. */
  MAXIMUM_TEXTURE2D_LINEAR_WIDTH(70, Unit.COUNT),
  /** Height limit of a 2D texture over linear memory. */
  MAXIMUM_TEXTURE2D_LINEAR_HEIGHT(71, Unit.COUNT),
  /** Pitch limit of a 2D texture over linear memory. */
  MAXIMUM_TEXTURE2D_LINEAR_PITCH(72, Unit.BYTES),
  /** Width limit of a mipmapped 2D texture. */
  MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH(73, Unit.COUNT),
  /** Height limit of a mipmapped 2D texture. */
  MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT(74, Unit.COUNT),
  /** First number of the compute capability; see {@link Device#computeCapability()}. */
  COMPUTE_CAPABILITY_MAJOR(75, Unit.CODE),
  /** Second number of the compute capability. */
  COMPUTE_CAPABILITY_MINOR(76, Unit.CODE),
  /** Width limit of a mipmapped 1D texture. */
  MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH(77, Unit.COUNT),
  /** Streams may have priorities. */
  STREAM_PRIORITIES_SUPPORTED(78, Unit.BOOLEAN),
  /** L1 can cache global memory. */
  GLOBAL_L1_CACHE_SUPPORTED(79, Unit.BOOLEAN),
  /** L1 can cache local memory. */
  LOCAL_L1_CACHE_SUPPORTED(80, Unit.BOOLEAN),
  /** Shared memory of one multiprocessor. */
  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR(81, Unit.BYTES),
  /** 32-bit registers of one multiprocessor. */
  MAX_REGISTERS_PER_MULTIPROCESSOR(82, Unit.COUNT),
  /** Managed memory can be allocated. */
  MANAGED_MEMORY(83, Unit.BOOLEAN),
  /** The board carries more than one device. */
  MULTI_GPU_BOARD(84, Unit.BOOLEAN),
  /** A number that devices of one board share. */
  MULTI_GPU_BOARD_GROUP_ID(85, Unit.CODE),
  /** The link to the host carries all atomics. */
  HOST_NATIVE_ATOMIC_SUPPORTED(86, Unit.BOOLEAN),
  /** How many times faster single precision is than double. */
  SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO(87, Unit.COUNT),
  /** The device can read unregistered host memory coherently. */
  PAGEABLE_MEMORY_ACCESS(88, Unit.BOOLEAN),
  /** Host and device may use managed memory at once. */
  CONCURRENT_MANAGED_ACCESS(89, Unit.BOOLEAN),
  /** A running kernel can be preempted. */
  COMPUTE_PREEMPTION_SUPPORTED(90, Unit.BOOLEAN),
  /** Registered host memory has one address for both sides. */
  CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM(91, Unit.BOOLEAN),
  /** Deprecated by CUDA: first version of the stream memory operations. */
  CAN_USE_STREAM_MEM_OPS_V1(92, Unit.BOOLEAN),
  /** Deprecated by CUDA: their 64-bit forms. */
  CAN_USE_64_BIT_STREAM_MEM_OPS_V1(93, Unit.BOOLEAN),
  /** Deprecated by CUDA: their wait on NOR. */
  CAN_USE_STREAM_WAIT_VALUE_NOR_V1(94, Unit.BOOLEAN),
  /** Grids whose blocks all run at once can be launched. */
  COOPERATIVE_LAUNCH(95, Unit.BOOLEAN),
  /** Deprecated by CUDA: such grids over several devices. */
  COOPERATIVE_MULTI_DEVICE_LAUNCH(96, Unit.BOOLEAN),
  /** Shared memory of a block whose kernel opted in. */
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN(97, Unit.BYTES),
  /** A stream can flush writes that came from other devices. */
  CAN_FLUSH_REMOTE_WRITES(98, Unit.BOOLEAN),
  /** Host memory can be registered. */
  HOST_REGISTER_SUPPORTED(99, Unit.BOOLEAN),
  /** The device walks the host's page tables. */
  PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES(100, Unit.BOOLEAN),
  /** The host reads managed memory on the device without moving it. */
  DIRECT_MANAGED_MEM_ACCESS_FROM_HOST(101, Unit.BOOLEAN),
  /** Addresses can be reserved and mapped apart from memory. */
  VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED(102, Unit.BOOLEAN),
  /** Memory can be shared as a file descriptor. */
  HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED(103, Unit.BOOLEAN),
  /** Memory can be shared as a Windows handle. */
  HANDLE_TYPE_WIN32_HANDLE_SUPPORTED(104, Unit.BOOLEAN),
  /** Memory can be shared as a Windows kernel handle. */
  HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED(105, Unit.BOOLEAN),
  /** Blocks resident on one multiprocessor at most. */
  MAX_BLOCKS_PER_MULTIPROCESSOR(106, Unit.COUNT),
  /** Memory can be compressed. */
  GENERIC_COMPRESSION_SUPPORTED(107, Unit.BOOLEAN),
  /** Share of L2 that may be set aside for persisting lines. */
  MAX_PERSISTING_L2_CACHE_SIZE(108, Unit.BYTES),
  /** Longest window of an L2 access policy. */
  MAX_ACCESS_POLICY_WINDOW_SIZE(109, Unit.BYTES),
  /** Mapped memory can be a target of GPUDirect RDMA. */
  GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED(110, Unit.BOOLEAN),
  /** Shared memory of each block that the driver keeps. */
  RESERVED_SHARED_MEMORY_PER_BLOCK(111, Unit.BYTES),
  /** Arrays may be sparse. */
  SPARSE_CUDA_ARRAY_SUPPORTED(112, Unit.BOOLEAN),
  /** Host memory can be registered as read only. */
  READ_ONLY_HOST_REGISTER_SUPPORTED(113, Unit.BOOLEAN),
  /** External timeline semaphores can be used. */
  TIMELINE_SEMAPHORE_INTEROP_SUPPORTED(114, Unit.BOOLEAN),
  /** Stream-ordered allocation from pools; Culebra's buffers need it. */
  MEMORY_POOLS_SUPPORTED(115, Unit.BOOLEAN),
  /** Other PCI devices can reach device memory. */
  GPU_DIRECT_RDMA_SUPPORTED(116, Unit.BOOLEAN),
  /** Ways to flush writes that came over GPUDirect RDMA. */
  GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS(117, Unit.MASK),
  /** For whom such writes are in order without a flush. */
  GPU_DIRECT_RDMA_WRITES_ORDERING(118, Unit.CODE),
  /** Handle types by which a pool can be shared. */
  MEMPOOL_SUPPORTED_HANDLE_TYPES(119, Unit.MASK),
  /** Blocks can be launched in clusters. */
  CLUSTER_LAUNCH(120, Unit.BOOLEAN),
  /** Arrays may get their memory later. */
  DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED(121, Unit.BOOLEAN),
  /** Stream memory operations exist for 64 bits. */
  CAN_USE_64_BIT_STREAM_MEM_OPS(122, Unit.BOOLEAN),
  /** A stream can wait on NOR of a value. */
  CAN_USE_STREAM_WAIT_VALUE_NOR(123, Unit.BOOLEAN),
  /** Memory can be shared as a dma-buf. */
  DMA_BUF_SUPPORTED(124, Unit.BOOLEAN),
  /** Events can be shared between processes. */
  IPC_EVENT_SUPPORTED(125, Unit.BOOLEAN),
  /** Memory synchronisation domains. */
  MEM_SYNC_DOMAIN_COUNT(126, Unit.COUNT),
  /** Tensor maps (TMA) can be used. */
  TENSOR_MAP_ACCESS_SUPPORTED(127, Unit.BOOLEAN),
  /** Memory can be shared over the NVLink fabric. */
  HANDLE_TYPE_FABRIC_SUPPORTED(128, Unit.BOOLEAN),
  /** Function pointers are the same in all contexts. */
  UNIFIED_FUNCTION_POINTERS(129, Unit.BOOLEAN),
  /** How the device's memory shows as a NUMA node; 0 is not at all. */
  NUMA_CONFIG(130, Unit.CODE),
  /** NUMA node of the device's memory. */
  NUMA_ID(131, Unit.CODE),
  /** The switch can multicast and reduce. */
  MULTICAST_SUPPORTED(132, Unit.BOOLEAN),
  /** Contexts are shared through the multi-process service. */
  MPS_ENABLED(133, Unit.BOOLEAN),
  /** Nearest NUMA node of the host; -1 without NUMA. */
  HOST_NUMA_ID(134, Unit.CODE),
  /** Compute work can run inside Direct3D 12 queues. */
  D3D12_CIG_SUPPORTED(135, Unit.BOOLEAN),
  /** Formats that the decompression engine reads. */
  MEM_DECOMPRESS_ALGORITHM_MASK(136, Unit.MASK),
  /** Longest single decompression. */
  MEM_DECOMPRESS_MAXIMUM_LENGTH(137, Unit.BYTES),
  /** Compute work can run inside Vulkan queues. */
  VULKAN_CIG_SUPPORTED(138, Unit.BOOLEAN),
  /** PCI device and vendor number in one word. */
  GPU_PCI_DEVICE_ID(139, Unit.CODE),
  /** PCI subsystem and subsystem vendor number in one word. */
  GPU_PCI_SUBSYSTEM_ID(140, Unit.CODE),
  /** Mapped memory may lie on a NUMA node of the host. */
  HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED(141, Unit.BOOLEAN),
  /** Pools may lie on a NUMA node of the host. */
  HOST_NUMA_MEMORY_POOLS_SUPPORTED(142, Unit.BOOLEAN),
  /** Such memory can be shared between machines. */
  HOST_NUMA_MULTINODE_IPC_SUPPORTED(143, Unit.BOOLEAN),
  /** Pools may lie in host memory. */
  HOST_MEMORY_POOLS_SUPPORTED(144, Unit.BOOLEAN),
  /** Mapped memory may lie in host memory. */
  HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED(145, Unit.BOOLEAN),
  /** Pinned host memory can be shared as a dma-buf. */
  HOST_ALLOC_DMA_BUF_SUPPORTED(146, Unit.BOOLEAN),
  /** The link to the host carries some atomics only. */
  ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED(147, Unit.BOOLEAN);

  /** How to read an attribute's value. */
  public enum Unit {
    /** A plain number of things. */
    COUNT,
    /** Bytes. */
    BYTES,
    /** Bits. */
    BITS,
    /** Thousands of cycles a second. */
    KILOHERTZ,
    /** 1 for yes, 0 for no. */
    BOOLEAN,
    /** A set of flag bits. */
    MASK,
    /** A number that names something, or one value of a list. */
    CODE
  }

  private final int code;
  private final Unit unit;

  DeviceAttribute(int code, Unit unit) {
    this.code = code;
    this.unit = unit;
  }

  /**
   * The driver's number of this attribute.
   *
   * @return the value of the {@code CUdevice_attribute}
   */
  public int code() {
    return code;
  }

  /**
   * How to read the value.
   *
   * @return the unit
   */
  public Unit unit() {
    return unit;
  }
}
