#include "checking/findings.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

#include "config.h"

namespace culebra_emu {
namespace {

std::atomic<std::uint64_t> findings = 0;

void summarize() {
  std::fprintf(stderr, "culebra-emulator: the checks found %llu errors\n",
               static_cast<unsigned long long>(findings.load()));
}

}  // namespace

std::optional<std::string> add_finding(const std::string& key,
                                       const std::function<std::string()>& text) {
  findings.fetch_add(1);
  if (!config().checks.keep_going) return text();
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (known.empty()) std::atexit(summarize);
  if (known.insert(key).second) std::fprintf(stderr, "culebra-emulator: %s\n", text().c_str());
  return std::nullopt;
}

void count_finding() { findings.fetch_add(1); }

std::uint64_t finding_count() { return findings.load(); }

}  // namespace culebra_emu
