#include "model/origin.h"

#include <mutex>
#include <set>

#include "fast_tls.h"

namespace culebra_emu {
namespace {

// Also read in a signal handler: see execution/fault.cpp.
CULEBRA_EMU_FAST_TLS thread_local Origin current;

}  // namespace

std::string to_string(const Origin& origin) {
  if (origin.symbol == nullptr) return "the emulator itself";
  std::string text = origin.symbol;
  text += " #" + std::to_string(origin.call);
  if (origin.label != nullptr) text += std::string(" (") + origin.label + ")";
  return text;
}

Origin current_origin() { return current; }

void set_current_call(const char* symbol, std::uint64_t call) {
  current.symbol = symbol;
  current.call = call;
}

void set_label(const char* label) {
  // Kept for good, since what was made under a label may outlive it.
  static std::mutex& mutex = *new std::mutex;
  static auto& labels = *new std::set<std::string>;
  if (label == nullptr) {
    current.label = nullptr;
    return;
  }
  const std::lock_guard lock(mutex);
  current.label = labels.emplace(label).first->c_str();
}

}  // namespace culebra_emu
