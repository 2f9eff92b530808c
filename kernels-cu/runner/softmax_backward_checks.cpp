// The gradient of softmax and log-softmax by every variant, with teams of several sizes: against
// long double arithmetic, at any length, alignment and stride, in place of either input; what takes
// no part; and that bits depend on the elements only.
#include <cmath>
#include <functional>

#include "checks.h"
#include "culebra/params.h"
#include "elements.h"
#include "row_teams.h"

namespace runner {

namespace {

// Launches so many blocks at most; 0: as many as there is work for.
using Launch = std::function<void(const SoftmaxBackwardParams& params, unsigned grid)>;

template <class E>
class GradientRows {
  using Storage = typename E::Storage;
  using Tensor = std::vector<Storage>;

  enum class Place { kApart, kInY, kInDy };

  struct Case {
    int64_t rows = 1;
    int64_t length = 1;
    bool log = false;
    double scale = 1;
    Place place = Place::kApart;
    // Elements between rows, and before the first, of dx, y and dy.
    int64_t gaps[3] = {0, 0, 0};
    std::size_t offsets[3] = {0, 0, 0};
    unsigned grid = 0;
  };

 public:
  GradientRows(Bench& bench, std::string name, Launch launch)
      : bench_(bench), name_(std::move(name)), launch_(std::move(launch)) {}

  void length(int64_t length) {
    for (const bool log : {false, true}) {
      Case c = plain(3, length, log);
      compare(c, results(c, 1), gradients(c, 2));
      c.scale = -0.375;
      for (int i = 0; i < 3; ++i) {
        c.gaps[i] = 3 - i;
        c.offsets[i] = 1 + i;
      }
      compare(c, results(c, 3), gradients(c, 4));
      placement(log, length);
    }
  }

  // What does not hang on the length.
  void contracts(int64_t length) {
    for (const bool log : {false, true}) {
      without_part(log, length);
      special(log, length);
    }
    huge(length);
  }

  // More rows than the grid has teams.
  void many(int64_t rows, int64_t length) {
    Case c = plain(rows, length, false);
    const Tensor y = results(c, 5);
    const Tensor dy = gradients(c, 6);
    const Tensor wanted = run(c, y, dy);
    for (const unsigned grid : {1u, 2u, 3u}) {
      c.grid = grid;
      same("with a small grid", wanted, run(c, y, dy), c);
    }
  }

 private:
  static Case plain(int64_t rows, int64_t length, bool log) {
    Case c;
    c.rows = rows;
    c.length = length;
    c.log = log;
    return c;
  }

  // What a softmax gives.
  Tensor results(const Case& c, unsigned seed) {
    std::mt19937_64 random(seed + static_cast<unsigned>(c.length));
    std::uniform_real_distribution<double> uniform(-6, 6);
    Tensor y(c.rows * c.length);
    std::vector<double> row(c.length);
    for (int64_t r = 0; r < c.rows; ++r) {
      double sum = 0;
      for (double& x : row) sum += std::exp(x = uniform(random));
      for (int64_t i = 0; i < c.length; ++i) {
        y[r * c.length + i] = E::make(c.log ? row[i] - std::log(sum) : std::exp(row[i]) / sum);
      }
    }
    return y;
  }

  // Their mean is not 0: what is subtracted matters.
  Tensor gradients(const Case& c, unsigned seed) {
    std::mt19937_64 random(seed + static_cast<unsigned>(c.length));
    std::uniform_real_distribution<double> uniform(-2, 6);
    Tensor dy(c.rows * c.length);
    for (Storage& x : dy) x = E::make(uniform(random));
    return dy;
  }

  // No less than the smallest normal f16.
  Tensor uniform_row(const Case& c) {
    const double share = std::fmax(1.0 / static_cast<double>(c.length), 0x1p-14);
    const double y = c.log ? std::log(share) : share;
    return Tensor(c.length, E::make(y));
  }

  static Storage out_of_it(bool log) { return E::make(log ? -double(INFINITY) : 0.0); }

