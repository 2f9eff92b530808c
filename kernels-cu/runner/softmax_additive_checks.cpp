// Every softmax kernel with an additive mask: rows on chip with teams of several sizes, and in
// pieces.
#include "row_teams.h"
#include "softmax_rows.h"

namespace runner {

namespace {

template <class E>
void check_pieces(Bench& bench, unsigned threads, int64_t piece,
                  const std::vector<int64_t>& lengths) {
  const std::string prefix = "culebra_softmax_additive_";
  const std::string suffix = std::string("_") + E::kName;
  check_lengths(
      SoftmaxRows<E>(
          bench, prefix + "states" + suffix + " in pieces of " + std::to_string(piece),
          [&](const MaskedSoftmaxParams& params, const SoftmaxAddends& addends, unsigned grid) {
            const int64_t pieces = (params.row_length + piece - 1) / piece;
            const DeviceArray<typename E::Result> states(
                bench.driver, poison<typename E::Result>(2 * params.rows * pieces));
            const SoftmaxPieces split{states.at(0), pieces, piece, pieces};
            const LaunchShape shape{grid ? grid : static_cast<unsigned>(params.rows * pieces),
                                    threads};
            bench.launch(prefix + "states" + suffix, shape, params, addends, split);
            bench.launch(prefix + "finish" + suffix, shape, params, addends, split);
          },
          true),
      lengths, 3);
}

template <class E>
void check_type(Bench& bench) {
  // Sums are kept in the type of a result.
  check_teams(bench, OnChip{sizeof(typename E::Result)}, {4}, 4,
              [&](const std::string& variant, const std::string& how, const TeamShape& shape) {
                const std::string symbol = "culebra_softmax_additive_" + variant + "_" + E::kName;
                return SoftmaxRows<E>(
                    bench, symbol + " " + how,
                    [&bench, symbol, shape](const MaskedSoftmaxParams& params,
                                            const SoftmaxAddends& addends, unsigned grid) {
                      bench.launch(symbol, shape(params.rows, params.row_length, grid), params,
                                   addends);
                    },
                    true);
              });
  check_pieces<E>(bench, 32, 8, {1, 40});
  check_pieces<E>(bench, 64, 600, {1, 1023, 3000});
  check_pieces<E>(bench, 256, 8192, {4097, 20001});
}

}  // namespace

void check_softmax_additive(Bench& bench) {
  for_types<F32, F16, BF16, F64>(bench,
                                 [&](auto element) { check_type<decltype(element)>(bench); });
}

}  // namespace runner
