// Runs LLVMFuzzerTestOneInput where there is no libFuzzer: on each file of a folder, then on
// mutations of them, without a look at what code they reach.
//
//   fuzz SEEDS SECONDS [SEED]
//
// The input at hand when the process dies is written to ./crash.
#include <sanitizer/common_interface_defs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t bytes);

namespace {

using Bytes = std::vector<std::uint8_t>;

const Bytes* running = nullptr;

void keep_input() {
  if (running == nullptr) return;
  std::ofstream file("crash", std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(running->data()),
             static_cast<std::streamsize>(running->size()));
  std::fputs("the input is in ./crash\n", stderr);
}

void run(const Bytes& input) {
  running = &input;
  alarm(20);  // an input that takes as long is a finding
  LLVMFuzzerTestOneInput(input.data(), input.size());
  alarm(0);
  running = nullptr;
}

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  Bytes mutate(const std::vector<Bytes>& seeds) {
    Bytes bytes = seeds[below(seeds.size())];
    for (std::size_t i = 1 + below(4); i != 0; --i) change(bytes, seeds[below(seeds.size())]);
    return bytes;
  }

 private:
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
  }

  // A place: often in the header or the table at the end, where it matters.
  std::size_t place(const Bytes& bytes) {
    const std::size_t near = std::min<std::size_t>(bytes.size(), 512);
    switch (below(4)) {
      case 0:
        return below(std::min<std::size_t>(bytes.size(), 64));
      case 1:
        return bytes.size() - near + below(near);
      default:
        return below(bytes.size());
    }
  }

  void change(Bytes& bytes, const Bytes& other) {
    if (bytes.empty()) {
      bytes = other;
      return;
    }
    const std::size_t at = place(bytes);
    switch (below(7)) {
      case 0:
        bytes[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 1:
        bytes[at] = static_cast<std::uint8_t>(random_());
        break;
      case 2: {
        constexpr std::uint64_t kOdd[] = {
            0,          1,          0x7F,       0xFF,       0x7FFF,     0xFFFF, 0x7FFFFFFF,
            0xFFFFFFFF, 1ull << 30, 1ull << 32, ~0ull >> 1, ~0ull - 63, ~0ull,  1ull << 63};
        std::uint64_t value = kOdd[below(std::size(kOdd))];
        if (below(3) == 0) value = bytes.size() + below(3) - 1;
        write(bytes, at, value, std::size_t{1} << below(4));
        break;
      }
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(at), 1 + below(64),
                     static_cast<std::uint8_t>(random_()));
        break;
      case 5: {
        const std::size_t from = below(bytes.size());
        const std::size_t count = std::min(bytes.size() - std::max(at, from), 1 + below(128));
        std::memmove(&bytes[at], &bytes[from], count);
        break;
      }
      default:
        if (!other.empty()) {
          const std::size_t from = below(other.size());
          bytes.resize(at);
          bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(from), other.end());
        }
        break;
    }
  }

  static void write(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i) {
      bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  }

  std::mt19937_64 random_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: fuzz SEEDS SECONDS [SEED]\n");
    return 2;
  }
  __sanitizer_set_death_callback(&keep_input);
  std::signal(SIGALRM, [](int) { std::abort(); });
  std::vector<Bytes> seeds;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    run(seeds.back());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "%s has no files to begin with\n", argv[1]);
    return 2;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  Mutator mutator(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  long runs = 0;
  for (; std::chrono::steady_clock::now() < end; ++runs) run(mutator.mutate(seeds));
  std::printf("Done %ld runs\n", runs);
  return 0;
}
