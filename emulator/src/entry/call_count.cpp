#include "entry/call_count.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace culebra_emu {
namespace {

using Counters = std::unordered_map<std::string_view, std::atomic<std::uint64_t>>;

// Filled once, so that counting takes no lock.
Counters& counters() {
  static Counters& instance = *[] {
    auto* all = new Counters;
#define DRIVER_FUNCTION(symbol, base, version) (*all)[#symbol];
#include "driver_functions.inc"
#undef DRIVER_FUNCTION
    return all;
  }();
  return instance;
}

}  // namespace

std::uint64_t count_call(const char* symbol) {
  const auto found = counters().find(symbol);
  if (found != counters().end()) return found->second.fetch_add(1) + 1;
  // A variant that the table does not list.
  static std::mutex& mutex = *new std::mutex;
  static auto& others = *new std::map<std::string_view, std::uint64_t>;
  const std::lock_guard lock(mutex);
  return ++others[symbol];
}

std::int64_t calls_of(const char* symbol) {
  const auto found = counters().find(symbol);
  return found == counters().end() ? -1 : static_cast<std::int64_t>(found->second.load());
}

}  // namespace culebra_emu
