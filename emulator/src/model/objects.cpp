#include "model/objects.h"

namespace culebra_emu {

CUfunction Objects::add_function(const Key& key, std::shared_ptr<Function> function) {
  CUfunction handle = functions.add(std::move(function));
  by_name_.emplace(key, handle);
  return handle;
}

CUfunction Objects::module_function(CUmodule handle, const Module& module,
                                    const std::string& name) {
  const std::lock_guard lock(mutex_);
  const Key key{handle, name};
  if (const auto found = by_name_.find(key); found != by_name_.end()) return found->second;
  const Kernel* kernel = module.image()->find(name);
  if (kernel == nullptr) return nullptr;
  return add_function(
      key, std::make_shared<Function>(module.image(), kernel, std::make_shared<FunctionSettings>(),
                                      &module.context(), handle, module.library()));
}

CUkernel Objects::library_kernel(CUlibrary handle, const Library& library,
                                 const std::string& name) {
  const std::lock_guard lock(mutex_);
  const Key key{handle, name};
  if (const auto found = by_name_.find(key); found != by_name_.end()) return found->second;
  const Kernel* kernel = library.image()->find(name);
  if (kernel == nullptr) return nullptr;
  return add_function(
      key, std::make_shared<Function>(library.image(), kernel, std::make_shared<FunctionSettings>(),
                                      nullptr, nullptr, handle));
}

CUfunction Objects::kernel_function(CUkernel handle, const Function& kernel, Context& context) {
  const std::lock_guard lock(mutex_);
  CUfunction& function = by_context_[{handle, &context}];
  if (function == nullptr) {
    function = functions.add(std::make_shared<Function>(
        kernel.image(), &kernel.kernel(), kernel.settings(), &context, nullptr, kernel.library()));
  }
  return function;
}

CUmodule Objects::library_module(CUlibrary handle, const Library& library, Context& context) {
  const std::lock_guard lock(mutex_);
  CUmodule& module = library_modules_[{handle, &context}];
  if (module == nullptr) {
    module = modules.add(std::make_shared<Module>(library.image(), context, handle));
  }
  return module;
}

template <class Predicate>
void Objects::forget_functions(Predicate predicate) {
  for (const auto& function : functions.remove_if(predicate)) {
    std::erase_if(by_name_, [&](const auto& entry) { return entry.second == function.get(); });
    std::erase_if(by_context_, [&](const auto& entry) {
      return entry.second == function.get() || entry.first.first == function.get();
    });
  }
}

void Objects::remove_module(CUmodule handle) {
  modules.remove(handle);
  const std::lock_guard lock(mutex_);
  forget_functions([&](const Function& function) { return function.module() == handle; });
}

bool Objects::remove_library(CUlibrary handle) {
  if (libraries.remove(handle) == nullptr) return false;
  const std::lock_guard lock(mutex_);
  forget_functions([&](const Function& function) { return function.library() == handle; });
  for (const auto& module :
       modules.remove_if([&](const Module& m) { return m.library() == handle; })) {
    std::erase_if(library_modules_,
                  [&](const auto& entry) { return entry.second == module.get(); });
  }
  return true;
}

void Objects::remove_all_of(const Context& context) {
  for (const StreamPtr& stream :
       streams.remove_if([&](const Stream& s) { return &s.context() == &context; })) {
    stream->close();
  }
  events.remove_if([&](const Event& event) { return &event.context() == &context; });
  const std::lock_guard lock(mutex_);
  for (const auto& module :
       modules.remove_if([&](const Module& m) { return &m.context() == &context; })) {
    std::erase_if(library_modules_,
                  [&](const auto& entry) { return entry.second == module.get(); });
  }
  forget_functions([&](const Function& function) { return function.context() == &context; });
}

Objects& objects() {
  static Objects& instance = *new Objects;
  return instance;
}

}  // namespace culebra_emu
