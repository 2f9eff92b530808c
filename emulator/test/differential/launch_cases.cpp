// What the driver refuses to launch, and with which code.
#include "case.h"

namespace differential {
namespace {

struct Shape {
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
};

Case shape_case(const char* name, const char* calls, const char* recorded, Shape shape) {
  return {name, calls, recorded, [shape](Answer& answer) {
            use_device(answer);
            const Kernels kernels(answer);
            CUdeviceptr memory = new_memory(answer, 8192);
            void* arguments[] = {&memory, &memory};
            answer(cuLaunchKernel(kernels.reverse, shape.grid_x, shape.grid_y, shape.grid_z,
                                  shape.block_x, shape.block_y, shape.block_z, shape.shared_bytes,
                                  nullptr, arguments, nullptr));
          }};
}

CUresult launch_with(const Kernels& kernels, CUdeviceptr memory, unsigned grid,
                     CUlaunchAttribute attribute) {
  std::int64_t index = 0;
  std::uint32_t value = 1;
  void* arguments[] = {&memory, &index, &value};
  CUlaunchConfig config = {};
  config.gridDimX = grid;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 32;
  config.blockDimY = config.blockDimZ = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cuLaunchKernelEx(&config, kernels.write, arguments, nullptr);
}

Case cluster_case(const char* name, const char* calls, const char* recorded, unsigned grid,
                  unsigned cluster) {
  return {name, calls, recorded, [=](Answer& answer) {
            use_device(answer);
            const Kernels kernels(answer);
            CUlaunchAttribute attribute = {};
            attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attribute.value.clusterDim = {cluster, 1, 1};
            answer(launch_with(kernels, new_memory(answer, 64), grid, attribute));
          }};
}

const Cases all({
    {"params-with-a-null", "launch with kernelParams whose second entry is null", "",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       CUdeviceptr memory = new_memory(answer, 256);
       std::uint32_t value = 1;
       void* arguments[] = {&memory, nullptr, &value};
       answer(cuLaunchKernel(kernels.write, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
     }},
    shape_case("launch-grid-0", "launch, grid 0", "1", {.grid_x = 0}),
    shape_case("launch-block-0", "launch, block 0", "1", {.block_x = 0}),
    shape_case("launch-block-1025", "launch, block 1025", "1", {.block_x = 1025}),
    shape_case("launch-block-z-65", "launch, block.z 65", "1", {.block_z = 65}),
    shape_case("launch-grid-y-65536", "launch, grid.y 65536", "1", {.grid_y = 65536}),
    shape_case("launch-grid-x-2^31", "launch, grid.x 2^31", "1", {.grid_x = 1u << 31}),
    shape_case("launch-shared-49153", "launch, 49153 bytes of shared memory, no opt-in", "1",
               {.shared_bytes = 49153}),
    {"shared-opt-in", "set max dynamic shared bytes 232448, 232449, 300000; launch 232448",
     "0 1 1 0 0",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       for (const int bytes : {232448, 232449, 300000}) {
         answer(cuFuncSetAttribute(kernels.reverse, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                   bytes));
       }
       CUdeviceptr memory = new_memory(answer, 64);
       void* arguments[] = {&memory, &memory};
       answer(
           cuLaunchKernel(kernels.reverse, 1, 1, 1, 1, 1, 1, 232448, nullptr, arguments, nullptr));
       answer(cuCtxSynchronize());
     }},
    {"launch-no-arguments", "launch, kernelParams and extra null", "1",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       answer(cuLaunchKernel(kernels.write, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
     }},
    {"launch-extra-size", "launch, extra of 0, 16, 20, 24, 64 bytes for 20", "1 0 0 701 701",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       struct {
         CUdeviceptr address;
         std::int64_t index;
         std::uint32_t value;
         char rest[64];
       } block = {new_memory(answer, 64), 0, 1, {}};
       for (std::size_t bytes : {0, 16, 20, 24, 64}) {
         void* extra[] = {reinterpret_cast<void*>(kLaunchParamBufferPointer), &block,
                          reinterpret_cast<void*>(kLaunchParamBufferSize), &bytes,
                          reinterpret_cast<void*>(kLaunchParamEnd)};
         answer(cuLaunchKernel(kernels.write, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
       }
     }},
    {"parameter-info", "cuFuncGetParamInfo of parameters 0 to 3 of 3", "0:0,8 0:8,8 0:16,4 1",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       for (std::size_t i = 0; i < 4; ++i) {
         std::size_t offset = 0, bytes = 0;
         const CUresult result = cuFuncGetParamInfo(kernels.write, i, &offset, &bytes);
         std::string text = std::to_string(static_cast<int>(result));
         if (result == CUDA_SUCCESS) {
           text += ":" + std::to_string(offset) + "," + std::to_string(bytes);
         }
         answer.word(text);
       }
     }},
    {"parameter-count", "is there a symbol cuFuncGetParamCount", "no",
     [](Answer& answer) {
       answer.word(dlsym(driver_library(), "cuFuncGetParamCount") == nullptr ? "no" : "yes");
     }},
    cluster_case("cluster-2-of-3", "launch, clusters of 2 in a grid of 3", "912", 3, 2),
    cluster_case("cluster-16", "launch, clusters of 16 without the non-portable attribute", "912",
                 16, 16),
    cluster_case("cluster-0", "launch, clusters of 0", "912", 2, 0),
    {"cooperative-too-large", "cooperative launch of 2^20 blocks", "720",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       CUlaunchAttribute attribute = {};
       attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
       attribute.value.cooperative = 1;
       answer(launch_with(kernels, new_memory(answer, 64), 1u << 20, attribute));
     }},
    {"unknown-attribute", "launch attribute 99", "1",
     [](Answer& answer) {
       use_device(answer);
       const Kernels kernels(answer);
       CUlaunchAttribute attribute = {};
       attribute.id = static_cast<CUlaunchAttributeID>(99);
       answer(launch_with(kernels, new_memory(answer, 64), 1, attribute));
     }},
});

}  // namespace
}  // namespace differential
