// Softmax in pieces: the states, their merge, and the results that come of them.
#include "row_teams.h"
#include "softmax_rows.h"

namespace runner {

namespace {

// merged: one state a row, which a launch between the two makes.
template <class E>
void check_pieces(Bench& bench, unsigned threads, int64_t piece_packs, bool merged,
                  const std::vector<int64_t>& lengths) {
  using Number = typename E::Result;
  const std::string suffix = std::string("_") + E::kName;
  const std::string merge =
      std::string("culebra_softmax_split_merge_block_") + (sizeof(Number) == 8 ? "f64" : "f32");
  const int64_t piece =
      piece_packs * kPackBytes / static_cast<int64_t>(sizeof(typename E::Storage));
  check_lengths(
      SoftmaxRows<E>(
          bench,
          "culebra_softmax_split" + suffix + (merged ? ", merged," : "") + " in pieces of " +
              std::to_string(piece),
          [&](const MaskedSoftmaxParams& params, const SoftmaxAddends&, unsigned grid) {
            const int64_t pieces = (params.row_length + piece - 1) / piece;
            const DeviceArray<Number> states(bench.driver,
                                             poison<Number>(2 * params.rows * pieces));
            const DeviceArray<Number> one(bench.driver, poison<Number>(2 * params.rows));
            SoftmaxPieces split{states.at(0), pieces, piece, pieces};
            const LaunchShape shape{grid ? grid : static_cast<unsigned>(params.rows * pieces),
                                    threads};
            bench.launch("culebra_softmax_split_states" + suffix, shape, params, split);
            if (merged) {
              const SoftmaxMergeParams all{one.at(0), states.at(0), params.rows, pieces, pieces,
                                           1,         params.scale};
              bench.launch(merge, LaunchShape{grid ? grid : unsigned(params.rows), threads}, all);
              split.states = one.at(0);
              split.row_states = 1;
            }
            bench.launch("culebra_softmax_split_finish" + suffix, shape, params, split);
          }),
      lengths, 3);
}

template <class E>
void check_type(Bench& bench) {
  check_pieces<E>(bench, 32, 1, false, {1, 40});
  check_pieces<E>(bench, 64, 300, false, {1, 1023, 3000});
  check_pieces<E>(bench, 256, 4096, false, {4097, 20001});
  check_pieces<E>(bench, 64, 30, true, {1, 3000});
}

// The merge by itself, of states that lie as [states, rows].
template <class E>
class Merges {
  using Number = typename E::Storage;
  struct State {
    Number m;
    Number d;
  };
  static constexpr Number kInfinite = INFINITY;

 public:
  explicit Merges(Bench& bench) : bench_(bench) {}

  void check(int64_t rows, int64_t count, double scale) {
    std::vector<State> states(rows * count);
    for (State& s : states) {
      s = {Number(bench_.uniform(-20, 20)), Number(bench_.uniform(1, 1000))};
      if (bench_.random() % 4 == 0) s = {-kInfinite, 0};  // empty
    }
    if (rows > 1) {
      for (int64_t i = 0; i < count; ++i) states[i * rows + 1] = {-kInfinite, 0};
    }
    const std::vector<State> by_block = run("block", {unsigned(rows), 64}, states, rows, scale);
    for (int64_t r = 0; r < rows; ++r) compare(states, rows, r, scale, by_block[r]);
    unsigned lanes = 1;
    while (lanes < count) lanes *= 2;
    if (lanes <= 32) {
      const LaunchShape shape{1, lanes, 64 / lanes};
      same("by lanes", by_block, run("lanes", shape, states, rows, scale));
    }
    same("by one block", by_block, run("block", {1, 64}, states, rows, scale));
    if (count == 2) {
      std::vector<State> turned = states;
      std::rotate(turned.begin(), turned.begin() + rows, turned.end());
      same("in the other order", by_block, run("block", {1, 64}, turned, rows, scale));
    }
    for (const State& bad : {State{NAN, NAN}, State{kInfinite, NAN}, State{3, NAN}}) {
      states[(count - 1) * rows] = bad;
      const State got = run("block", {1, 64}, states, rows, scale)[0];
      bench_.expect(std::isnan(got.d), "merge: a state with NaN was lost: (%g, %g)", double(got.m),
                    double(got.d));
    }
  }

 private:
  std::vector<State> run(const std::string& team, const LaunchShape& shape,
                         const std::vector<State>& states, int64_t rows, double scale) {
    const DeviceArray<State> in(bench_.driver, states);
    const DeviceArray<State> out(bench_.driver, poison<State>(rows + 1));
    const SoftmaxMergeParams params{out.at(0), in.at(0), rows, int64_t(states.size()) / rows,
                                    1,         rows,     scale};
    bench_.launch("culebra_softmax_split_merge_" + team + "_" + E::kName, shape, params);
    std::vector<State> merged = out.read();
    bench_.expect(same_bits(merged.back(), poison<State>(1)[0]), "merge wrote beyond its rows");
    merged.pop_back();
    return merged;
  }

  void compare(const std::vector<State>& states, int64_t rows, int64_t r, double scale,
               const State& got) {
    const double weight = std::fabs(scale);
    double m = -INFINITY;
    for (std::size_t i = r; i < states.size(); i += rows) m = std::fmax(m, states[i].m);
    double d = 0;
    for (std::size_t i = r; i < states.size(); i += rows) {
      if (states[i].d != 0) d += states[i].d * std::exp((states[i].m - m) * weight);
    }
    bench_.expect(double(got.m) == m && std::fabs(got.d - d) <= 200 * E::kArithmetic * d,
                  "merge %s of %ld, scale %g: (%.9g, %.9g), should be (%.9g, %.9g)", E::kName,
                  long(states.size() / rows), scale, double(got.m), double(got.d), m, d);
  }

  void same(const char* what, const std::vector<State>& wanted, const std::vector<State>& got) {
    bench_.expect(std::memcmp(wanted.data(), got.data(), wanted.size() * sizeof(State)) == 0,
                  "merge %s: other bits %s", E::kName, what);
  }

  Bench& bench_;
};

template <class E>
void check_merges(Bench& bench) {
  for (const int64_t count : {1, 2, 3, 8, 31, 32, 33, 200}) {
    for (const int64_t rows : {1, 5}) Merges<E>(bench).check(rows, count, count % 2 ? 1 : -0.5);
  }
}

}  // namespace

void check_softmax_split(Bench& bench) {
  for_types<F32, F16, BF16, F64>(bench,
                                 [&](auto element) { check_type<decltype(element)>(bench); });
  for_types<F32, F64>(bench, [&](auto element) { check_merges<decltype(element)>(bench); });
}

}  // namespace runner
