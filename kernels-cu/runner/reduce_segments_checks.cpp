// Reductions of segments: every operation and type; short and long ones, empty ones and offsets
// that make no sense.
#include <algorithm>

#include "culebra/params.h"
#include "reductions.h"

namespace runner {

namespace {

constexpr int64_t kElements = 3000;

// Short, empty, longer than a piece, unaligned, and to the end.
const std::vector<int64_t> kAscending = {0,    0,    3,    4,    40,   41,  300,
                                         1500, 1500, 1511, 2900, 3000, 3000};
// Negative, descending and beyond the end: empty or clamped, never read outside.
const std::vector<int64_t> kSenseless = {-7, 5, 2, 100, 50, 4000, 2990, 1 << 30, 0};

template <class E>
class SegmentChecks {
  using Storage = typename E::Storage;

 public:
  explicit SegmentChecks(Reductions<E>& reductions) : reductions_(reductions) {}

  void run() {
    for (const HardValues values : kHardValues) {
      const auto in = reductions_.elements(kElements, values);
      for (const unsigned lanes : {1u, 8u, 32u}) {
        compare(in, kAscending, lanes, false);
        compare(in, kAscending, lanes, true);
      }
    }
    const auto in = reductions_.elements(kElements, HardValues::kOrdinary);
    compare(in, kSenseless, 8, false);
    compare(in, kSenseless, 8, true);
    const bool same =
        reduce<int64_t>(in, kAscending, 8, true, 1) == reduce<int32_t>(in, kAscending, 8, true, 7);
    reductions_.bench.expect(same, "%s %s: segments have other bits with another grid",
                             name_of(reductions_.op), E::kName);
  }

 private:
  // With pieces, all that is longer than 64 elements is cut.
  template <class Offset>
  std::vector<unsigned char> reduce(const std::vector<Storage>& in,
                                    const std::vector<int64_t>& offsets, unsigned lanes,
                                    bool in_pieces, unsigned grid) {
    Bench& bench = reductions_.bench;
    const int64_t segments = static_cast<int64_t>(offsets.size()) - 1;
    constexpr int64_t kLongest = 64;
    constexpr int64_t kPieceLength = 128;
    const int64_t limit = in_pieces ? kElements / kPieceLength + kElements / kLongest + 1 : 0;
    const DeviceArray<Storage> device_in(bench.driver, in);
    const DeviceArray<Offset> device_offsets(bench.driver,
                                             std::vector<Offset>(offsets.begin(), offsets.end()));
    const DeviceArray<uint64_t> count(bench.driver, {0});
    const DeviceArray<ReduceSegmentPiece> pieces(bench.driver,
                                                 std::vector<ReduceSegmentPiece>(limit));
    const auto states = reductions_.states(limit);
    const auto out = reductions_.results(segments);
    const ReduceSegmentsParams params{out.at(0),
                                      device_in.at(0),
                                      device_offsets.at(0),
                                      segments,
                                      kElements,
                                      kLongest,
                                      kPieceLength,
                                      limit,
                                      count.at(0),
                                      pieces.at(0),
                                      states.at(0),
                                      sizeof(Offset),
                                      reductions_.op == Op::kMean ? 1 : 0};
    bench.launch(reductions_.symbol("reduce_segments_", ""), LaunchShape{grid, lanes, 128 / lanes},
                 params);
    if (in_pieces) {
      bench.launch(reductions_.symbol("reduce_segments_pieces_", ""), grid, 128, 0, params);
      bench.launch(
          "culebra_reduce_segments_merge_" + reductions_.kernel() + "_" + reductions_.merged(),
          grid, 64, 0, params);
    }
    return out.read();
  }

  void compare(const std::vector<Storage>& in, const std::vector<int64_t>& offsets, unsigned lanes,
               bool in_pieces) {
    const auto got = reduce<int64_t>(in, offsets, lanes, in_pieces, 2);
    for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
      const int64_t begin = std::clamp<int64_t>(offsets[s], 0, kElements);
      const int64_t end = std::clamp<int64_t>(offsets[s + 1], begin, kElements);
      reductions_.compare(in_pieces ? "segment in pieces" : "segment", in.data() + begin,
                          end - begin, 1, got, static_cast<int64_t>(s));
    }
  }

  Reductions<E>& reductions_;
};

struct CheckSegments {
  template <class E>
  void check(Reductions<E>& reductions) const {
    SegmentChecks<E>(reductions).run();
  }
};

}  // namespace

void check_reduce_segments(Bench& bench) { check_reductions(bench, CheckSegments()); }

}  // namespace runner
