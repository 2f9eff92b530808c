// Every softmax kernel that keeps a row on chip, with teams of several sizes.
#include "softmax_rows.h"

namespace runner {

namespace {

constexpr int64_t kPackBytes = 16;

int64_t packs_of(int64_t length, std::size_t element_bytes) {
  return (length * static_cast<int64_t>(element_bytes) + kPackBytes - 1) / kPackBytes;
}

template <class E>
void check_lanes(Bench& bench, int packs, unsigned lanes) {
  const std::string symbol = "culebra_softmax_fused_lanes" + std::to_string(packs) + "_" + E::kName;
  constexpr int64_t kPack = kPackBytes / sizeof(typename E::Storage);
  SoftmaxRows<E> rows(
      bench, symbol + " by " + std::to_string(lanes) + " lanes",
      [&](const MaskedSoftmaxParams& params, unsigned grid) {
        const unsigned per_block = 64 / lanes;
        const auto needed = static_cast<unsigned>((params.rows + per_block - 1) / per_block);
        bench.launch(symbol, LaunchShape{grid ? grid : needed, lanes, per_block}, params);
      });
  const int64_t most = lanes * packs * kPack;
  for (const int64_t length : {int64_t(1), kPack - 1, most / 2 + 1, most - 1, most}) {
    if (length > 0) rows.length(length);
  }
  rows.contracts(most);
  rows.many(3 * 64 / lanes + 1, most - 1);
}

template <class E>
void check_block(Bench& bench, const char* variant, unsigned threads, unsigned cluster,
                 const std::vector<int64_t>& lengths) {
  const std::string symbol = std::string("culebra_softmax_fused_") + variant + "_" + E::kName;
  const bool shared = std::strcmp(variant, "registers4") != 0;
  SoftmaxRows<E> rows(
      bench, symbol + " by " + std::to_string(cluster) + " x " + std::to_string(threads),
      [&](const MaskedSoftmaxParams& params, unsigned grid) {
        const int64_t team = threads * cluster;
        const int64_t packs = packs_of(params.row_length, sizeof(typename E::Storage));
        const auto bytes = static_cast<unsigned>((packs + team - 1) / team * threads * kPackBytes);
        const auto teams = grid ? grid : static_cast<unsigned>(params.rows);
        bench.launch(symbol, LaunchShape{teams * cluster, threads, 1, shared ? bytes : 0, cluster},
                     params);
      });
  for (const int64_t length : lengths) rows.length(length);
  rows.contracts(std::min<int64_t>(lengths.back(), 601));
  rows.many(4, lengths.back());
}

template <class E>
void check_type(Bench& bench) {
  constexpr int64_t kPack = kPackBytes / sizeof(typename E::Storage);
  for (const unsigned lanes : {1u, 8u, 32u}) {
    check_lanes<E>(bench, 1, lanes);
    check_lanes<E>(bench, 4, lanes);
  }
  check_block<E>(bench, "registers4", 32, 1, {1, 65, 128 * kPack});
  check_block<E>(bench, "registers4", 160, 1, {777, 4 * 160 * kPack - 1});
  check_block<E>(bench, "shared", 32, 1, {1, 1023, 1024});
  check_block<E>(bench, "shared", 96, 1, {2049, 4097});
  if (bench.driver.compute_capability() >= 90) {
    check_block<E>(bench, "cluster", 32, 2, {1, 31, 1025});
    check_block<E>(bench, "cluster", 64, 4, {2048, 3001});
    check_block<E>(bench, "cluster", 32, 16, {63, 8193});
    // What a block has to ask for.
    check_block<E>(bench, "cluster", 256, 2,
                   {2 * 56 * 1024 / int64_t(sizeof(typename E::Storage)) - 3});
  }
}

}  // namespace

void check_softmax_fused(Bench& bench) {
  check_type<F32>(bench);
  check_type<F16>(bench);
  check_type<BF16>(bench);
  check_type<F64>(bench);
}

}  // namespace runner