  // Rows as a tensor of the case lies in memory.
  static Tensor laid_out(const Case& c, int tensor, const Tensor& rows) {
    const int64_t stride = c.length + c.gaps[tensor];
    Tensor memory = poison<Storage>(c.offsets[tensor] + c.rows * stride);
    for (int64_t r = 0; r < c.rows; ++r) {
      std::memcpy(static_cast<void*>(&memory[c.offsets[tensor] + r * stride]), &rows[r * c.length],
                  c.length * sizeof(Storage));
    }
    return memory;
  }

  Tensor run(const Case& c, const Tensor& y, const Tensor& dy) {
    const int where = c.place == Place::kApart ? 0 : c.place == Place::kInY ? 1 : 2;
    const int64_t stride = c.length + c.gaps[where];
    const Tensor befores[3] = {poison<Storage>(c.offsets[0] + c.rows * (c.length + c.gaps[0])),
                               laid_out(c, 1, y), laid_out(c, 2, dy)};
    const DeviceArray<Storage> device_dx(bench_.driver, befores[0]);
    const DeviceArray<Storage> device_y(bench_.driver, befores[1]);
    const DeviceArray<Storage> device_dy(bench_.driver, befores[2]);
    const DeviceArray<Storage>* const arrays[3] = {&device_dx, &device_y, &device_dy};
    SoftmaxBackwardParams params{};
    params.dx = arrays[where]->at(c.offsets[where]);
    params.y = device_y.at(c.offsets[1]);
    params.dy = device_dy.at(c.offsets[2]);
    params.rows = c.rows;
    params.row_length = c.length;
    params.dx_row_stride = stride;
    params.y_row_stride = c.length + c.gaps[1];
    params.dy_row_stride = c.length + c.gaps[2];
    params.scale = c.scale;
    params.log = c.log;
    launch_(params, c.grid);

    const Tensor after = arrays[where]->read();
    const Tensor& before = befores[where];
    const std::size_t offset = c.offsets[where];
    Tensor result;
    std::size_t stray = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool inside = i >= offset && (i - offset) % stride < std::size_t(c.length);
      if (inside) result.push_back(after[i]);
      stray += !inside && !same_bits(after[i], before[i]);
    }
    bench_.expect(stray == 0, "%s: wrote %zu elements outside of its rows (length %ld)",
                  name_.c_str(), stray, long(c.length));
    return result;
  }

  void compare(const Case& c, const Tensor& y, const Tensor& dy) {
    const Tensor got = run(c, y, dy);
    for (int64_t r = 0; r < c.rows; ++r) {
      const int64_t at = r * c.length;
      compare_row(c, r, &y[at], &dy[at], &got[at]);
    }
  }

  void compare_row(const Case& c, int64_t r, const Storage* y, const Storage* dy,
                   const Storage* got) {
    const auto factor = [&](int64_t i) { return c.log ? 1.0L : (long double)(E::value(y[i])); };
    long double sum = 0;
    long double sum_of_sizes = 0;
    for (int64_t i = 0; i < c.length; ++i) {
      if (takes_part(c, y[i])) {
        sum += factor(i) * E::value(dy[i]);
        sum_of_sizes += std::fabs(factor(i) * E::value(dy[i]));
      }
    }
    const double sum_error = 40 * E::kArithmetic * double(sum_of_sizes);
    const double size_of_sum = std::fabs(double(sum));
    for (int64_t i = 0; i < c.length; ++i) {
      const double value = E::value(got[i]);
      if (!takes_part(c, y[i])) {
        bench_.expect(value == 0, "%s: length %ld, log %d, row %ld, element %ld takes no part: %g",
                      name_.c_str(), long(c.length), int(c.log), long(r), long(i), value);
        continue;
      }
      const double y_value = E::value(y[i]);
      const double dy_value = E::value(dy[i]);
      const double size_of_dy = std::fabs(dy_value);
      long double wanted = 0;
      double error = 0;
      if (c.log) {
        const long double weight = std::exp((long double)(y_value));
        wanted = c.scale * (dy_value - weight * sum);
        // The approximate exponential of 16-bit results has an error of some 2^-22, and its
        // argument that of a product.
        const double exponential = sizeof(Storage) == 2
                                       ? 0x1p-21 + 2 * std::fabs(y_value) * E::kArithmetic
                                       : 4 * E::kArithmetic;
        const double share = double(weight) * size_of_sum;
        error = double(weight) * sum_error + share * exponential + kFlushed * size_of_sum +
                4 * E::kArithmetic * (size_of_dy + share);
      } else {
        wanted = c.scale * (long double)(y_value) * (dy_value - sum);
        error = y_value * (sum_error + 4 * E::kArithmetic * (size_of_dy + size_of_sum));
      }
      const double size_of_scale = std::fabs(c.scale);
      const double bound = E::kHalfUlp * std::fabs(double(wanted)) +
                           E::kHalfSpacing * (2 + 2 * size_of_scale) + size_of_scale * error;
      bench_.expect(std::fabs(value - double(wanted)) <= bound,
                    "%s: length %ld, scale %g, log %d, row %ld element %ld is %.9g, should be "
                    "%.9Lg within %.3g",
                    name_.c_str(), long(c.length), c.scale, int(c.log), long(r), long(i), value,
                    wanted, bound);
    }
  }

