// What to make of an answer, beside the recorded one and the one that known.def expects.
#pragma once

#include <string>

namespace differential {

// The emulator's own answer to a case, where it is another one on purpose.
struct Known {
  std::string answer;
  std::string reason;
};

enum class Verdict {
  kSame,
  kKnown,
  kNotRecorded,
  kDifferent,
  kOutdated,  // known.def says that it differs, and it does not
  kSkipped,   // the machine has too few devices
};

// Whether the answer is the recorded one, or, as a whole, one of several with " or " between them.
inline bool is_recorded(const std::string& recorded, const std::string& answer) {
  static const std::string kOr = " or ";
  std::size_t begin = 0;
  for (std::size_t end; (end = recorded.find(kOr, begin)) != std::string::npos;
       begin = end + kOr.size()) {
    if (recorded.compare(begin, end - begin, answer) == 0) return true;
  }
  return recorded.compare(begin, std::string::npos, answer) == 0;
}

// `known` is null for a case that known.def does not name, and for a real driver: it excuses no
// other answer than its own.
inline Verdict judge(const std::string& recorded, const std::string& answer, const Known* known) {
  if (known != nullptr) {
    if (is_recorded(recorded, answer)) return Verdict::kOutdated;
    return answer == known->answer ? Verdict::kKnown : Verdict::kDifferent;
  }
  if (recorded.empty()) return Verdict::kNotRecorded;
  return is_recorded(recorded, answer) ? Verdict::kSame : Verdict::kDifferent;
}

inline bool is_failure(Verdict verdict) {
  return verdict == Verdict::kDifferent || verdict == Verdict::kOutdated;
}

inline const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kKnown:
      return "known";
    case Verdict::kNotRecorded:
      return "not recorded";
    case Verdict::kDifferent:
      return "DIFFERENT";
    case Verdict::kOutdated:
      return "OUTDATED";
    case Verdict::kSkipped:
      return "skipped";
  }
  return "";
}

}  // namespace differential
