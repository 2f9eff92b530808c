// An emulator image in memory: validated, its host code loaded, its kernels known.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "culebra_emu/image.h"
#include "image/code_range.h"
#include "image/data_layout.h"

namespace culebra_emu {

class ImageVariables;

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
  // The ELF file of the host code, and where it lies in memory; 0 if that is not known.
  std::string host_code() const;
  std::uint64_t load_address() const;
  // What model/image_variables.h keeps here: it goes before the code.
  std::shared_ptr<ImageVariables>& variables() { return variables_; }

  // Null if nothing is checked.
  std::shared_ptr<const DataLayout> data_layout() const { return data_layout_; }

  // Empty if kernels have all the time they want.
  const CodeRange& code() const { return code_; }

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
  std::shared_ptr<ImageVariables> variables_;
  std::shared_ptr<const DataLayout> data_layout_;
  CodeRange code_;
};

// The bytes of a kernel's parameter block.
std::uint32_t parameter_block_bytes(const Kernel& kernel);

}  // namespace culebra_emu
