#ifndef HYCOLL_TESTS_CORE_VERIFIER_EXPECTATIONS_H_
#define HYCOLL_TESTS_CORE_VERIFIER_EXPECTATIONS_H_

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "core/verifier/verifier.h"
#include "tests/core/verifier/mutants.h"

namespace hycoll::testing {

/// Changes a correct schedule and expects that both aliasings fail the check with the message,
/// which begins behind the names of algorithm, shape and check.
inline void expect_failure(const Schedule& correct,
                           const std::function<void(EditableSchedule&)>& change, Check check,
                           const std::string& message) {
  REQUIRE_MESSAGE(verify(correct).correct, verify(correct).failure);
  EditableSchedule broken(correct);
  change(broken);
  const Verdict verdict = verify(broken.pack());
  CHECK_FALSE(verdict.correct);
  CHECK(name_of(verdict.failed_check) == name_of(check));
  const std::size_t begin = verdict.failure.find("buffers): ");
  REQUIRE(begin != std::string::npos);
  CHECK(verdict.failure.substr(begin + 10) == message);
}

inline void expect_step_failure(const Schedule& correct, int strand, int step,
                                const std::function<void(EditableStep&)>& change, Check check,
                                const std::string& message) {
  expect_failure(
      correct, [&](EditableSchedule& schedule) { change(schedule.at(strand, step)); }, check,
      message);
}

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_CORE_VERIFIER_EXPECTATIONS_H_
