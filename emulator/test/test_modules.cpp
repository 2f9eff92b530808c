// Modules and libraries beyond their kernels: files, variables, settings, and what would fit.
#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuModuleLoad, CUmodule*, const char*);
DRIVER_CALL(cuModuleLoadFatBinary, CUmodule*, const void*);
DRIVER_CALL(cuModuleGetGlobal_v2, CUdeviceptr*, std::size_t*, CUmodule, const char*);
DRIVER_CALL(cuModuleEnumerateFunctions, CUfunction*, unsigned, CUmodule);
DRIVER_CALL(cuModuleGetLoadingMode, int*);
DRIVER_CALL(cuLibraryGetGlobal, CUdeviceptr*, std::size_t*, CUlibrary, const char*);
DRIVER_CALL(cuLibraryGetManaged, CUdeviceptr*, std::size_t*, CUlibrary, const char*);
DRIVER_CALL(cuLibraryGetUnifiedFunction, void**, CUlibrary, const char*);
DRIVER_CALL(cuLibraryLoadFromFile, CUlibrary*, const char*, CUjit_option*, void**, unsigned, int*,
            void**, unsigned);
DRIVER_CALL(cuFuncSetCacheConfig, CUfunction, CUfunc_cache);
DRIVER_CALL(cuKernelSetCacheConfig, CUkernel, CUfunc_cache, CUdevice);
DRIVER_CALL(cuFuncSetSharedMemConfig, CUfunction, CUsharedconfig);
DRIVER_CALL(cuOccupancyMaxPotentialBlockSize, int*, int*, CUfunction, std::size_t (*)(int),
            std::size_t, int);
DRIVER_CALL(cuOccupancyMaxPotentialBlockSizeWithFlags, int*, int*, CUfunction, std::size_t (*)(int),
            std::size_t, int, unsigned);
DRIVER_CALL(cuOccupancyAvailableDynamicSMemPerBlock, std::size_t*, CUfunction, int, int);

namespace {

const char* other_path() { return std::getenv("CULEBRA_TEST_OTHER_IMAGE"); }

CUmodule load_other() {
  CUmodule module = nullptr;
  RETURNS(0, cuModuleLoad(&module, other_path()));
  return module;
}

}  // namespace

