#ifndef HYCOLL_TESTS_SUPPORT_CALL_SWEEPS_H_
#define HYCOLL_TESTS_SUPPORT_CALL_SWEEPS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/call_trial.h"
#include "tests/support/sanitized.h"
#include "tests/support/team_threads.h"

/// What both layouts are tested with. `Caller` is Communicator or Member. Each function is called
/// by all members alike, and returns the first complaint, or nothing; a member that meets something
/// wrong goes on, so that the others are not left waiting.
namespace hycoll::tests {

/// Keeps the first complaint.
inline void note(std::string& first, std::string complaint) {
  if (first.empty()) first = std::move(complaint);
}

inline void drive_to_end(DrivenCall& driven) {
  for (int turn = 0; !driven.advance(); ++turn) {
    if (turn % 100 != 0) continue;
    driven.look_for_trouble();
    std::this_thread::yield();
  }
  driven.deliver();
}

/// Drives a call to its end; where callers do not drive theirs, a nonblocking one.
template <class Caller>
void make_driven(Caller& caller, const Call& call) {
  if constexpr (requires { caller.drive(call); }) {
    DrivenCall driven = caller.drive(call);
    drive_to_end(driven);
  } else {
    caller.start(call).wait();
  }
}

/// A call that is set up to be driven and started some times, where callers have those; another
/// call in between, which must not take what it needs. The first complaint.
template <class Caller>
std::string start_driven(Caller& caller, CallTrial& trial, int& round) {
  std::string first;
  if constexpr (requires { caller.prepare_driven(trial.call()); }) {
    DrivenCall driven = caller.prepare_driven(trial.call());
    for (int start = 0; start < 3; ++start) {
      trial.fill(++round);
      driven.start();
      drive_to_end(driven);
      note(first, trial.complaint());
      caller.barrier();
    }
  }
  return first;
}

/// Every form of one call: blocking, nonblocking, driven once and several times, and persistent.
template <class Caller>
std::string call_in_every_form(Caller& caller, CallTrial& trial, int& round) {
  std::string first;
  trial.fill(++round);
  run_by_name(caller, trial.call());
  note(first, trial.complaint());

  trial.fill(++round);
  start_by_name(caller, trial.call()).wait();
  note(first, trial.complaint());

  trial.fill(++round);
  make_driven(caller, trial.call());
  note(first, trial.complaint());
  note(first, start_driven(caller, trial, round));

  Persistent persistent = prepare_by_name(caller, trial.call());
  for (int start = 0; start < 3; ++start) {
    trial.fill(++round);
    if (start == 1) {
      persistent.run();
    } else {
      persistent.start();
      persistent.wait();
    }
    note(first, trial.complaint());
  }
  return first;
}

/// Every collective, form and placement, for these sizes of the input; a part of what these make
/// together (Sample), and another one for each `sweep` and number of members.
template <class Caller>
std::string sweep_calls(Caller& caller, const std::vector<std::size_t>& counts, int sweep = 0) {
  std::string first;
  int round = 0;
  Sample sample(static_cast<std::uint64_t>(caller.size() + 100 * sweep));
  for (const std::size_t count : counts) {
    for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
      for (const Placement placement : {Placement::separate, Placement::in_place}) {
        if (!sample.takes_next()) continue;
        CallTrial trial(reference, caller.rank(), placement);
        note(first, call_in_every_form(caller, trial, round));
      }
    }
    caller.barrier();
  }
  return first;
}

/// Short and long calls of all collectives, alternately in place.
template <class Caller>
std::vector<CallTrial> mixed_trials(const Caller& caller) {
  std::vector<CallTrial> trials;
  const std::vector<CollectiveReference> lists[] = {references_of_all(caller.size(), 9),
                                                    references_of_all(caller.size(), 30'000),
                                                    references_of_all(caller.size(), 500)};
  for (std::size_t i = 0; i < lists[0].size(); ++i) {
    for (const auto& list : lists) {
      const Placement placement =
          trials.size() % 2 == 0 ? Placement::separate : Placement::in_place;
      trials.emplace_back(list[i], caller.rank(), placement);
    }
  }
  return trials;
}

/// How a member gets rid of its requests; members need not do alike.
enum class Completion { forwards, backwards, by_test, by_destruction };

inline void complete(std::vector<Request>& requests, Completion completion) {
  switch (completion) {
    case Completion::forwards:
      for (Request& request : requests) request.wait();
      break;
    case Completion::backwards:
      for (std::size_t r = requests.size(); r-- > 0;) requests[r].wait();
      break;
    case Completion::by_test:
      for (std::size_t r = 0; r < requests.size(); ++r) {
        // Every second one overtakes.
        Request& request = requests[(r ^ 1) < requests.size() ? r ^ 1 : r];
        while (!request.test()) std::this_thread::yield();
      }
      break;
    case Completion::by_destruction:
      requests.erase(requests.begin() + 1, requests.end());
      break;
  }
  requests.clear();
}

/// Nonblocking calls of all collectives under way at once, with blocking ones between them.
template <class Caller>
std::string overlap_calls(Caller& caller) {
  std::string first;
  std::vector<CallTrial> trials = mixed_trials(caller);
  for (int round = 1; round <= 4; ++round) {
    std::vector<Request> requests;
    for (std::size_t t = 0; t < trials.size(); ++t) {
      trials[t].fill(round);
      if (t % 5 == 3) {
        caller.run(trials[t].call());
        note(first, trials[t].complaint());
      } else {
        requests.push_back(start_by_name(caller, trials[t].call()));
      }
    }
    complete(requests, static_cast<Completion>((caller.rank() + round) % 4));
    for (const CallTrial& trial : trials) note(first, trial.complaint());
  }
  return first;
}

/// Persistent calls of all collectives, started many times, several under way at once.
template <class Caller>
std::string repeat_calls(Caller& caller) {
  std::string first;
  std::vector<CallTrial> trials = mixed_trials(caller);
  std::vector<Persistent> calls;
  for (const CallTrial& trial : trials) calls.push_back(prepare_by_name(caller, trial.call()));
  for (int round = 1; round <= 6; ++round) {
    const std::size_t at_once = round % 2 == 0 ? 1 : 6;
    for (std::size_t begin = 0; begin < calls.size(); begin += at_once) {
      const std::size_t end = std::min(begin + at_once, calls.size());
      for (std::size_t c = begin; c < end; ++c) {
        trials[c].fill(round);
        calls[c].start();
      }
      for (std::size_t c = end; c-- > begin;) {
        if (caller.rank() % 2 == 0) {
          while (!calls[c].test()) std::this_thread::yield();
        }
        calls[c].wait();
        note(first, trials[c].complaint());
      }
    }
    for (std::size_t c = 0; c < calls.size(); c += 4) {
      trials[c].fill(100 + round);
      calls[c].run();
      note(first, trials[c].complaint());
    }
  }
  return first;
}

/// Runs body(member), which returns a complaint, in every thread of a team; the first complaint.
template <class Body>
std::string in_every_thread(Team& team, const Body& body) {
  std::vector<std::string> complaints = results_of_threads<std::string>(team, [&](Member& member) {
    try {
      return std::string(body(member));
    } catch (const Error& error) {
      return std::string(error.what());
    }
  });
  std::string first;
  for (std::string& complaint : complaints) note(first, std::move(complaint));
  return first;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_CALL_SWEEPS_H_
