// Every sampling kernel against long double arithmetic: which tokens the filters leave, and which
// of them the random bits fall on. The bits are computed here once more, from the paper's published
// answers on. Then that a token does not depend on how the row is cut or where it lies.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "checks.h"
#include "culebra/params.h"
#include "elements.h"

namespace runner {

namespace {

constexpr double kInfinite = INFINITY;
constexpr unsigned kSharedBytes = 90112;  // sampling.def

struct Philox {
  static void block(uint32_t (&counter)[4], uint32_t key0, uint32_t key1) {
    for (int round = 0; round < 10; ++round) {
      const uint64_t a = uint64_t{0xD2511F53} * counter[0];
      const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
      const uint32_t next[] = {uint32_t(b >> 32) ^ counter[1] ^ key0, uint32_t(b),
                               uint32_t(a >> 32) ^ counter[3] ^ key1, uint32_t(a)};
      std::copy(next, next + 4, counter);
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
  }

  static uint64_t bits(uint64_t seed, uint64_t offset, uint64_t row) {
    uint32_t counter[] = {uint32_t(offset), uint32_t(offset >> 32), uint32_t(row),
                          uint32_t(row >> 32)};
    block(counter, uint32_t(seed), uint32_t(seed >> 32));
    return uint64_t{counter[1]} << 32 | counter[0];
  }
};

// kat_vectors of the authors' Random123.
void check_philox(Bench& bench) {
  struct {
    uint32_t counter[4], key[2], wanted[4];
  } answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (auto& answer : answers) {
    Philox::block(answer.counter, answer.key[0], answer.key[1]);
    bench.expect(std::equal(answer.counter, answer.counter + 4, answer.wanted),
                 "Philox 4x32-10 gives %08x where the published answer is %08x", answer.counter[0],
                 answer.wanted[0]);
  }
}

struct Case {
  int64_t rows, length;
  double temperature = 1;
  int32_t top_k = 0;
  double top_p = 1;
  double min_p = 0;
  uint64_t seed = 0x123456789abcdef0;
  uint64_t offset = 3;
  int token_bytes = 4;
  int64_t in_gap = 0;
  std::size_t in_offset = 0;
  unsigned cluster = 1;
  unsigned teams = 0;     // 0: one a row
  unsigned threads = 64;  // 0: as many as the kernel allows
};

template <class E>
class SamplingChecks {
  using Storage = typename E::Storage;

  struct Result {
    std::vector<int64_t> tokens;
    std::vector<float> probabilities;
  };

 public:
  explicit SamplingChecks(Bench& bench) : bench_(bench) {}

  void run() {
    lengths();
    filters();
    dense();
    ties();
    extremes();
    special();
    per_row();
    placement();
    frequencies();
  }

 private:
  bool has_clusters() const { return bench_.driver.compute_capability() >= 90; }

  std::string symbol(const Case& c) const {
    return std::string("culebra_sampling_") + (c.cluster > 1 ? "cluster_" : "block_") + E::kName;
  }

  static SamplingParams parameters(const Case& c) {
    SamplingParams params{};
    params.temperature = c.temperature;
    params.top_k = c.top_k;
    params.top_p = c.top_p;
    params.min_p = c.min_p;
    params.seed = int64_t(c.seed);
    params.offset = int64_t(c.offset);
    return params;
  }

  Result sample(const std::vector<Storage>& rows, const Case& c) {
    return sample(rows, c, parameters(c));
  }

  Result sample(const std::vector<Storage>& rows, const Case& c, SamplingParams params) {
    const int64_t stride = c.length + c.in_gap;
    std::vector<Storage> in = poison<Storage>(c.in_offset + (c.rows - 1) * stride + c.length);
    for (int64_t r = 0; r < c.rows; ++r) {
      std::memcpy(static_cast<void*>(&in[c.in_offset + r * stride]), &rows[r * c.length],
                  c.length * sizeof(Storage));
    }
    const DeviceArray<Storage> device_in(bench_.driver, in);
    const DeviceArray<char> tokens(bench_.driver, poison<char>(c.rows * c.token_bytes));
    const DeviceArray<float> probabilities(bench_.driver, poison<float>(c.rows));
    params.tokens = tokens.at(0);
    params.probabilities = probabilities.at(0);
    params.in = device_in.at(c.in_offset);
    params.rows = c.rows;
    params.row_length = c.length;
    params.in_row_stride = stride;
    params.token_bytes = c.token_bytes;
    const unsigned threads = c.threads ? c.threads : bench_.root.kernel(symbol(c)).max_threads;
    const unsigned teams = c.teams ? c.teams : unsigned(c.rows);
    bench_.launch(symbol(c), LaunchShape{teams * c.cluster, threads, 1, kSharedBytes, c.cluster},
                  params);
    Result result{std::vector<int64_t>(c.rows), probabilities.read()};
    const std::vector<char> bytes = tokens.read();
    for (int64_t r = 0; r < c.rows; ++r) {
      if (c.token_bytes == 4) {
        int32_t token;
        std::memcpy(&token, &bytes[r * 4], 4);
        result.tokens[r] = token;
      } else {
        std::memcpy(&result.tokens[r], &bytes[r * 8], 8);
      }
    }
    return result;
  }