TEST(a_module_comes_from_a_file) {
  use_device();
  CUmodule module = load_other();
  unsigned count = 0;
  RETURNS(0, cuModuleGetFunctionCount(&count, module));
  CHECK_EQ(count, 2u);
  CUfunction functions[3] = {};
  RETURNS(0, cuModuleEnumerateFunctions(functions, 3, module));
  CHECK(functions[0] != nullptr && functions[1] != nullptr && functions[2] == nullptr);
  CHECK(functions[0] == function(module, "other_double") ||
        functions[1] == function(module, "other_double"));
  RETURNS(1, cuModuleEnumerateFunctions(nullptr, 3, module));
  RETURNS(301, cuModuleLoad(&module, "/no/such/file"));
  RETURNS(301, cuModuleLoad(&module, "/proc"));
  RETURNS(301, cuModuleLoad(&module, "/proc/self/mem"));
  RETURNS(1, cuModuleLoad(&module, nullptr));
  RETURNS(1, cuModuleLoad(nullptr, other_path()));
  // A file that is no image.
  RETURNS(200, cuModuleLoad(&module, "/proc/self/status"));
  // A fat binary of a GPU: its magic number, and code that is none of ours.
  const std::uint64_t fat[8] = {0x0010'0001'BA55'ED50, 16};
  RETURNS(209, cuModuleLoadFatBinary(&module, fat));
  RETURNS(0, cuModuleLoadFatBinary(&module, test_image().data()));
  int mode = 0;
  RETURNS(0, cuModuleGetLoadingMode(&mode));
  CHECK_EQ(mode, 2);
  RETURNS(1, cuModuleGetLoadingMode(nullptr));
}

TEST(a_library_comes_from_a_file) {
  use_device();
  CUlibrary library = nullptr;
  const auto load = [&](const char* path) {
    return cuLibraryLoadFromFile(&library, path, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  RETURNS(301, load("/no/such/file"));
  RETURNS(0, load(other_path()));
  CUkernel kernel = nullptr;
  RETURNS(0, cuLibraryGetKernel(&kernel, library, "other_double"));
  RETURNS(0, cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
  RETURNS(1, cuKernelSetCacheConfig(kernel, static_cast<CUfunc_cache>(4), 0));
  RETURNS(101, cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 1));
}

TEST(a_modules_variables_are_its_own) {
  use_device();
  const CUmodule module = load_other(), again = load_other();
  CUdeviceptr counts = 0, step = 0, counts_again = 0;
  std::size_t bytes = 0;
  RETURNS(0, cuModuleGetGlobal_v2(&counts, &bytes, module, "other_counts"));
  CHECK_EQ(bytes, 16u);
  RETURNS(0, cuModuleGetGlobal_v2(&step, &bytes, module, "other_step"));
  CHECK_EQ(bytes, 4u);
  RETURNS(0, cuModuleGetGlobal_v2(&counts_again, nullptr, again, "other_counts"));
  CHECK(counts != counts_again);
  const int start[4] = {10, 20, 30, 40};
  const int by = 5;
  RETURNS(0, cuMemcpyHtoD_v2(counts, start, sizeof start));
  RETURNS(0, cuMemcpyHtoD_v2(step, &by, sizeof by));
  RETURNS(0, launch(function(module, "other_count"), 1, 1, 0, nullptr, 2));
  RETURNS(0, launch(function(again, "other_count"), 1, 1, 0, nullptr, 2));
  int value = 0;
  RETURNS(0, cuMemcpyDtoH_v2(&value, counts + 8, 4));
  CHECK_EQ(value, 35);
  RETURNS(0, cuMemcpyDtoH_v2(&value, counts_again + 8, 4));
  CHECK_EQ(value, 1);
  RETURNS(1, cuMemsetD8_v2(counts, 0, 17));
  RETURNS(1, cuMemFree_v2(counts));
  RETURNS(0, cuMemGetAddressRange_v2(nullptr, &bytes, counts + 5));
  CHECK_EQ(bytes, 16u);
  // A kernel is no variable, and a variable no kernel.
  CUfunction none = nullptr;
  RETURNS(500, cuModuleGetGlobal_v2(&counts, &bytes, module, "other_count"));
  RETURNS(500, cuModuleGetFunction(&none, module, "other_counts"));
  RETURNS(500, cuModuleGetGlobal_v2(&counts, &bytes, module, "no_such_variable"));
  RETURNS(1, cuModuleGetGlobal_v2(&counts, &bytes, module, ""));
  RETURNS(1, cuModuleGetGlobal_v2(&counts, &bytes, module, nullptr));
  RETURNS(400, cuModuleGetGlobal_v2(&counts, &bytes, nullptr, "other_counts"));
  // They go with their module.
  RETURNS(0, cuModuleGetGlobal_v2(&counts, nullptr, module, "other_counts"));
  RETURNS(0, cuModuleUnload(module));
  RETURNS(1, cuMemcpyDtoH_v2(&value, counts, 4));
}

TEST(a_librarys_variables) {
  use_device();
  const std::string image = read_file(other_path());
  CUlibrary library = nullptr, junk = nullptr;
  RETURNS(0, cuLibraryLoadData(&library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUdeviceptr counts = 0, same = 0;
  std::size_t bytes = 0;
  RETURNS(0, cuLibraryGetGlobal(&counts, &bytes, library, "other_counts"));
  CHECK_EQ(bytes, 16u);
  CUmodule module = nullptr;
  RETURNS(0, cuLibraryGetModule(&module, library));
  RETURNS(0, cuModuleGetGlobal_v2(&same, nullptr, module, "other_counts"));
  CHECK_EQ(same, counts);
  RETURNS(500, cuLibraryGetGlobal(&counts, &bytes, library, "no_such_variable"));
  RETURNS(500, cuLibraryGetManaged(&counts, &bytes, library, "other_counts"));
  void* unified = nullptr;
  RETURNS(500, cuLibraryGetUnifiedFunction(&unified, library, "other_counts"));
  RETURNS(1, cuLibraryGetUnifiedFunction(&unified, library, ""));
  RETURNS(1, cuLibraryGetUnifiedFunction(nullptr, library, "other_counts"));
  RETURNS(400, cuLibraryGetUnifiedFunction(&unified, nullptr, "other_counts"));
  RETURNS(400, cuLibraryGetGlobal(&counts, &bytes, nullptr, "other_counts"));
  RETURNS(0, cuLibraryLoadData(&junk, "junk", nullptr, nullptr, 0, nullptr, nullptr, 0));
  RETURNS(200, cuLibraryGetGlobal(&counts, &bytes, junk, "other_counts"));
}

TEST(settings_without_effect_are_checked) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "nothing");
  RETURNS(0, cuFuncSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_SHARED));
  RETURNS(1, cuFuncSetCacheConfig(kernel, static_cast<CUfunc_cache>(-1)));
  RETURNS(0, cuFuncSetSharedMemConfig(kernel, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE));
  RETURNS(1, cuFuncSetSharedMemConfig(kernel, static_cast<CUsharedconfig>(3)));
  RETURNS(400, cuFuncSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_SHARED));
}

TEST(what_would_fill_the_device) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "nothing");
  const CUfunction smaller = function(load_test_module(), "fill");
  int blocks = 0, threads = 0;
  RETURNS(0, cuOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, nullptr, 0, 0));
  CHECK_EQ(threads, 1024);
  CHECK_EQ(blocks, 2 * 132);
  RETURNS(0, cuOccupancyMaxPotentialBlockSize(&blocks, &threads, smaller, nullptr, 0, 0));
  CHECK_EQ(threads, 256);
  CHECK_EQ(blocks, 8 * 132);
  RETURNS(0, cuOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, nullptr, 0, 100));
  // Fewer threads in more blocks: 32 blocks of 64 are more than 21 of 96.
  CHECK_EQ(threads, 64);
  // Memory that grows with the block halves the threads that run at a time.
  RETURNS(0, cuOccupancyMaxPotentialBlockSizeWithFlags(
                 &blocks, &threads, kernel,
                 [](int block) { return static_cast<std::size_t>(block) * 220; }, 0, 0, 0));
  CHECK_EQ(blocks * threads, 1024 * 132);
  RETURNS(1,
          cuOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, kernel, nullptr, 0, 0, 2));
  RETURNS(1, cuOccupancyMaxPotentialBlockSize(nullptr, &threads, kernel, nullptr, 0, 0));
  RETURNS(400, cuOccupancyMaxPotentialBlockSize(&blocks, &threads, nullptr, nullptr, 0, 0));
  RETURNS(1, cuOccupancyMaxPotentialBlockSize(&blocks, &threads, kernel, nullptr, 1 << 20, 0));

  std::size_t bytes = 0;
  RETURNS(0, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 2, 128));
  int fitting = 0;
  RETURNS(0, cuOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel, 128, bytes));
  CHECK_EQ(fitting, 2);
  RETURNS(0, cuOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel, 128, bytes + 1));
  CHECK_EQ(fitting, 1);
  RETURNS(1, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 3, 1024));
  RETURNS(1, cuOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 0, 128));
}
