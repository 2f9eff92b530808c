#include "config.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "driver_names.h"

namespace culebra_emu {
namespace {

// Every switch that there is. One that is misspelt must not be taken for one that is off.
constexpr const char* kSwitches[] = {
    "CULEBRA_EMU_CHECK",          "CULEBRA_EMU_DEVICES", "CULEBRA_EMU_DIAGNOSE",
    "CULEBRA_EMU_DRIVER_VERSION", "CULEBRA_EMU_FAULT",   "CULEBRA_EMU_MEMORY",
    "CULEBRA_EMU_MISSING",        "CULEBRA_EMU_PEER",    "CULEBRA_EMU_REPORT",
    "CULEBRA_EMU_SHUFFLE",        "CULEBRA_EMU_STUB",    "CULEBRA_EMU_TIMEOUT_S",
};

[[noreturn]] void reject(const char* name, const std::string& value, const std::string& expected) {
  std::fprintf(stderr, "culebra-emulator: %s=%s: expected %s\n", name, value.c_str(),
               expected.c_str());
  std::abort();
}

void reject_unknown_switches() {
  constexpr std::string_view kPrefix = "CULEBRA_EMU_";
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with(kPrefix)) continue;
    const std::string name(text.substr(0, text.find('=')));
    if (std::find(std::begin(kSwitches), std::end(kSwitches), name) != std::end(kSwitches))
      continue;
    std::string known;
    for (const char* one : kSwitches) known += std::string(known.empty() ? "" : ", ") + one;
    std::fprintf(stderr, "culebra-emulator: %s: expected one of the switches %s\n", name.c_str(),
                 known.c_str());
    std::abort();
  }
}

// Null if it is not set, or to nothing.
const char* value_of(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

// A number from `least` to `most`, of which `unit` is a divisor.
std::uint64_t number(const char* name, std::uint64_t fallback, std::uint64_t least,
                     std::uint64_t most, std::uint64_t unit = 1) {
  const char* const text = value_of(name);
  if (text == nullptr) return fallback;
  const std::optional<std::uint64_t> value = parse_number(text, least, most);
  if (!value || *value % unit != 0) {
    reject(name, text,
           "a number from " + std::to_string(least) + " to " + std::to_string(most) +
               (unit == 1 ? "" : " that " + std::to_string(unit) + " divides"));
  }
  return *value;
}

bool flag(const char* name) { return number(name, 0, 0, 1) == 1; }

// As much as an H200 has, but no more than the machine can give.
std::uint64_t default_memory() {
  constexpr std::uint64_t kH200Bytes = 150'110'011'392;
  const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(kH200Bytes, physical / 4 * 3);
}

std::vector<std::string> missing_functions() {
  constexpr const char* kName = "CULEBRA_EMU_MISSING";
  const char* value = value_of(kName);
  if (value == nullptr) return {};
  std::vector<std::string> names = split(value, ',');
  for (const std::string& name : names) {
    if (!is_driver_function(name)) {
      reject(kName, value, "functions of the driver, separated by commas: cuFoo,cuBar_v2");
    }
  }
  return names;
}

std::vector<FaultRule> fault_rules() {
  constexpr const char* kName = "CULEBRA_EMU_FAULT";
  const char* value = value_of(kName);
  if (value == nullptr) return {};
  std::string expected;
  const auto rules = parse_faults(value, expected);
  if (!rules) reject(kName, value, expected);
  return *rules;
}

Checks checks() {
  constexpr const char* kName = "CULEBRA_EMU_CHECK";
  Checks result;
  const char* value = value_of(kName);
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
  const char* value = value_of(kName);
  if (value == nullptr) return {"1"};
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
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  reject_unknown_switches();
  config.devices = static_cast<int>(number("CULEBRA_EMU_DEVICES", 1, 0, 64));
  // As cuDriverGetVersion has it: 12040 is 12.4. cuGetProcAddress, by which all is found, came with
  // 11.3.
  config.driver_version =
      static_cast<int>(number("CULEBRA_EMU_DRIVER_VERSION", 13000, 11030, 99990, 10));
  config.stub = flag("CULEBRA_EMU_STUB");
  config.report = flag("CULEBRA_EMU_REPORT");
  config.memory_bytes =
      number("CULEBRA_EMU_MEMORY", default_memory(), 4096, std::uint64_t{1} << 44);
  config.diagnose = flag("CULEBRA_EMU_DIAGNOSE");
  config.checks = checks();
  config.shuffle = number("CULEBRA_EMU_SHUFFLE", 0, 0, kAny);
  config.timeout_s = number("CULEBRA_EMU_TIMEOUT_S", 0, 0, 1'000'000);
  config.missing = missing_functions();
  config.faults = fault_rules();
  config.peer = peer_access(config.devices);
  return config;
}

}  // namespace

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> result;
  for (;;) {
    const std::size_t end = text.find(separator);
    result.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t least,
                                          std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) return std::nullopt;
  return value;
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
