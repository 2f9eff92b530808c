#include "model/image_variables.h"

#include "checking/memory_index.h"
#include "image/loaded_image.h"
#include "image/variables.h"
#include "model/address_space.h"
#include "model/context.h"

namespace culebra_emu {

ImageVariables::~ImageVariables() {
  for (const auto& [name, memory] : known_) {
    address_space().remove(memory.address, [](const Allocation&) { return true; });
    memory_index().remove(memory.address);
  }
}

std::optional<ImageVariables::Memory> ImageVariables::find(LoadedImage& image,
                                                           const std::string& name,
                                                           Context& context) {
  static std::mutex& mutex = *new std::mutex;
  const std::lock_guard lock(mutex);
  std::shared_ptr<ImageVariables>& variables = image.variables();
  if (variables == nullptr) variables = std::make_shared<ImageVariables>();
  auto& known = variables->known_;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  const auto variable = find_variable(image.host_code(), name);
  const std::uint64_t base = image.load_address();
  if (!variable || base == 0) return std::nullopt;
  const Memory memory = {base + variable->offset, variable->bytes};
  Allocation allocation;
  allocation.address = memory.address;
  allocation.bytes = memory.bytes;
  allocation.kind = MemoryKind::kModule;
  allocation.device = &context.device();
  if (!address_space().add(std::move(allocation))) return std::nullopt;
  memory_index().add({memory.address, memory.bytes, nullptr});
  return known[name] = memory;
}

}  // namespace culebra_emu
