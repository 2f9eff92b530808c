// Loads whatever bytes it is given as an image. The answer is one of the loader's codes, with a log
// if it is a refusal; only an undamaged image is loaded.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "config.h"
#include "execution/group_executor.h"
#include "image/loaded_image.h"

namespace culebra_emu {

// The two things that the loader takes from the rest of the emulator. It hands the one to an image
// and calls none of it.
const Runtime kRuntime = {.abi_version = kAbiVersion};

const Config& config() {
  static const Config nothing_asked_for;
  return nothing_asked_for;
}

}  // namespace culebra_emu

namespace {

// The bytes before a page that cannot be read: what a driver is given has no length.
class AtTheEdge {
 public:
  AtTheEdge(const std::uint8_t* data, std::size_t bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    readable_ = (bytes + page - 1) / page * page;
    total_ = readable_ + page;
    memory_ = static_cast<char*>(
        mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) std::abort();
    mprotect(memory_ + readable_, page, PROT_NONE);
    start_ = memory_ + readable_ - bytes;
    if (bytes != 0) std::memcpy(start_, data, bytes);
  }
  ~AtTheEdge() { munmap(memory_, total_); }
  AtTheEdge(const AtTheEdge&) = delete;
  AtTheEdge& operator=(const AtTheEdge&) = delete;

  const void* start() const { return start_; }

 private:
  std::size_t readable_;
  std::size_t total_;
  char* memory_;
  char* start_;
};

[[noreturn]] void finding(const char* what, int code) {
  std::fprintf(stderr, "finding: %s (code %d)\n", what, code);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes) {
  using namespace culebra_emu;
  const AtTheEdge input(data, bytes);
  std::shared_ptr<LoadedImage> image;
  std::string log;
  const CUresult result = LoadedImage::load(input.start(), image, log);
  switch (result) {
    case CUDA_SUCCESS:
      if (image == nullptr) finding("success without an image", result);
      if (image->find("") != nullptr) finding("a kernel without a name", result);
      return 0;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
      if (image != nullptr) finding("an image that was refused", result);
      if (log.empty()) finding("a refusal without a reason", result);
      return 0;
    default:
      finding("not a code for a bad image", result);
  }
}
