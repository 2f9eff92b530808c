#include "faults/faults.h"

#include <algorithm>
#include <iterator>

#include "config.h"
#include "driver_names.h"

namespace culebra_emu {
namespace {

constexpr std::uint64_t kAny = ~std::uint64_t{0};
// A day: what is longer is a mistake.
constexpr std::uint64_t kMostMilliseconds = 86'400'000;

std::optional<CUresult> result_code(std::string_view text) {
  static constexpr int kCodes[] = {
#define RESULT(name, value, description) value,
#include "results.inc"
#undef RESULT
  };
  const auto value = parse_number(text, 1, kAny);
  if (!value || std::find(std::begin(kCodes), std::end(kCodes), static_cast<int>(*value)) ==
                    std::end(kCodes)) {
    return std::nullopt;
  }
  return static_cast<CUresult>(*value);
}

// "*" for each time.
std::optional<std::uint64_t> ordinal(std::string_view text) {
  return text == "*" ? std::optional<std::uint64_t>(0) : parse_number(text, 1, kAny);
}

std::optional<FaultRule> parse_rule(const std::vector<std::string>& words) {
  using Kind = FaultRule::Kind;
  const std::string& name = words[0];
  const std::size_t count = words.size();
  if (name == "fail" && count == 4) {
    const auto at = ordinal(words[2]);
    const auto code = result_code(words[3]);
    if (at && code && is_driver_function(words[1])) {
      return FaultRule{Kind::kFail, words[1], *at, 0, *code};
    }
  } else if (name == "oom" && count == 2) {
    if (const auto at = ordinal(words[1])) return FaultRule{Kind::kOutOfMemory, {}, *at};
  } else if (name == "budget" && count == 2) {
    if (const auto bytes = parse_number(words[1], 0, kAny))
      return FaultRule{Kind::kBudget, {}, 0, *bytes};
  } else if ((name == "launch" || name == "lost") && count == 3) {
    const auto at = parse_number(words[1], 1, kAny);
    const auto code = result_code(words[2]);
    const Kind kind = name == "launch" ? Kind::kLaunch : Kind::kLost;
    if (at && code) return FaultRule{kind, {}, *at, 0, *code};
  } else if (name == "slow-kernel" && count == 2) {
    if (const auto ms = parse_number(words[1], 1, kMostMilliseconds))
      return FaultRule{Kind::kSlowKernel, {}, 0, *ms};
  } else if (name == "slow-copy" && count == 2) {
    if (const auto rate = parse_number(words[1], 1, kAny))
      return FaultRule{Kind::kSlowCopy, {}, 0, *rate};
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<FaultRule>> parse_faults(std::string_view spec, std::string& expected) {
  std::vector<FaultRule> rules;
  for (const std::string& text : split(spec, ';')) {
    // Behind the last separator, too.
    if (text.empty()) continue;
    const auto rule = parse_rule(split(text, ':'));
    if (!rule) {
      expected =
          "rules, but \"" + text +
          "\" is none of fail:FUNCTION:CALL:CODE (of the driver), oom:ALLOCATION, budget:BYTES, "
          "launch:LAUNCH:CODE, lost:CALL:CODE, slow-kernel:MS, slow-copy:BYTES_PER_SECOND";
      return std::nullopt;
    }
    rules.push_back(*rule);
  }
  return rules;
}

void Faults::set(std::vector<FaultRule> rules) {
  const std::lock_guard lock(mutex_);
  states_.clear();
  for (FaultRule& rule : rules) states_.push_back({std::move(rule)});
  any_.store(!states_.empty(), std::memory_order_release);
}

CUresult Faults::on_call(std::string_view symbol, std::string_view base, CUresult& lost) {
  lost = CUDA_SUCCESS;
  if (none()) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  const std::lock_guard lock(mutex_);
  for (State& state : states_) {
    const FaultRule& rule = state.rule;
    if (rule.kind == FaultRule::Kind::kLost) {
      if (++state.count >= rule.at) lost = rule.code;
    } else if (rule.kind == FaultRule::Kind::kFail &&
               (rule.function == symbol || rule.function == base)) {
      ++state.count;
      if (rule.at == 0 || rule.at == state.count) result = rule.code;
    }
  }
  return result;
}

bool Faults::denies_allocation() {
  if (none()) return false;
  bool denied = false;
  const std::lock_guard lock(mutex_);
  for (State& state : states_) {
    if (state.rule.kind != FaultRule::Kind::kOutOfMemory) continue;
    ++state.count;
    denied |= state.rule.at == 0 || state.rule.at == state.count;
  }
  return denied;
}

bool Faults::exceeds_budget(std::uint64_t used_bytes, std::uint64_t bytes) {
  if (none()) return false;
  const std::lock_guard lock(mutex_);
  return std::any_of(states_.begin(), states_.end(), [&](const State& state) {
    const std::uint64_t most = state.rule.amount;
    return state.rule.kind == FaultRule::Kind::kBudget &&
           (used_bytes > most || bytes > most - used_bytes);
  });
}

CUresult Faults::on_launch() {
  if (none()) return CUDA_SUCCESS;
  CUresult result = CUDA_SUCCESS;
  const std::lock_guard lock(mutex_);
  for (State& state : states_) {
    if (state.rule.kind == FaultRule::Kind::kLaunch && ++state.count == state.rule.at) {
      result = state.rule.code;
    }
  }
  return result;
}

std::uint64_t Faults::kernel_delay_ms() {
  if (none()) return 0;
  std::uint64_t delay = 0;
  const std::lock_guard lock(mutex_);
  for (const State& state : states_) {
    if (state.rule.kind == FaultRule::Kind::kSlowKernel) delay += state.rule.amount;
  }
  return delay;
}

std::uint64_t Faults::copy_delay_ns(std::uint64_t bytes) {
  if (none()) return 0;
  double delay = 0;
  const std::lock_guard lock(mutex_);
  for (const State& state : states_) {
    if (state.rule.kind == FaultRule::Kind::kSlowCopy) {
      delay += 1e9 * static_cast<double>(bytes) / static_cast<double>(state.rule.amount);
    }
  }
  return static_cast<std::uint64_t>(delay);
}

Faults& faults() {
  static Faults& instance = *[] {
    auto* faults = new Faults;
    faults->set(config().faults);
    return faults;
  }();
  return instance;
}

}  // namespace culebra_emu
