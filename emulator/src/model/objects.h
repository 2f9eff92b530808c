// What users create, by handle.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "abi.h"
#include "image/loaded_image.h"
#include "model/device.h"
#include "model/event.h"
#include "model/registry.h"
#include "model/stream.h"

namespace culebra_emu {

// What cuFuncSetAttribute changes; a library's kernel and its functions share it.
struct FunctionSettings {
  std::atomic<int> max_dynamic_shared_bytes = Device::kDefaultSharedBytes;
  std::atomic<bool> max_dynamic_was_set = false;
  std::atomic<int> preferred_carveout = -1;
  std::atomic<int> non_portable_cluster = 0;
  // Width, height, depth; what the kernel was compiled for goes before it.
  std::array<std::atomic<int>, 3> required_cluster = {};
  // Known once a block has run: static arrays are found as they are used.
  std::atomic<std::uint32_t> static_shared_bytes = 0;

  // Static and dynamic memory of a block together.
  std::uint32_t max_shared_bytes() const {
    return max_dynamic_was_set.load() ? Device::kMaxSharedOptinBytes : Device::kDefaultSharedBytes;
  }
  void note_static_shared(std::uint32_t bytes) {
    std::uint32_t known = static_shared_bytes.load();
    while (known < bytes && !static_shared_bytes.compare_exchange_weak(known, bytes)) {
    }
  }
};

// A kernel as a launch knows it: CUfunction and CUkernel both.
class Function {
 public:
  Function(std::shared_ptr<LoadedImage> image, const Kernel* kernel,
           std::shared_ptr<FunctionSettings> settings, Context* context, CUmodule module,
           CUlibrary library)
      : image_(std::move(image)),
        kernel_(kernel),
        settings_(std::move(settings)),
        context_(context),
        module_(module),
        library_(library) {}

  const std::shared_ptr<LoadedImage>& image() const { return image_; }
  const Kernel& kernel() const { return *kernel_; }
  const std::shared_ptr<FunctionSettings>& settings() const { return settings_; }
  // Null for a library's kernel, which belongs to no context.
  Context* context() const { return context_; }
  CUmodule module() const { return module_; }
  CUlibrary library() const { return library_; }

 private:
  std::shared_ptr<LoadedImage> image_;
  const Kernel* kernel_;
  std::shared_ptr<FunctionSettings> settings_;
  Context* context_;
  CUmodule module_;
  CUlibrary library_;
};

// An image loaded into a context.
class Module {
 public:
  Module(std::shared_ptr<LoadedImage> image, Context& context, CUlibrary library = nullptr)
      : image_(std::move(image)), context_(context), library_(library) {}

  const std::shared_ptr<LoadedImage>& image() const { return image_; }
  Context& context() const { return context_; }
  CUlibrary library() const { return library_; }

 private:
  std::shared_ptr<LoadedImage> image_;
  Context& context_;
  CUlibrary library_;
};

// An image loaded for all contexts. Loading is lazy: a bad image is told at the first use.
class Library {
 public:
  Library(CUresult result, std::shared_ptr<LoadedImage> image)
      : result_(result), image_(std::move(image)) {}

  CUresult result() const { return result_; }
  const std::shared_ptr<LoadedImage>& image() const { return image_; }

 private:
  CUresult result_;
  std::shared_ptr<LoadedImage> image_;
};

class Objects {
 public:
  Registry<Stream> streams{"stream"};
  Registry<Event> events{"event"};
  Registry<Module> modules{"module"};
  Registry<Library> libraries{"library"};
  Registry<Function> functions{"function"};

  // The one function of an owner and a kernel's name, made when first asked for. Null if the image
  // has no such kernel.
  CUfunction module_function(CUmodule handle, const Module& module, const std::string& name);
  CUkernel library_kernel(CUlibrary handle, const Library& library, const std::string& name);
  // A library's kernel as a function of a context, and its image as a module of it.
  CUfunction kernel_function(CUkernel handle, const Function& kernel, Context& context);
  CUmodule library_module(CUlibrary handle, const Library& library, Context& context);

  void remove_module(CUmodule handle);
  bool remove_library(CUlibrary handle);
  void remove_all_of(const Context& context);

 private:
  using Key = std::pair<const void*, std::string>;

  CUfunction add_function(const Key& key, std::shared_ptr<Function> function);
  template <class Predicate>
  void forget_functions(Predicate predicate);

  std::mutex mutex_;
  std::map<Key, CUfunction> by_name_;
  std::map<std::pair<CUkernel, Context*>, CUfunction> by_context_;
  std::map<std::pair<CUlibrary, Context*>, CUmodule> library_modules_;
};

Objects& objects();

}  // namespace culebra_emu
