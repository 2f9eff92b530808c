// Whole words and the numbers packed in them: bit by bit, or in 128 bits, where nothing overflows.
#include "intrinsics_checks.h"

namespace runner {

namespace {

using intrinsics::Group;
using U = std::uint32_t;
using I = std::int32_t;
using UL = std::uint64_t;
using L = std::int64_t;
using Wide = __int128;

template <class T>
T reversed(T x) {
  T result = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) result |= (x >> i & 1) << (8 * sizeof(T) - 1 - i);
  return result;
}

template <class T>
int leading_zeros(T x) {
  int count = 0;
  for (int i = 8 * sizeof(T) - 1; i >= 0 && (x >> i & 1) == 0; --i) ++count;
  return count;
}

template <class T>
int first_set(T x) {
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) {
    if ((x >> i & 1) != 0) return static_cast<int>(i) + 1;
  }
  return 0;
}

template <class T>
int ones(T x) {
  int count = 0;
  for (unsigned i = 0; i < 8 * sizeof(T); ++i) count += x >> i & 1;
  return count;
}

// Lane `lane` of a word of lanes of that type.
template <class Lane>
Wide lane_of(U word, unsigned lane) {
  Lane value;
  std::memcpy(&value, reinterpret_cast<const char*>(&word) + lane * sizeof(Lane), sizeof(Lane));
  return value;
}

// The word of the functions of the lanes; what is too much for one is cut off.
template <class Lane, class Function, class... Words>
U lanes(Function function, Words... words) {
  U result = 0;
  for (unsigned i = 0; i < 4 / sizeof(Lane); ++i) {
    const auto value = static_cast<Lane>(function(lane_of<Lane>(words, i)...));
    std::memcpy(reinterpret_cast<char*>(&result) + i * sizeof(Lane), &value, sizeof(Lane));
  }
  return result;
}

template <class A, class B>
U dot(U a, U b, unsigned first_byte, U c) {
  Wide sum = c;
  for (unsigned i = 0; i < 4 / sizeof(A); ++i) {
    sum += lane_of<A>(a, i) * lane_of<B>(b, first_byte + i);
  }
  return static_cast<U>(sum);
}

Wide clamped(Wide value, Wide low, Wide high) {
  return value < low ? low : value > high ? high : value;
}
template <class Lane>
Wide clamped(Wide value) {
  return clamped(value, std::numeric_limits<Lane>::min(), std::numeric_limits<Lane>::max());
}
Wide magnitude(Wide value) { return value < 0 ? -value : value; }

