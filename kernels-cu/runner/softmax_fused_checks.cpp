// Every softmax kernel that keeps a row on chip, with teams of several sizes.
#include "row_teams.h"
#include "softmax_rows.h"

namespace runner {

namespace {

template <class E>
void check_type(Bench& bench) {
  check_teams(bench, OnChip{sizeof(typename E::Storage)}, {1, 4}, 4,
              [&](const std::string& variant, const std::string& how, const TeamShape& shape) {
                const std::string symbol = "culebra_softmax_fused_" + variant + "_" + E::kName;
                return SoftmaxRows<E>(
                    bench, symbol + " " + how,
                    [&bench, symbol, shape](const MaskedSoftmaxParams& params,
                                            const SoftmaxAddends&, unsigned grid) {
                      bench.launch(symbol, shape(params.rows, params.row_length, grid), params);
                    });
              });
}

}  // namespace

void check_softmax_fused(Bench& bench) {
  for_types<F32, F16, BF16, F64>(bench,
                                 [&](auto element) { check_type<decltype(element)>(bench); });
}

}  // namespace runner