  void compare(const char* what, const std::vector<Storage>& rows, const Case& c) {
    const Result got = sample(rows, c);
    for (int64_t r = 0; r < c.rows; ++r) {
      compare_row(what, &rows[r * c.length], got.tokens[r], got.probabilities[r], c,
                  Philox::bits(c.seed, c.offset, uint64_t(r)));
    }
  }

  // A token must be where the bits fall, within what rounding of the masses allows.
  void compare_row(const char* what, const Storage* row, int64_t token, float probability,
                   const Case& c, uint64_t bits) {
    std::vector<int64_t> order(c.length);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return E::value(row[a]) > E::value(row[b]); });
    const double largest = E::value(row[order[0]]);
    const auto place = std::find(order.begin(), order.end(), token) - order.begin();
    const auto fail = [&](const char* why) {
      bench_.expect(false,
                    "%s: %s: %s: length %ld, temperature %g, top-k %d, top-p %g, min-p %g, "
                    "cluster %u: token %ld, of rank %ld, probability %.9g",
                    symbol(c).c_str(), what, why, long(c.length), c.temperature, c.top_k, c.top_p,
                    c.min_p, c.cluster, long(token), long(place), probability);
    };
    if (token < 0 || token >= c.length) return fail("it is no place of the row");
    if (c.temperature == 0 || c.top_k == 1) {
      return bench_.expect(token == order[0] && probability == 1.0f,
                           "%s: %s: token %ld, should be %ld", symbol(c).c_str(), what, long(token),
                           long(order[0]));
    }
    std::vector<long double> upto(c.length);  // running sums of the weights
    long double sum = 0;
    for (int64_t i = 0; i < c.length; ++i) {
      const long double x = E::value(row[order[i]]);
      sum += x == -kInfinite ? 0 : std::exp((x - largest) / (long double)c.temperature);
      upto[i] = sum;
    }
    const auto weight = [&](int64_t i) { return upto[i] - (i > 0 ? upto[i - 1] : 0); };
    const long double slack = kSlack;
    // At least so many, and at most, may be kept of that order.
    const int64_t k = c.top_k > 0 ? std::min<int64_t>(c.top_k, c.length) : c.length;
    int64_t least_count = k, most_count = k;
    if (c.top_p < 1) {
      const long double target = float(c.top_p) * upto[k - 1];
      least_count = count_with(upto, target * (1 - slack));
      most_count = count_with(upto, std::min(target * (1 + slack), upto[k - 1]));
    }
    if (c.min_p > 0) {
      const long double bound = float(c.min_p);
      int64_t least_near = 1, most_near = 1;
      for (int64_t i = 0; i < c.length; ++i) {
        if (weight(i) >= bound * (1 + slack) || E::value(row[order[i]]) == largest) {
          least_near = i + 1;
        }
        if (weight(i) >= bound * (1 - slack)) most_near = i + 1;
      }
      least_count = std::min(least_count, least_near);
      most_count = std::min(most_count, most_near);
    }
    if (place >= most_count) return fail("the filters do not leave it");
    const long double least = upto[least_count - 1], most = upto[most_count - 1];
    // What is kept before it, by index: at least, and at most.
    long double least_before = 0, most_before = 0;
    for (int64_t i = 0; i < most_count; ++i) {
      if (order[i] >= token) continue;
      if (i < least_count) least_before += weight(i);
      most_before += weight(i);
    }
    const long double share = std::ldexp((long double)bits, -64);
    if (least_before > share * most * (1 + slack) ||
        most_before + weight(place) < share * least * (1 - slack)) {
      return fail("the bits do not fall on it");
    }
    if (weight(place) == 0) return fail("its probability is 0");
    const long double low = weight(place) / most * (1 - slack);
    const long double high = weight(place) / least * (1 + slack);
    if (!(probability >= low && probability <= high)) return fail("that is not its probability");
    bench_.expect(true, " ");
  }