  static bool takes_part(const Case& c, Storage y) {
    return c.log ? E::value(y) != -double(INFINITY) : E::value(y) != 0;
  }

  void same(const char* what, const Tensor& wanted, const Tensor& got, const Case& c) {
    bench_.expect(wanted.size() == got.size() &&
                      std::memcmp(got.data(), wanted.data(), wanted.size() * sizeof(Storage)) == 0,
                  "%s: length %ld, log %d has other bits %s", name_.c_str(), long(c.length),
                  int(c.log), what);
  }

  // Wherever the rows lie and whatever the grid is, the bits are the same.
  void placement(bool log, int64_t length) {
    Case c = plain(2, length, log);
    const Tensor y = results(c, 7);
    const Tensor dy = gradients(c, 8);
    const Tensor wanted = run(c, y, dy);
    same("in a second run", wanted, run(c, y, dy), c);
    c.place = Place::kInY;
    same("in place of y", wanted, run(c, y, dy), c);
    c.place = Place::kInDy;
    same("in place of dy", wanted, run(c, y, dy), c);
    for (const int64_t gap : {int64_t(1), int64_t(8)}) {
      for (int unaligned = 0; unaligned < 3; ++unaligned) {
        Case moved = c;
        for (int i = 0; i < 3; ++i) {
          moved.offsets[i] = i == unaligned ? 1 : 8;
          moved.gaps[i] = gap;
        }
        for (const Place place : {Place::kApart, Place::kInY, Place::kInDy}) {
          moved.place = place;
          same("strided and unaligned", wanted, run(moved, y, dy), moved);
        }
      }
    }
  }

  // Behind a mask dy may be anything.
  void without_part(bool log, int64_t length) {
    Case c = plain(3, length, log);
    c.scale = 1.5;
    Tensor y = results(c, 9);
    Tensor dy = gradients(c, 10);
    Tensor other = dy;
    const double anything[] = {NAN, INFINITY, -double(INFINITY)};
    // Of row 1 all but the first element; of row 2 all.
    for (int64_t i = 0; i < 3 * length; ++i) {
      if (i < length ? i % 3 != 1 : i == length) continue;
      y[i] = out_of_it(log);
      dy[i] = E::make(7);
      other[i] = E::make(anything[i % 3]);
    }
    compare(c, y, dy);
    same("for what takes no part", run(c, y, dy), run(c, y, other), c);
  }

