#include "entry/call_count.h"

#include <array>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace culebra_emu {
namespace {

using Functions = std::unordered_map<std::string_view, CalledFunction>;

// Filled once.
Functions& functions() {
  static Functions& instance = *[] {
    auto* all = new Functions;
#define DRIVER_FUNCTION(symbol, base, version) (*all)[#symbol].base_name = #base;
#include "driver_functions.inc"
#undef DRIVER_FUNCTION
    return all;
  }();
  return instance;
}

CalledFunction& find_by_name(const char* symbol) {
  const auto found = functions().find(symbol);
  if (found != functions().end()) return found->second;
  // A variant that the table does not list.
  static auto& others = *new Functions;
  CalledFunction& function = others[symbol];
  function.base_name = symbol;
  return function;
}

// From the address of a literal to its function, without a lock where it is known: a hash table
// that only grows. It has several times as many places as the library has entry points.
class Known {
 public:
  CalledFunction& find(const char* symbol) {
    for (std::size_t i = first_place(symbol);; i = (i + 1) % kPlaces) {
      const char* const here = places_[i].symbol.load(std::memory_order_acquire);
      if (here == symbol) return *places_[i].function;
      if (here == nullptr) return add(symbol);
    }
  }

 private:
  static constexpr unsigned kLog2Places = 12;
  static constexpr std::size_t kPlaces = std::size_t{1} << kLog2Places;
  struct Place {
    std::atomic<const char*> symbol = nullptr;
    CalledFunction* function = nullptr;  // there before the symbol is
  };

  static std::size_t first_place(const char* symbol) {
    constexpr std::uint64_t kGoldenRatio = 0x9E3779B97F4A7C15;
    return static_cast<std::size_t>(reinterpret_cast<std::uint64_t>(symbol) * kGoldenRatio >>
                                    (64 - kLog2Places));
  }

  CalledFunction& add(const char* symbol) {
    const std::lock_guard lock(mutex_);
    // Somebody who did not pass a literal: the search would come to no end.
    if (++count_ == kPlaces) std::abort();
    CalledFunction& function = find_by_name(symbol);
    std::size_t i = first_place(symbol);
    while (places_[i].symbol.load(std::memory_order_relaxed) != nullptr) i = (i + 1) % kPlaces;
    places_[i].function = &function;
    places_[i].symbol.store(symbol, std::memory_order_release);
    return function;
  }

  std::array<Place, kPlaces> places_;
  std::mutex mutex_;
  std::size_t count_ = 0;
};

constinit Known known;

}  // namespace

CalledFunction& called_function(const char* symbol) { return known.find(symbol); }

std::int64_t calls_of(const char* symbol) {
  const auto found = functions().find(symbol);
  return found == functions().end() ? -1 : static_cast<std::int64_t>(found->second.calls.load());
}

}  // namespace culebra_emu