template <class Signed, class Unsigned>
void check_lanes(Group& group, const std::string& suffix) {
  const auto unary = [&](const std::string& name, auto function) {
    group.equals("v" + name + suffix, [=](U x) { return lanes<Signed>(function, x); });
  };
  const auto binary_signed = [&](const std::string& name, auto function) {
    group.equals("v" + name + suffix, [=](U x, U y) { return lanes<Signed>(function, x, y); });
  };
  const auto binary_unsigned = [&](const std::string& name, auto function) {
    group.equals("v" + name + suffix, [=](U x, U y) { return lanes<Unsigned>(function, x, y); });
  };
  unary("abs", [](Wide x) { return magnitude(x); });
  unary("absss", [](Wide x) { return clamped<Signed>(magnitude(x)); });
  unary("neg", [](Wide x) { return -x; });
  unary("negss", [](Wide x) { return clamped<Signed>(-x); });
  binary_unsigned("add", [](Wide x, Wide y) { return x + y; });
  binary_signed("addss", [](Wide x, Wide y) { return clamped<Signed>(x + y); });
  binary_unsigned("addus", [](Wide x, Wide y) { return clamped<Unsigned>(x + y); });
  binary_unsigned("sub", [](Wide x, Wide y) { return x - y; });
  binary_signed("subss", [](Wide x, Wide y) { return clamped<Signed>(x - y); });
  binary_unsigned("subus", [](Wide x, Wide y) { return clamped<Unsigned>(x - y); });
  // A half is rounded away from zero.
  binary_signed("avgs",
                [](Wide x, Wide y) { return x + y < 0 ? -((1 - x - y) / 2) : (x + y + 1) / 2; });
  binary_unsigned("avgu", [](Wide x, Wide y) { return (x + y + 1) / 2; });
  binary_unsigned("haddu", [](Wide x, Wide y) { return (x + y) / 2; });
  binary_signed("absdiffs", [](Wide x, Wide y) { return magnitude(x - y); });
  binary_unsigned("absdiffu", [](Wide x, Wide y) { return magnitude(x - y); });
  binary_signed("maxs", [](Wide x, Wide y) { return std::max(x, y); });
  binary_unsigned("maxu", [](Wide x, Wide y) { return std::max(x, y); });
  binary_signed("mins", [](Wide x, Wide y) { return std::min(x, y); });
  binary_unsigned("minu", [](Wide x, Wide y) { return std::min(x, y); });
  group.equals("vsads" + suffix, [](U x, U y) {
    U sum = 0;
    for (unsigned i = 0; i < 4 / sizeof(Signed); ++i) {
      sum += static_cast<U>(magnitude(lane_of<Signed>(x, i) - lane_of<Signed>(y, i)));
    }
    return sum;
  });
  group.equals("vsadu" + suffix, [](U x, U y) {
    U sum = 0;
    for (unsigned i = 0; i < 4 / sizeof(Signed); ++i) {
      sum += static_cast<U>(magnitude(lane_of<Unsigned>(x, i) - lane_of<Unsigned>(y, i)));
    }
    return sum;
  });
  const auto compare = [&](const std::string& name, bool is_signed, auto function) {
    const auto check = [&](const std::string& kind, Wide yes) {
      const auto lane = [=](Wide x, Wide y) { return function(x, y) ? yes : 0; };
      is_signed ? binary_signed(kind + name, lane) : binary_unsigned(kind + name, lane);
    };
    check("cmp", -1);
    check("set", 1);
  };
  compare("eq", true, [](Wide x, Wide y) { return x == y; });
  compare("ne", true, [](Wide x, Wide y) { return x != y; });
  for (const bool is_signed : {true, false}) {
    const std::string s = is_signed ? "s" : "u";
    compare("ge" + s, is_signed, [](Wide x, Wide y) { return x >= y; });
    compare("gt" + s, is_signed, [](Wide x, Wide y) { return x > y; });
    compare("le" + s, is_signed, [](Wide x, Wide y) { return x <= y; });
    compare("lt" + s, is_signed, [](Wide x, Wide y) { return x < y; });
  }
}

template <class T>
bool fits(Wide value) {
  return value == clamped<T>(value);
}

// viaddmax and its like say nothing of a sum that overflows.
template <class T, class Select>
auto selected_sum(Select select) {
  return [select](T got, T x, T y, T z) {
    const Wide sum = Wide{x} + y;
    return !fits<T>(sum) || got == static_cast<T>(select(sum, z));
  };
}

template <class Select>
void check_selections(Group& group, const std::string& name, Select select) {
  const auto relu = [](Wide x) { return std::max<Wide>(x, 0); };
  const auto three = [=](Wide x, Wide y, Wide z) { return select(select(x, y), z); };
  group.equals("vi" + name + "3_s32",
               [=](I x, I y, I z) { return static_cast<I>(three(x, y, z)); });
  group.equals("vi" + name + "3_u32",
               [=](U x, U y, U z) { return static_cast<U>(three(x, y, z)); });
  group.equals("vi" + name + "_s32_relu",
               [=](I x, I y) { return static_cast<I>(relu(select(x, y))); });
  group.equals("vi" + name + "3_s32_relu",
               [=](I x, I y, I z) { return static_cast<I>(relu(three(x, y, z))); });
  group.accepted("viadd" + name + "_s32", selected_sum<I>(select));
  group.accepted("viadd" + name + "_u32", selected_sum<U>(select));
  group.accepted("viadd" + name + "_s32_relu",
                 selected_sum<I>([=](Wide x, Wide y) { return relu(select(x, y)); }));
  group.equals("vi" + name + "_s16x2_relu", [=](U x, U y) {
    return lanes<short>([=](Wide a, Wide b) { return relu(select(a, b)); }, x, y);
  });
  group.equals("vi" + name + "3_s16x2",
               [=](U x, U y, U z) { return lanes<short>(three, x, y, z); });
  group.equals("vi" + name + "3_u16x2",
               [=](U x, U y, U z) { return lanes<unsigned short>(three, x, y, z); });
  group.equals("vi" + name + "3_s16x2_relu", [=](U x, U y, U z) {
    return lanes<short>([=](Wide a, Wide b, Wide c) { return relu(three(a, b, c)); }, x, y, z);
  });
  const auto sums = [&](const std::string& suffix, auto lane, auto of_sum) {
    using Lane = decltype(lane);
    group.accepted("viadd" + name + suffix, [=](U got, U x, U y, U z) {
      for (unsigned i = 0; i < 2; ++i) {
        const Wide sum = lane_of<Lane>(x, i) + lane_of<Lane>(y, i);
        if (!fits<Lane>(sum)) continue;
        if (lane_of<Lane>(got, i) != of_sum(sum, lane_of<Lane>(z, i))) return false;
      }
      return true;
    });
  };
  sums("_s16x2", short{}, select);
  sums("_u16x2", static_cast<unsigned short>(0), select);
  sums("_s16x2_relu", short{}, [=](Wide x, Wide y) { return relu(select(x, y)); });

  const auto is_first = [=](Wide x, Wide y) { return select(x, y) == x; };
  group.equals("vib" + name + "_s32", [=](I x, I y) {
    return UL{static_cast<U>(select(x, y))} | UL{is_first(x, y)} << 32;
  });
  group.equals("vib" + name + "_u32", [=](U x, U y) {
    return UL{static_cast<U>(select(x, y))} | UL{is_first(x, y)} << 32;
  });
  const auto pairs = [&](const std::string& suffix, auto lane) {
    using Lane = decltype(lane);
    group.equals("vib" + name + suffix, [=](U x, U y) {
      UL result = lanes<Lane>(select, x, y);
      for (unsigned i = 0; i < 2; ++i) {
        result |= UL{is_first(lane_of<Lane>(x, i), lane_of<Lane>(y, i))} << (32 + i);
      }
      return result;
    });
  };
  pairs("_s16x2", short{});
  pairs("_u16x2", static_cast<unsigned short>(0));
}

}  // namespace

