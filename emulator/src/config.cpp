#include "config.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "driver_names.h"

namespace culebra_emu {
namespace {

[[noreturn]] void reject(const char* name, const char* value, const char* expected) {
  std::fprintf(stderr, "culebra-emulator: %s=%s: expected %s\n", name, value, expected);
  std::abort();
}

// A switch that is misspelt must not be taken for one that is off.
std::uint64_t number(const char* name, std::uint64_t fallback) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return fallback;
  char* end = nullptr;
  const std::uint64_t result = std::strtoull(value, &end, 10);
  if (*end != '\0' || *value == '-') reject(name, value, "a number");
  return result;
}

// As much as an H200 has, but no more than the machine can give.
std::uint64_t default_memory() {
  constexpr std::uint64_t kH200Bytes = 150'110'011'392;
  const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(kH200Bytes, physical / 4 * 3);
}

int devices() {
  constexpr const char* kName = "CULEBRA_EMU_DEVICES";
  const std::uint64_t count = number(kName, 1);
  if (count > 64) reject(kName, std::getenv(kName), "at most 64");
  return static_cast<int>(count);
}

std::vector<std::string> missing_functions() {
  constexpr const char* kName = "CULEBRA_EMU_MISSING";
  const char* value = std::getenv(kName);
  if (value == nullptr) return {};
  std::vector<std::string> names = split(value, ',');
  for (const std::string& name : names) {
    if (!is_driver_function(name)) reject(kName, value, "functions of the driver");
  }
  return names;
}

// CULEBRA_EMU_FAULT, and the older words for some of its rules.
std::vector<FaultRule> fault_rules() {
  std::string spec;
  const auto add = [&](const char* name, const char* rule, const std::string& value) {
    std::string complaint;
    if (!parse_faults(rule + value, complaint)) reject(name, value.c_str(), complaint.c_str());
    spec += std::string(rule) + value + ";";
  };
  const auto with = [&](const char* name, const char* rule, char separator) {
    const char* value = std::getenv(name);
    if (value == nullptr) return;
    for (const std::string& entry : split(value, separator)) add(name, rule, entry);
  };
  with("CULEBRA_EMU_FAULT", "", ';');
  with("CULEBRA_EMU_FAIL", "fail:", ',');
  if (number("CULEBRA_EMU_OOM_AT", 0) != 0) with("CULEBRA_EMU_OOM_AT", "oom:", ',');
  if (number("CULEBRA_EMU_SLOW_KERNEL_MS", 0) != 0) {
    with("CULEBRA_EMU_SLOW_KERNEL_MS", "slow-kernel:", ',');
  }
  std::string complaint;
  return *parse_faults(spec, complaint);
}

Checks checks() {
  constexpr const char* kName = "CULEBRA_EMU_CHECK";
  Checks result;
  const char* value = std::getenv(kName);
  if (value == nullptr) return result;
  for (const std::string& word : split(value, ',')) {
    const bool all = word == "all";
    if (all || word == "memory") result.memory = true;
    if (all || word == "init") result.init = true;
    if (all || word == "race") result.race = true;
    if (word == "continue") result.keep_going = true;
    if (!all && word != "memory" && word != "init" && word != "race" && word != "continue") {
      reject(kName, value, "all or some of memory,init,race, and possibly continue");
    }
  }
  if (!result.any()) reject(kName, value, "at least one check: memory, init, race or all");
  return result;
}

std::vector<std::string> peer_access(int devices) {
  constexpr const char* kName = "CULEBRA_EMU_PEER";
  constexpr const char* kExpected = "0, 1, or for each device a row of 0 and 1: 011,101,110";
  const char* value = std::getenv(kName);
  if (value == nullptr || *value == '\0') return {"1"};
  std::vector<std::string> rows = split(value, ',');
  const auto is_row = [&](const std::string& row, std::size_t places) {
    return row.size() == places && row.find_first_not_of("01") == std::string::npos;
  };
  if (rows.size() == 1 && is_row(rows[0], 1)) return rows;
  const auto places = static_cast<std::size_t>(devices);
  const bool is_matrix = rows.size() == places &&
                         std::all_of(rows.begin(), rows.end(),
                                     [&](const std::string& row) { return is_row(row, places); });
  if (!is_matrix) reject(kName, value, kExpected);
  return rows;
}

Config read() {
  Config config;
  config.devices = devices();
  config.driver_version = static_cast<int>(number("CULEBRA_EMU_DRIVER_VERSION", 13000));
  config.stub = number("CULEBRA_EMU_STUB", 0) != 0;
  config.report = number("CULEBRA_EMU_REPORT", 0) != 0;
  config.memory_bytes = number("CULEBRA_EMU_MEMORY", default_memory());
  config.diagnose = number("CULEBRA_EMU_DIAGNOSE", 0) != 0;
  config.checks = checks();
  config.shuffle = number("CULEBRA_EMU_SHUFFLE", 0);
  config.timeout_s = number("CULEBRA_EMU_TIMEOUT_S", 0);
  config.missing = missing_functions();
  config.faults = fault_rules();
  config.peer = peer_access(config.devices);
  return config;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) result.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

bool Config::can_access_peer(int from, int to) const {
  if (peer.size() == 1) return peer[0] == "1";
  return peer[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] == '1';
}

const Config& config() {
  static const Config& instance = *new Config(read());
  return instance;
}

}  // namespace culebra_emu
