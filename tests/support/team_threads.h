#ifndef HYCOLL_TESTS_SUPPORT_TEAM_THREADS_H_
#define HYCOLL_TESTS_SUPPORT_TEAM_THREADS_H_

#include <hycoll/hycoll.h>

#include <cstddef>
#include <exception>
#include <numeric>
#include <thread>
#include <vector>

namespace hycoll::tests {

/// Runs body(member), which returns a `Result`, in every thread of a team; what it returns, by
/// thread. An exception that leaves it is thrown here when all threads have ended, the first one.
template <class Result, class Body>
std::vector<Result> results_of_threads(Team& team, const Body& body) {
  const auto count = static_cast<std::size_t>(team.thread_count());
  std::vector<Result> results(count);
  std::vector<std::exception_ptr> thrown(count);
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < count; ++index) {
    threads.emplace_back([&, index] {
      try {
        Member member = team.join(static_cast<int>(index));
        results[index] = body(member);
      } catch (...) {
        thrown[index] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& exception : thrown) {
    if (exception != nullptr) std::rethrow_exception(exception);
  }
  return results;
}

/// The same for a body that counts failures; their sum.
template <class Body>
int failures_of_threads(Team& team, const Body& body) {
  const std::vector<int> failures = results_of_threads<int>(team, body);
  return std::accumulate(failures.begin(), failures.end(), 0);
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_TEAM_THREADS_H_
