// What the environment asks for: the size of the emulated machine, and faults on demand. README.md
// documents each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "abi.h"
#include "faults/faults.h"

namespace culebra_emu {

// What checked images are watched for.
struct Checks {
  bool memory = false;  // accesses outside of what the kernel may touch
  bool init = false;    // reads of what nobody has written
  bool race =
      false;  // unordered accesses, of a block's threads to shared memory, of blocks to global
  // Print what is found and go on, instead of ending the launch or the copy.
  bool keep_going = false;

  bool any() const { return memory || init || race; }
};

struct Config {
  int devices = 1;
  int driver_version = 13000;
  bool stub = false;
  bool report = false;
  std::uint64_t memory_bytes = 0;
  bool diagnose = false;
  std::uint64_t shuffle = 0;  // the seed of the order of blocks and threads; 0 means the usual one
  std::uint64_t timeout_s = 0;  // of a group of blocks; 0 means none
  Checks checks;
  std::vector<FaultRule> faults;
  // Row i says which devices' memory device i can reach: '1' at the other's place. One row of one
  // character stands for all pairs.
  std::vector<std::string> peer = {"1"};
  std::vector<std::string> missing;

  // Of two different devices.
  bool can_access_peer(int from, int to) const;
};

// Read once, at the first call.
const Config& config();

// "a,b" -> {"a", "b"}; "a," -> {"a", ""}
std::vector<std::string> split(std::string_view text, char separator);

// The whole text as a decimal number from `least` to `most`.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t least,
                                          std::uint64_t most);

}  // namespace culebra_emu
