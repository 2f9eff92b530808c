#include "describe_kernels.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "culebra_emu/image.h"

namespace culebra_emu {

std::string describe_kernels(const char* shared_object) {
  // A bare file name would be searched for in the system's library folders.
  const std::string path = std::strchr(shared_object, '/') == nullptr
                               ? std::string("./") + shared_object
                               : shared_object;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto entry = reinterpret_cast<ImageEntry>(dlsym(library, kImageEntryName));
  if (entry == nullptr) {
    throw std::runtime_error(path + " has no kernels: none of its files uses CULEBRA_KERNEL");
  }
  const Image* image = entry(nullptr);

  std::vector<const Kernel*> kernels(image->kernels, image->kernels + image->kernel_count);
  std::sort(kernels.begin(), kernels.end(),
            [](const Kernel* a, const Kernel* b) { return std::strcmp(a->symbol, b->symbol) < 0; });
  std::ostringstream lines;
  std::set<std::string> used_types;
  for (const Kernel* kernel : kernels) {
    lines << "kernel\t" << kernel->symbol << '\t' << kernel->family << '\t' << kernel->max_threads
          << '\n';
    for (std::uint32_t i = 0; i < kernel->parameter_count; ++i) {
      const Parameter& parameter = kernel->parameters[i];
      lines << "param\t" << kernel->symbol << '\t' << i << '\t' << parameter.name << '\t'
            << parameter.type << '\t' << parameter.offset << '\t' << parameter.size << '\t'
            << parameter.align << '\n';
      used_types.insert(parameter.type);
    }
  }
  // A header may describe structs that no kernel of this object takes.
  for (std::uint32_t i = 0; i < image->field_count; ++i) {
    const Field& field = *image->fields[i];
    if (!used_types.contains(field.struct_name)) continue;
    lines << "field\t" << field.struct_name << '\t' << field.name << '\t' << field.type << '\t'
          << field.offset << '\t' << field.size << '\n';
  }
  return lines.str();
}

}  // namespace culebra_emu
