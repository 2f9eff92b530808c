#include "checking/written.h"

#include <cstring>

#include "checking/memory_index.h"
#include "config.h"

namespace culebra_emu {
namespace {

// Null for memory of which nothing is known: the host's.
unsigned char* written_at(std::uint64_t address, std::uint64_t bytes) {
  const auto memory = memory_index().find(address);
  if (!memory || memory->written == nullptr || !memory->contains(address, bytes)) return nullptr;
  return memory->written + (address - memory->address);
}

}  // namespace

std::optional<std::uint64_t> note_copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  if (!config().checks.init) return std::nullopt;
  const unsigned char* source = written_at(from, bytes);
  unsigned char* destination = written_at(to, bytes);
  if (destination != nullptr) {
    if (source != nullptr) {
      std::memmove(destination, source, bytes);
    } else {
      std::memset(destination, 1, bytes);
    }
  } else if (source != nullptr) {
    const void* unwritten = std::memchr(source, 0, bytes);
    if (unwritten != nullptr) {
      return static_cast<std::uint64_t>(static_cast<const unsigned char*>(unwritten) - source);
    }
  }
  return std::nullopt;
}

void note_fill(std::uint64_t to, std::uint64_t bytes) {
  if (!config().checks.init) return;
  if (unsigned char* written = written_at(to, bytes)) std::memset(written, 1, bytes);
}

}  // namespace culebra_emu
