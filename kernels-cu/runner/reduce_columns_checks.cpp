// Reductions of columns: every operation and type, with and without pieces, aligned and not.
#include "culebra/params.h"
#include "reductions.h"

namespace runner {

namespace {

struct Shape {
  int64_t outer;
  int64_t length;
  int64_t columns;
  int64_t row_gap;  // elements between the end of a row and the next one
  std::size_t offset;
  unsigned lanes;  // of a block
  unsigned down;
  int64_t piece_length;
};

constexpr Shape kShapes[] = {
    {1, 1, 1, 0, 0, 1, 1, 1},       {1, 33, 5, 3, 0, 2, 4, 33},    {3, 7, 32, 0, 0, 4, 2, 7},
    {2, 50, 17, 0, 1, 8, 8, 50},    {1, 300, 64, 0, 0, 8, 16, 64}, {1, 200, 3, 0, 0, 1, 32, 128},
    {5, 100, 40, 8, 0, 32, 1, 100}, {2, 0, 9, 0, 0, 4, 1, 1},      {1, 65, 70, 2, 0, 16, 16, 16}};

struct CheckColumns {
  template <class E>
  void check(Reductions<E>& reductions) const {
    for (const HardValues values : kHardValues) {
      for (const Shape& shape : kShapes) {
        columns(reductions, values, shape);
        if (values == HardValues::kOrdinary) repeats(reductions, shape);
      }
    }
  }

 private:
  template <class E>
  static std::vector<unsigned char> reduce(Reductions<E>& reductions, const Shape& shape,
                                           const std::vector<typename E::Storage>& in,
                                           unsigned grid) {
    Bench& bench = reductions.bench;
    const int64_t row_stride = shape.columns + shape.row_gap;
    const int64_t results = shape.outer * shape.columns;
    const int64_t pieces =
        shape.length == 0 ? 1 : (shape.length + shape.piece_length - 1) / shape.piece_length;
    const double divisor = reductions.divisor(shape.length);
    const DeviceArray<typename E::Storage> device_in(bench.driver, in);
    const auto out = reductions.results(results);
    const auto states = reductions.states(results * pieces);
    const bool to_states = pieces > 1;
    bench.launch(reductions.symbol("reduce_columns_", ""),
                 LaunchShape{grid, shape.lanes, shape.down},
                 ReduceColumnsParams{to_states ? states.at(0) : out.at(0),
                                     device_in.at(shape.offset), shape.outer, shape.length,
                                     shape.columns, (shape.length + 1) * row_stride, row_stride,
                                     shape.piece_length, pieces, divisor, to_states ? 1 : 0});
    if (to_states) {
      bench.launch(
          reductions.merge_symbol("reduce_"), 3, 32, 0,
          ReduceParams{out.at(0), states.at(0), results, pieces, pieces, pieces, 1, divisor});
    }
    return out.read();
  }

  template <class E>
  static std::size_t elements(const Shape& shape) {
    return shape.offset + shape.outer * (shape.length + 1) * (shape.columns + shape.row_gap);
  }

  template <class E>
  static void columns(Reductions<E>& reductions, HardValues values, const Shape& shape) {
    const int64_t row_stride = shape.columns + shape.row_gap;
    const auto in = reductions.elements(elements<E>(shape), values);
    const auto got = reduce(reductions, shape, in, 5);
    for (int64_t o = 0; o < shape.outer; ++o) {
      for (int64_t c = 0; c < shape.columns; ++c) {
        reductions.compare("column", &in[shape.offset + o * (shape.length + 1) * row_stride + c],
                           shape.length, row_stride, got, o * shape.columns + c);
      }
    }
  }

  // The grid does not show in the bits.
  template <class E>
  static void repeats(Reductions<E>& reductions, const Shape& shape) {
    const auto in = reductions.elements(elements<E>(shape), HardValues::kOrdinary);
    reductions.bench.expect(reduce(reductions, shape, in, 1) == reduce(reductions, shape, in, 64),
                            "%s %s: columns have other bits with another grid",
                            name_of(reductions.op), E::kName);
  }
};

}  // namespace

void check_reduce_columns(Bench& bench) { check_reductions(bench, CheckColumns()); }

}  // namespace runner
