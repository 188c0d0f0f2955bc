#ifndef HYCOLL_TESTS_COLLECTIVES_CALLS_REFUSED_CALLS_H_
#define HYCOLL_TESTS_COLLECTIVES_CALLS_REFUSED_CALLS_H_

#include <fmt/format.h>
#include <hycoll/hycoll.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/call_sweeps.h"

/// Calls that must fail, in every form, and those that follow them.
namespace hycoll::tests {

inline constexpr std::size_t kRoom = 40'000;
inline constexpr std::int64_t kPoison = -77;

/// Buffers with room for whatever a wrong call names.
struct Room {
  std::vector<std::int64_t> input = std::vector<std::int64_t>(kRoom, 3);
  std::vector<std::int64_t> output = std::vector<std::int64_t>(kRoom, kPoison);
  std::vector<std::size_t> block_counts;
  // These stay where they are.
  std::deque<std::vector<std::ptrdiff_t>> displacements;
  std::deque<std::vector<std::size_t>> counts;

  bool is_untouched() const {
    return std::count(output.begin(), output.end(), kPoison) == std::ssize(output) &&
           std::count(input.begin(), input.end(), 3) == std::ssize(input);
  }
};

enum class Form { blocking, nonblocking, polled, persistent, persistent_run };
inline constexpr Form kForms[] = {Form::blocking, Form::nonblocking, Form::polled, Form::persistent,
                                  Form::persistent_run};

template <class Caller>
void make(Caller& caller, const Call& call, Form form) {
  if (form == Form::blocking) return caller.run(call);
  if (form == Form::nonblocking) return caller.start(call).wait();
  if (form == Form::polled) {
    Request request = caller.start(call);
    while (!request.test()) std::this_thread::yield();
    return request.wait();
  }
  Persistent persistent = caller.prepare(call);
  if (form == Form::persistent_run) return persistent.run();
  persistent.start();
  persistent.wait();
}

/// Makes a call that must fail like this; the complaint.
template <class Caller>
std::string complaint_unless_error(Caller& caller, const Call& call, Form form, ErrorKind kind,
                                   const std::string& text) {
  const std::string what =
      fmt::format("{} in form {} on member {} of {}: ", name_of(call.collective),
                  static_cast<int>(form), caller.rank(), caller.size());
  try {
    make(caller, call, form);
  } catch (const Error& error) {
    const std::string message = error.what();
    const bool is_expected = error.kind() == kind && message.find(text) != std::string::npos;
    return is_expected ? "" : what + "unexpected: " + message + " (not: " + text + ")";
  }
  return what + "no error (expected: " + text + ")";
}

/// Whether calls still work.
template <class Caller>
std::string complaint_about_next(Caller& caller) {
  std::string first;
  for (const std::size_t count : {std::size_t{3}, std::size_t{5'000}}) {
    for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
      CallTrial trial(reference, caller.rank(), Placement::separate);
      trial.fill(1);
      caller.run(trial.call());
      note(first, trial.complaint());
    }
    const CollectiveReference reference{
        .member_count = caller.size(), .count = count, .block_counts = {}};
    CallTrial trial(reference, caller.rank(), Placement::in_place);
    trial.fill(2);
    caller.start(trial.call()).wait();
    note(first, trial.complaint());
  }
  return first;
}

inline Call sum_of(Room& room, Collective collective, std::size_t count) {
  return {.collective = collective,
          .input = room.input.data(),
          .output = room.output.data(),
          .count = count,
          .type = DataType::int64,
          .op = Operator::sum};
}

inline Options comparing_options() {
  Options options = Options::from_environment();
  options.checking = Options::Checking::all_processes;
  options.workers = 2;
  return options;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_COLLECTIVES_CALLS_REFUSED_CALLS_H_
