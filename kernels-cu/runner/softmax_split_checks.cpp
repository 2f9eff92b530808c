// Softmax in pieces: the states, their merge, and the results that come of them.
#include "softmax_rows.h"

namespace runner {

namespace {

template <class E>
void check_pieces(Bench& bench, unsigned threads, int64_t piece_packs,
                  const std::vector<int64_t>& lengths) {
  using Number = std::conditional_t<sizeof(typename E::Storage) == 8, double, float>;
  const std::string suffix = std::string("_") + E::kName;
  const int64_t piece = piece_packs * 16 / static_cast<int64_t>(sizeof(typename E::Storage));
  SoftmaxRows<E> rows(
      bench, "culebra_softmax_split" + suffix + " in pieces of " + std::to_string(piece),
      [&](const MaskedSoftmaxParams& params, unsigned grid) {
        const int64_t pieces = (params.row_length + piece - 1) / piece;
        const DeviceArray<Number> states(bench.driver, poison<Number>(2 * params.rows * pieces));
        const SoftmaxPieces split{states.at(0), pieces, piece};
        const LaunchShape shape{grid ? grid : static_cast<unsigned>(params.rows * pieces), threads};
        bench.launch("culebra_softmax_split_states" + suffix, shape, params, split);
        bench.launch("culebra_softmax_split_finish" + suffix, shape, params, split);
      });
  for (const int64_t length : lengths) rows.length(length);
  rows.contracts(std::min<int64_t>(lengths.back(), 601));
  rows.many(3, lengths.back());
}

template <class E>
void check_type(Bench& bench) {
  check_pieces<E>(bench, 32, 1, {1, 40});
  check_pieces<E>(bench, 64, 300, {1, 1023, 3000});
  check_pieces<E>(bench, 256, 4096, {4097, 20001});
}

}  // namespace

void check_softmax_split(Bench& bench) {
  check_type<F32>(bench);
  check_type<F16>(bench);
  check_type<BF16>(bench);
  check_type<F64>(bench);
}

}  // namespace runner
