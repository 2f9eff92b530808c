#include "case.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace differential {
namespace {

std::vector<Case>& list() {
  static std::vector<Case> all;
  return all;
}

}  // namespace

void Answer::need(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s answers %d\n", call, static_cast<int>(result));
  std::exit(3);
}

const std::vector<Case>& cases() { return list(); }

Cases::Cases(std::vector<Case> more) {
  for (Case& each : more) list().push_back(std::move(each));
}

CUcontext use_device(Answer& answer) {
  CUcontext context = nullptr;
  NEED(cuInit(0));
  NEED(cuDevicePrimaryCtxRetain(&context, 0));
  NEED(cuCtxSetCurrent(context));
  return context;
}

const std::vector<char>& image() {
  static const std::vector<char> bytes = [] {
    std::ifstream file(std::getenv("CULEBRA_DIFFERENTIAL_IMAGE"), std::ios::binary);
    std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
    content.push_back('\0');
    return content;
  }();
  return bytes;
}

CUmodule load_module(Answer& answer) {
  CUmodule module = nullptr;
  NEED(cuModuleLoadData(&module, image().data()));
  return module;
}

CUfunction find_function(Answer& answer, CUmodule module, const char* name) {
  CUfunction function = nullptr;
  NEED(cuModuleGetFunction(&function, module, name));
  return function;
}

CUstream new_stream(Answer& answer, unsigned flags) {
  CUstream stream = nullptr;
  NEED(cuStreamCreate(&stream, flags));
  return stream;
}

CUevent new_event(Answer& answer, unsigned flags) {
  CUevent event = nullptr;
  NEED(cuEventCreate(&event, flags));
  return event;
}

CUdeviceptr new_memory(Answer& answer, std::size_t bytes) {
  CUdeviceptr address = 0;
  NEED(cuMemAlloc_v2(&address, bytes));
  return address;
}

Kernels::Kernels(Answer& answer)
    : module(load_module(answer)),
      write(find_function(answer, module, "culebra_selftest_write_at_u32")),
      spin(find_function(answer, module, "culebra_selftest_spin_u32")),
      reverse(find_function(answer, module, "culebra_selftest_reverse_f32")) {}

CUresult launch_write(CUfunction write, CUdeviceptr address, CUstream stream, unsigned grid) {
  std::int64_t index = 0;
  std::uint32_t value = 1;
  void* arguments[] = {&address, &index, &value};
  return cuLaunchKernel(write, grid, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

CUresult launch_spin(CUfunction spin, CUdeviceptr address, std::uint64_t milliseconds,
                     CUstream stream) {
  std::uint32_t value = 1;
  std::uint64_t nanoseconds = milliseconds * 1000000;
  void* arguments[] = {&address, &value, &nanoseconds};
  return cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

}  // namespace differential
