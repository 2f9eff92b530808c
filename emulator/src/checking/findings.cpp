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

bool add_finding(const std::string& text) {
  findings.fetch_add(1);
  if (!config().checks.keep_going) return true;
  static std::mutex& mutex = *new std::mutex;
  static auto& printed = *new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (printed.empty()) std::atexit(summarize);
  if (printed.insert(text).second) std::fprintf(stderr, "culebra-emulator: %s\n", text.c_str());
  return false;
}

std::uint64_t finding_count() { return findings.load(); }

}  // namespace culebra_emu
