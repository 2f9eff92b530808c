// Faults on demand: what CULEBRA_EMU_FAULT and culebraEmuSetFault ask for. README.md has the words.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"

namespace culebra_emu {

// One fault. `at` is counted from 1; 0 means each time.
struct FaultRule {
  enum class Kind {
    kFail,         // the at-th call of `function` returns `code` and does nothing
    kOutOfMemory,  // the at-th allocation of device memory fails
    kBudget,       // an allocation fails that would bring all live ones above `amount` bytes
    kLaunch,       // the at-th kernel fails with `code` instead of running
    kLost,         // from the at-th call of any function on, the devices have failed with `code`
    kSlowKernel,   // every kernel takes `amount` milliseconds more
    kSlowCopy,     // every copy and fill moves at most `amount` bytes a second
  };
  Kind kind;
  std::string function = {};
  std::uint64_t at = 0;
  std::uint64_t amount = 0;
  CUresult code = CUDA_SUCCESS;
};

// "fail:cuMemAlloc:2:2;slow-copy:1000000"; nothing, and in `expected` what could be there, if
// it makes no sense.
std::optional<std::vector<FaultRule>> parse_faults(std::string_view spec, std::string& expected);

class Faults {
 public:
  void set(std::vector<FaultRule> rules);

  // Counts a call of a function, known by symbol and base name. What it must return at once; the
  // code in `lost` is what the devices fail with from now on.
  CUresult on_call(std::string_view symbol, std::string_view base, CUresult& lost);
  // Whether this allocation, which it counts, fails.
  bool denies_allocation();
  // Whether a device that has `used_bytes` allocated may not have so many more.
  bool exceeds_budget(std::uint64_t used_bytes, std::uint64_t bytes);
  // What the kernel that is about to run fails with.
  CUresult on_launch();
  // How much longer work takes.
  std::uint64_t kernel_delay_ms();
  std::uint64_t copy_delay_ns(std::uint64_t bytes);

 private:
  struct State {
    FaultRule rule;
    std::uint64_t count = 0;
  };

  // Most programs have no fault, and must not pay for a lock at each call.
  bool none() const { return !any_.load(std::memory_order_acquire); }

  std::atomic<bool> any_ = false;
  std::mutex mutex_;
  std::vector<State> states_;
};

// Has the rules of the environment at first.
Faults& faults();

}  // namespace culebra_emu