  // How many of the first reach a sum.
  static int64_t count_with(const std::vector<long double>& upto, long double target) {
    for (std::size_t i = 0; i < upto.size(); ++i) {
      if (upto[i] >= target) return int64_t(i) + 1;
    }
    return int64_t(upto.size());
  }

  std::vector<Storage> logits(int64_t count, double most = 8) {
    std::vector<Storage> rows(count);
    for (Storage& x : rows) x = E::make(bench_.uniform(-most, most));
    return rows;
  }

  // Calls check for a block and for clusters.
  template <class Check>
  void for_teams(Case c, Check check) {
    check(c);
    if (!has_clusters()) return;
    for (const unsigned cluster : {2u, 5u}) {
      c.cluster = cluster;
      c.threads = 32;
      check(c);
    }
  }

  void lengths() {
    for (const int64_t length : {1, 2, 3, 7, 8, 9, 33, 1000, 4099}) {
      for (const unsigned threads : {32u, 96u, 0u}) {
        if (threads == 0 && length % 1000 != 0) continue;
        for (const int32_t top_k : {0, 40}) {
          Case c{2, length, 0.7, top_k};
          c.threads = threads;
          compare("random", logits(2 * length), c);
        }
      }
    }
  }

  void filters() {
    constexpr int64_t kLength = 3000;
    const std::vector<Storage> rows = logits(kLength);
    for (const double temperature : {0.0, 0.05, 1.0, 1000.0}) {
      for (const int32_t top_k : {0, 1, 50, 1024, 1025, 2999, 3000}) {
        for (const double top_p : {1.0, 0.9, 1e-30, 0x1.fffffep-1}) {
          const double min_ps[] = {0, 0.1, 1};
          Case c{1, kLength, temperature, top_k, top_p, min_ps[bench_.random() % 3]};
          c.offset = bench_.random();
          if (has_clusters() && bench_.random() % 4 == 0) c.cluster = 2;
          compare("filters", rows, c);
        }
      }
    }
  }

  // Rows as long and as even as a vocabulary's, where thousands are about as heavy as the last that
  // top-p keeps; alone, and beside one that has half of the mass, or that stretches the bins.
  void dense() {
    constexpr int64_t kLength = 1 << 16;
    std::vector<Storage> row(kLength);
    const auto check = [&](const char* what) {
      for (const double top_p : {0.5, 0.9, 0.9999}) {
        Case c{1, kLength, 1, 0, top_p, bench_.random() % 2 == 0 ? 0 : 1e-3};
        c.offset = bench_.random();
        c.threads = 256;
        if (has_clusters() && bench_.random() % 2 == 0) c.cluster = 2;
        compare(what, row, c);
      }
    };
    for (Storage& x : row) {
      double sum = 0;
      for (int i = 0; i < 6; ++i) sum += bench_.uniform(-2, 2);
      x = E::make(sum);
    }
    check("dense");
    row[40000] = E::make(14.5);
    check("dense beside a heavy one");
    row[40000] = E::make(-300);
    check("dense beside a far one");
  }

  // Of equal ones the lower index comes first; thousands of them fit into no buffer.
  void ties() {
    constexpr int64_t kLength = 6000;
    const auto check = [&](const char* what, auto value) {
      std::vector<Storage> row(kLength);
      for (int64_t i = 0; i < kLength; ++i) row[i] = E::make(value(i));
      for (const int32_t top_k : {0, 3, 3000}) {
        Case c{1, kLength, 1, top_k, bench_.random() % 2 == 0 ? 1 : 0.3};
        c.offset = bench_.random();
        for_teams(c, [&](const Case& one) { compare(what, row, one); });
      }
    };
    check("equal", [](int64_t) { return -3.5; });
    check("zeros of both signs", [](int64_t i) { return i * 7 % 3 == 0 ? 0.0 : -0.0; });
    check("two values", [](int64_t i) { return double(i % 2); });
    check("seven values", [](int64_t i) { return double(i * 31 % 7); });
    check("one high", [](int64_t i) { return i == 5100 ? 9.0 : 1.0; });
    check("masked but for some", [](int64_t i) { return i % 1500 == 7 ? 2.0 : -kInfinite; });
    check("one is left", [](int64_t i) { return i == 5999 ? -30000.0 : -kInfinite; });
  }