void check_integer_intrinsics(Bench& bench) {
  Group group(bench, "integer",
              {
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/integer.inc"
#undef CULEBRA_INTRINSIC
              });
  group.equals("popc", [](U x) { return ones(x); });
  group.equals("popcll", [](UL x) { return ones(x); });
  group.equals("clz", [](U x) { return leading_zeros(x); });
  group.equals("clzll", [](UL x) { return leading_zeros(x); });
  group.equals("ffs", [](U x) { return first_set(x); });
  group.equals("ffsll", [](UL x) { return first_set(x); });
  group.equals("brev", [](U x) { return reversed(x); });
  group.equals("brevll", [](UL x) { return reversed(x); });
  group.equals("fns", [](U x, U y, I z) -> U {
    const int base = static_cast<int>(y & 31), offset = z % 33;
    std::vector<int> places;
    for (int i = base; i >= 0 && i < 32; i += offset < 0 ? -1 : 1) {
      if ((x >> i & 1) != 0) places.push_back(i);
      if (offset == 0) break;
    }
    const std::size_t wanted = offset == 0 ? 0 : static_cast<std::size_t>(std::abs(offset)) - 1;
    return wanted < places.size() ? static_cast<U>(places[wanted]) : 0xFFFFFFFF;
  });
  group.equals("byte_perm", [](U x, U y, U z) {
    U result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned byte = z >> 4 * i & 7;
      result |= ((byte < 4 ? x : y) >> 8 * (byte % 4) & 0xFF) << 8 * i;
    }
    return result;
  });
  const auto shifted = [](U low, U high, unsigned shift, bool left) -> U {
    const auto both = static_cast<unsigned __int128>(high) << 32 | low;
    return static_cast<U>(left ? both << shift >> 32 : both >> shift);
  };
  group.equals("funnelshift_l", [=](U x, U y, U z) { return shifted(x, y, z % 32, true); });
  group.equals("funnelshift_r", [=](U x, U y, U z) { return shifted(x, y, z % 32, false); });
  group.equals("funnelshift_lc",
               [=](U x, U y, U z) { return shifted(x, y, std::min(z, 32u), true); });
  group.equals("funnelshift_rc",
               [=](U x, U y, U z) { return shifted(x, y, std::min(z, 32u), false); });
  group.equals("mul24", [](U x, U y) {
    const auto low = [](U word) -> Wide {
      const Wide part = word & 0xFFFFFF;
      return part >= 0x800000 ? part - 0x1000000 : part;
    };
    return static_cast<U>(low(x) * low(y));
  });
  group.equals("umul24",
               [](U x, U y) { return static_cast<U>(Wide{x & 0xFFFFFF} * (y & 0xFFFFFF)); });
  group.equals("mulhi", [](I x, I y) { return static_cast<I>(Wide{x} * y >> 32); });
  group.equals("umulhi", [](U x, U y) { return static_cast<U>(Wide{x} * y >> 32); });
  // By halves.
  const auto upper = [](UL x, UL y) -> UL {
    const UL x0 = x & 0xFFFFFFFF, x1 = x >> 32, y0 = y & 0xFFFFFFFF, y1 = y >> 32;
    const UL low = (x0 * y0 >> 32) + (x1 * y0 & 0xFFFFFFFF) + (x0 * y1 & 0xFFFFFFFF);
    return x1 * y1 + (x1 * y0 >> 32) + (x0 * y1 >> 32) + (low >> 32);
  };
  group.equals("umul64hi", upper);
  group.equals("mul64hi", [=](L x, L y) {
    const auto a = static_cast<UL>(x), b = static_cast<UL>(y);
    return static_cast<L>(upper(a, b) - (x < 0 ? b : 0) - (y < 0 ? a : 0));
  });
  group.equals("sad", [](I x, I y, U z) { return static_cast<U>(magnitude(Wide{x} - y) + z); });
  group.equals("usad", [](U x, U y, U z) { return static_cast<U>(magnitude(Wide{x} - y) + z); });
  const auto half_down = [](Wide x) { return x >= 0 ? x / 2 : -((1 - x) / 2); };
  group.equals("hadd", [=](I x, I y) { return static_cast<I>(half_down(Wide{x} + y)); });
  group.equals("rhadd", [=](I x, I y) { return static_cast<I>(half_down(Wide{x} + y + 1)); });
  group.equals("uhadd", [=](U x, U y) { return static_cast<U>(half_down(Wide{x} + y)); });
  group.equals("urhadd", [=](U x, U y) { return static_cast<U>(half_down(Wide{x} + y + 1)); });
  group.equals("umin", [](U x, U y) { return std::min(x, y); });
  group.equals("umax", [](U x, U y) { return std::max(x, y); });
  group.equals("llmin", [](L x, L y) { return std::min(x, y); });
  group.equals("llmax", [](L x, L y) { return std::max(x, y); });
  group.equals("ullmin", [](UL x, UL y) { return std::min(x, y); });
  group.equals("ullmax", [](UL x, UL y) { return std::max(x, y); });
  using SC = signed char;
  using UC = unsigned char;
  using US = unsigned short;
  for (const char* name : {"dp4a_s32", "dp4a_char4"}) {
    group.equals(name, [](U x, U y, U z) { return dot<SC, SC>(x, y, 0, z); });
  }
  for (const char* name : {"dp4a_u32", "dp4a_uchar4"}) {
    group.equals(name, [](U x, U y, U z) { return dot<UC, UC>(x, y, 0, z); });
  }
  for (const unsigned first : {0u, 2u}) {
    const std::string half = first == 0 ? "dp2a_lo_" : "dp2a_hi_";
    for (const char* type : {"s32", "short2"}) {
      group.equals(half + type, [=](U x, U y, U z) { return dot<short, SC>(x, y, first, z); });
    }
    for (const char* type : {"u32", "ushort2"}) {
      group.equals(half + type, [=](U x, U y, U z) { return dot<US, UC>(x, y, first, z); });
    }
  }
  group.equals("bswap16", [](US x) { return static_cast<US>(x << 8 | x >> 8); });
  group.equals("bswap32",
               [](U x) { return x << 24 | (x & 0xFF00) << 8 | (x >> 8 & 0xFF00) | x >> 24; });
  group.equals("bswap64", [](UL x) {
    UL result = 0;
    for (int i = 0; i < 8; ++i) result |= (x >> 8 * i & 0xFF) << 8 * (7 - i);
    return result;
  });
}

void check_simd_intrinsics(Bench& bench) {
  Group group(bench, "simd",
              {
#define CULEBRA_INTRINSIC(name, ...) #name,
#include "../intrinsics/simd.inc"
#undef CULEBRA_INTRINSIC
              });
  check_lanes<short, unsigned short>(group, "2");
  check_lanes<signed char, unsigned char>(group, "4");
  check_selections(group, "max", [](Wide x, Wide y) { return x > y ? x : y; });
  check_selections(group, "min", [](Wide x, Wide y) { return x < y ? x : y; });
}

}  // namespace runner