  void special(bool log, int64_t length) {
    if (length < 2) return;
    Case c = plain(1, length, log);
    const int64_t place = length * 2 / 3;
    enum class Expected { kNaN, kInfinite };
    const auto check = [&](const char* what, const Tensor& y, const Tensor& dy, Expected expected) {
      const Tensor got = run(c, y, dy);
      for (int64_t i = 0; i < length; ++i) {
        const double value = E::value(got[i]);
        const bool holds = expected == Expected::kNaN || i == place ? std::isnan(value)
                                                                    : value == -E::value(dy[place]);
        bench_.expect(holds, "%s: length %ld, log %d: %s: element %ld is %g", name_.c_str(),
                      long(length), int(log), what, long(i), value);
      }
    };
    const Tensor y = uniform_row(c);
    Tensor dy = gradients(c, 11);
    check("a row of NaN", Tensor(length, E::make(NAN)), dy, Expected::kNaN);
    dy[place] = E::make(NAN);
    check("a gradient of NaN", y, dy, Expected::kNaN);
    dy[place] = E::make(INFINITY);
    check("a gradient of +inf", y, dy, Expected::kInfinite);
    dy[place] = E::make(-double(INFINITY));
    check("a gradient of -inf", y, dy, Expected::kInfinite);
    c.scale = 0;
    const Tensor zeros = run(c, y, gradients(c, 12));
    for (int64_t i = 0; i < length; ++i) {
      bench_.expect(E::value(zeros[i]) == 0,
                    "%s: length %ld, log %d: with scale 0 element %ld is %g", name_.c_str(),
                    long(length), int(log), long(i), E::value(zeros[i]));
    }
  }

  // The difference of finite gradients is finite.
  void huge(int64_t length) {
    const Case c = plain(1, length, false);
    Tensor dy(length);
    const double large = std::ldexp(1.75, E::kMaxExponent - 1);
    for (int64_t i = 0; i < length; ++i) dy[i] = E::make(i % 4 == 3 ? large : -large);
    compare(c, uniform_row(c), dy);
  }

  static constexpr double kFlushed = sizeof(Storage) == 8 ? 0x1p-1022 : 0x1p-126;

  Bench& bench_;
  std::string name_;
  Launch launch_;
};

std::string symbol_of(const std::string& variant, const char* type) {
  return "culebra_softmax_backward_" + variant + "_" + type;
}

template <class E>
void check_pieces(Bench& bench, unsigned threads, int64_t piece_packs,
                  const std::vector<int64_t>& lengths) {
  using Number = std::conditional_t<sizeof(typename E::Storage) == 8, double, float>;
  const int64_t piece =
      piece_packs * kPackBytes / static_cast<int64_t>(sizeof(typename E::Storage));
  GradientRows<E> rows(
      bench, symbol_of("sums", E::kName) + " in pieces of " + std::to_string(piece),
      [&](const SoftmaxBackwardParams& params, unsigned grid) {
        const int64_t pieces = (params.row_length + piece - 1) / piece;
        const DeviceArray<Number> sums(bench.driver, poison<Number>(params.rows * pieces));
        const SoftmaxBackwardPieces split{sums.at(0), pieces, piece};
        const LaunchShape shape{grid ? grid : static_cast<unsigned>(params.rows * pieces), threads};
        bench.launch(symbol_of("sums", E::kName), shape, params, split);
        bench.launch(symbol_of("finish", E::kName), shape, params, split);
      });
  check_lengths(rows, lengths, 3);
}

template <class E>
void check_type(Bench& bench) {
  const OnChip y_and_dy{sizeof(typename E::Storage), 2};
  check_teams(bench, y_and_dy, {1, 2}, 2,
              [&](const std::string& variant, const std::string& how, const TeamShape& shape) {
                const std::string symbol = symbol_of(variant, E::kName);
                return GradientRows<E>(
                    bench, symbol + " " + how,
                    [&bench, symbol, shape](const SoftmaxBackwardParams& params, unsigned grid) {
                      bench.launch(symbol, shape(params.rows, params.row_length, grid), params);
                    });
              });
  check_pieces<E>(bench, 32, 1, {1, 40});
  check_pieces<E>(bench, 64, 300, {1, 1023, 3000});
  check_pieces<E>(bench, 256, 4096, {4097, 20001});
}

}  // namespace

void check_softmax_backward(Bench& bench) {
  for_types<F32, F16, BF16, F64>(bench,
                                 [&](auto element) { check_type<decltype(element)>(bench); });
}

}  // namespace runner
