// Orders drawn from a seed (CULEBRA_EMU_SHUFFLE): the same seed gives the same ones.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace culebra_emu {

class Shuffle {
 public:
  explicit Shuffle(std::uint64_t seed) : state_(seed) {}

  // 0 to count - 1.
  std::uint64_t draw(std::uint64_t count) { return next() % count; }

  // The numbers from 0 to count - 1.
  std::vector<std::uint32_t> order(std::uint32_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0u);
    for (std::uint32_t i = count; i > 1; --i) std::swap(numbers[i - 1], numbers[draw(i)]);
    return numbers;
  }

 private:
  // Splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators".
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
  }

  std::uint64_t state_;
};

// Where `i` of 0 to count - 1 goes in an order of all of them: no list of them is kept, since a
// grid may have billions.
inline std::uint64_t place_in_order(std::uint64_t seed, std::uint64_t i, std::uint64_t count) {
  Shuffle shuffle(seed);
  const std::uint64_t start = shuffle.draw(count);
  std::uint64_t step = 1 + shuffle.draw(count);
  while (std::gcd(step, count) != 1) ++step;
  return static_cast<std::uint64_t>((static_cast<unsigned __int128>(i) * step + start) % count);
}

}  // namespace culebra_emu