  void extremes() {
    const double most = std::ldexp(1.75, E::kMaxExponent - 1);
    std::vector<Storage> row(65, E::make(-most));
    for (const int i : {1, 40, 64}) row[i] = E::make(most * ((65 - i) / 65.0));
    for (const double temperature : {1e-38, 1.0, most / 4, 3e38}) {
      if (temperature > 1 && temperature < 1e30 && E::kMaxExponent > 16) continue;
      compare("huge", row, {1, 65, temperature});
    }
    for (int i = 0; i < 65; ++i) row[i] = E::make((i % 5 - 2) * 2 * E::kHalfSpacing);
    compare("denormal", row, {1, 65, 1});
    compare("denormal", row, {1, 65, E::kHalfSpacing > 1e-30 ? E::kHalfSpacing : 1.0});
    for (int i = 0; i < 65; ++i) row[i] = E::make(i == 64 ? 500 : i / 8.0);
    compare("one far above", row, {1, 65, 1});
    compare("one far above", row, {1, 65, 100, 50, 0.99, 1e-6});
  }

  void special() {
    constexpr int64_t kLength = 300;
    const auto none = [&](const char* what, const std::vector<Storage>& row, Case c) {
      for_teams(c, [&](const Case& one) {
        const Result got = sample(row, one);
        bench_.expect(got.tokens[0] == -1 && std::isnan(got.probabilities[0]),
                      "%s: %s: token %ld, probability %g, should be -1 and NaN",
                      symbol(one).c_str(), what, long(got.tokens[0]), got.probabilities[0]);
      });
    };
    for (const double temperature : {0.0, 1.0}) {
      for (const int32_t top_k : {0, 50}) {
        const Case c{1, kLength, temperature, top_k, 0.9};
        for (const double x : {double(NAN), kInfinite}) {
          std::vector<Storage> row = logits(kLength);
          row[299] = E::make(x);
          none("one in a row", row, c);
          none("all of a row", std::vector<Storage>(kLength, E::make(x)), c);
        }
        none("all masked", std::vector<Storage>(kLength, E::make(-kInfinite)), c);
      }
    }
    const std::vector<Storage> row = logits(kLength);
    compare("temperature -0", row, {1, kLength, -0.0});
    none("temperature below 0", row, {1, kLength, -1});
    none("temperature NaN", row, {1, kLength, NAN});
    none("top-p NaN", row, {1, kLength, 1, 0, NAN});
    none("min-p NaN", row, {1, kLength, 1, 0, 1, NAN});
  }

  // Arrays of parameters give what the same numbers give for a row alone.
  void per_row() {
    constexpr int64_t kLength = 2500, kRows = 8;
    const std::vector<Storage> rows = logits(kRows * kLength);
    const std::vector<float> temperatures = {1, 0, 0.5, 2, 1, 1, 0.1f, 8};
    const std::vector<int32_t> top_ks = {0, 0, 10, 1, -1, 2400, 50, 100};
    const std::vector<float> top_ps = {0.5f, 1, 1, 1, 0.9f, 0.99f, 0.2f, 0};
    const std::vector<float> min_ps = {0, 0, 0, 0, 0.01f, 0, 2, -1};
    const std::vector<int64_t> seeds = {1, 2, 3, -4, 5, 6, 7, 1};
    const std::vector<int64_t> offsets = {0, 1, 2, 3, -4, 5, 6, 0};
    const DeviceArray<float> t(bench_.driver, temperatures), p(bench_.driver, top_ps),
        m(bench_.driver, min_ps);
    const DeviceArray<int32_t> k(bench_.driver, top_ks);
    const DeviceArray<int64_t> s(bench_.driver, seeds), o(bench_.driver, offsets);
    SamplingParams params{};
    params.temperatures = t.at(0);
    params.top_ks = k.at(0);
    params.top_ps = p.at(0);
    params.min_ps = m.at(0);
    params.seeds = s.at(0);
    params.offsets = o.at(0);
    params.temperature = NAN;
    Case c{kRows, kLength};
    const Result got = sample(rows, c, params);
    for (int64_t r = 0; r < kRows; ++r) {
      Case one{1,
               kLength,
               temperatures[r],
               top_ks[r],
               std::max(top_ps[r], 1e-30f),
               min_ps[r] > 1 ? 1 : std::max(min_ps[r], 0.0f)};
      // A row's number has no part where it has a seed: as row 0.
      one.seed = uint64_t(seeds[r]);
      one.offset = uint64_t(offsets[r]);
      const std::vector<Storage> row(&rows[r * kLength], &rows[r * kLength] + kLength);
      compare_row("parameters by row", row.data(), got.tokens[r], got.probabilities[r], one,
                  Philox::bits(one.seed, one.offset, 0));
      const Result alone = sample(row, one);
      bench_.expect(alone.tokens[0] == got.tokens[r] &&
                        same_bits(alone.probabilities[0], got.probabilities[r]),
                    "%s: row %ld with arrays of parameters gives %ld, alone %ld", symbol(c).c_str(),
                    long(r), long(got.tokens[r]), long(alone.tokens[0]));
    }
  }

