// The judge of the differential test: what it passes, and above all what it does not.
#include "differential/verdict.h"
#include "support.h"

using namespace differential;

TEST(an_answer_is_judged_by_the_recorded_one) {
  CHECK(judge("0 1", "0 1", nullptr) == Verdict::kSame);
  CHECK(judge("0 1", "0 2", nullptr) == Verdict::kDifferent);
  CHECK(judge("0 1", "", nullptr) == Verdict::kDifferent);
  CHECK(judge("", "0 1", nullptr) == Verdict::kNotRecorded);
}

TEST(of_several_recorded_answers_any_one_will_do) {
  CHECK(judge("709 or crash", "709", nullptr) == Verdict::kSame);
  CHECK(judge("709 or crash", "crash", nullptr) == Verdict::kSame);
  CHECK(judge("1 2 or 3 or 4", "3", nullptr) == Verdict::kSame);
  for (const char* other : {"", "0", "70", "709 ", "709 or crash", "or", "crash or", "cras"}) {
    CHECK(judge("709 or crash", other, nullptr) == Verdict::kDifferent);
  }
  CHECK(judge("1 2 or 3", "1", nullptr) == Verdict::kDifferent);
  const Known known = {"0", "a reason"};
  CHECK(judge("709 or crash", "crash", &known) == Verdict::kOutdated);
}

TEST(a_known_difference_is_one_answer) {
  const Known known = {"221", "there is no PTX compiler"};
  CHECK(judge("0", "221", &known) == Verdict::kKnown);
  CHECK(judge("0", "201", &known) == Verdict::kDifferent);
  CHECK(judge("0", "crash", &known) == Verdict::kDifferent);
  CHECK(judge("0", "0", &known) == Verdict::kOutdated);
}

TEST(a_difference_and_an_outdated_line_fail) {
  CHECK(is_failure(Verdict::kDifferent));
  CHECK(is_failure(Verdict::kOutdated));
  CHECK(!is_failure(Verdict::kSame));
  CHECK(!is_failure(Verdict::kKnown));
  CHECK(!is_failure(Verdict::kNotRecorded));
  CHECK(!is_failure(Verdict::kSkipped));
}
