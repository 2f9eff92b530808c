// An emulator image in memory: validated, its host code loaded, its kernels known.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "culebra_emu/image.h"

namespace culebra_emu {

class LoadedImage {
 public:
  // The architecture that the emulated device has.
  static constexpr unsigned kArchitecture = 90;

  // Loads from an address of unknown length, as the driver's interface has it: whatever lies there,
  // the answer is a code and never a crash. `log` says what is wrong.
  static CUresult load(const void* data, std::shared_ptr<LoadedImage>& image, std::string& log);

  // A file without a name, gone when closed.
  class MemoryFile;

  ~LoadedImage();
  LoadedImage(const LoadedImage&) = delete;
  LoadedImage& operator=(const LoadedImage&) = delete;

  const std::vector<const Kernel*>& kernels() const { return kernels_; }
  // Null if there is none of that name.
  const Kernel* find(std::string_view symbol) const;
  // A device variable, known to the driver as memory of the context from the first question on and
  // as long as the image is loaded. Nothing if there is none of that name.
  struct VariableMemory {
    std::uint64_t address;
    std::uint64_t bytes;
  };
  std::optional<VariableMemory> variable(const std::string& name, Context& context);

  Thread** (*current_thread() const)() { return current_thread_; }
  // No two loaded images have the same.
  std::uint64_t serial() const { return serial_; }

 private:
  LoadedImage(std::unique_ptr<MemoryFile> file, void* library, const Image& image);

  // Open as long as the library is loaded: the dynamic linker would take another file of the same
  // number for this one.
  std::unique_ptr<MemoryFile> file_;
  void* library_;
  std::vector<const Kernel*> kernels_;
  Thread** (*current_thread_)();
  std::uint64_t serial_;
  std::mutex variables_mutex_;
  std::map<std::string, VariableMemory> variables_;
};

// The bytes of a kernel's parameter block.
std::uint32_t parameter_block_bytes(const Kernel& kernel);

}  // namespace culebra_emu