  // Wherever the rows lie and whoever works on them, the bits are the same.
  void placement() {
    constexpr int64_t kLength = 4500;
    const std::vector<Storage> rows = logits(3 * kLength);
    for (const int32_t top_k : {0, 50, 2000}) {
      const Case c{3, kLength, 1.5, top_k, 0.95, 1e-4};
      const Result wanted = sample(rows, c);
      const auto same = [&](const char* what, const Case& other) {
        const Result got = sample(rows, other);
        bench_.expect(got.tokens == wanted.tokens &&
                          std::memcmp(got.probabilities.data(), wanted.probabilities.data(),
                                      3 * sizeof(float)) == 0,
                      "%s: other bits %s", symbol(other).c_str(), what);
      };
      same("in a second run", c);
      Case other = c;
      other.in_gap = 5;
      other.in_offset = 3;
      other.token_bytes = 8;
      same("strided and unaligned, with wide tokens", other);
      other = c;
      other.teams = 2;
      other.threads = 96;
      same("with fewer blocks than rows", other);
      for_teams(c, [&](const Case& one) { same("in a team of another size", one); });
      const std::vector<Storage> rest(rows.begin() + kLength, rows.end());
      SamplingParams params = parameters(c);
      params.first_row = 1;
      other = c;
      other.rows = 2;
      const Result got = sample(rest, other, params);
      bench_.expect(got.tokens[0] == wanted.tokens[1] && got.tokens[1] == wanted.tokens[2],
                    "%s: other tokens without the first row", symbol(other).c_str());
      if (has_clusters()) {
        other = c;
        other.cluster = 4;
        other.teams = 2;
        same("with fewer clusters than rows", other);
      }
    }
  }

  // Chi-square of many draws, one a row, against the distribution; and that all that may be drawn
  // is.
  void frequencies() {
    constexpr int64_t kRows = 1000, kLength = 16;
    std::vector<Storage> row(kLength);
    for (int64_t i = 0; i < kLength; ++i) row[i] = E::make(-0.25 * double(i * 5 % kLength));
    std::vector<Storage> rows;
    for (int64_t r = 0; r < kRows; ++r) rows.insert(rows.end(), row.begin(), row.end());
    Case c{kRows, kLength};
    c.teams = 8;
    c.threads = 32;
    const Result got = sample(rows, c);
    std::vector<double> count(kLength), wanted(kLength);
    double sum = 0;
    for (int64_t i = 0; i < kLength; ++i) sum += wanted[i] = std::exp(E::value(row[i]));
    for (const int64_t token : got.tokens) ++count[std::clamp<int64_t>(token, 0, kLength - 1)];
    double chi_square = 0;
    for (int64_t i = 0; i < kLength; ++i) {
      const double expected = wanted[i] / sum * kRows;
      chi_square += (count[i] - expected) * (count[i] - expected) / expected;
    }
    // Of 15 degrees of freedom one in ten thousand is above 42.6; the seed is fixed.
    bench_.expect(chi_square < 42.6, "%s: chi-square of %ld draws is %g", symbol(c).c_str(),
                  long(kRows), chi_square);
  }

  // Relative; of a mass, from rounding a distance of up to 24 bits.
  static constexpr long double kSlack = 1e-5L;

  Bench& bench_;
};

}  // namespace

void check_sampling(Bench& bench) {
  check_philox(bench);
  for_types<F32, F16, BF16>(bench,
                            [&](auto element) { SamplingChecks<decltype(element)>(bench).run(); });
}

}  // namespace runner
