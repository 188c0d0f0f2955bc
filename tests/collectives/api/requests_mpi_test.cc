// The error of a call that goes on in the background reaches the program, whichever way that asks.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/error_kind.h"

namespace hycoll::tests {
namespace requests_mpi_test {

/// A call that fails on all members, and one that does not.
struct Calls {
  std::vector<int> input = std::vector<int>(3, 1);
  std::vector<int> output = std::vector<int>(3);
  Operation failing = Operation::custom(
      [](const void*, void*, std::size_t) { throw std::runtime_error("no sum today"); },
      Commutativity::commutative);

  Request fail(Communicator& communicator) {
    return communicator.iallreduce(input, output, failing);
  }
  Request succeed(Communicator& communicator) { return communicator.iallreduce(input, output); }
};

/// What the action writes to standard error.
std::string written_by(const std::function<void()>& action) {
  std::FILE* const file = std::tmpfile();
  REQUIRE(file != nullptr);
  const int kept = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  action();
  std::fflush(stderr);
  dup2(kept, STDERR_FILENO);
  close(kept);
  std::rewind(file);
  std::string text;
  for (int character = 0; (character = std::fgetc(file)) != EOF;) {
    text += static_cast<char>(character);
  }
  std::fclose(file);
  return text;
}

template <class Call>
void poll(Call& call) {
  while (!call.test()) std::this_thread::yield();
}

TEST_CASE("test() throws what the call has met, once") {
  Communicator communicator(MPI_COMM_WORLD);
  Calls calls;
  Request request = calls.fail(communicator);
  CHECK(kind_of_error([&] { poll(request); }) == ErrorKind::user_operator);
  CHECK(request.test());
  request.wait();
  request = calls.succeed(communicator);
  poll(request);
  CHECK(calls.output == std::vector<int>(3, communicator.size()));
}

TEST_CASE("test() of a persistent call throws what it has met, and it can be started again") {
  Communicator communicator(MPI_COMM_WORLD);
  Calls calls;
  Persistent persistent = communicator.allreduce_init(calls.input, calls.output, calls.failing);
  for (int round = 0; round < 2; ++round) {
    persistent.start();
    CHECK(kind_of_error([&] { poll(persistent); }) == ErrorKind::user_operator);
    CHECK(persistent.test());
    persistent.wait();
  }
}

TEST_CASE("an error that nobody has asked for is reported") {
  Communicator communicator(MPI_COMM_WORLD);
  Calls calls;
  const auto reports = [](const std::string& text) {
    // Which member's operator has thrown is chance.
    return text.find("given up without wait(): the ") != std::string::npos &&
           text.find("operator") != std::string::npos;
  };
  CHECK(reports(written_by([&] { const Request lost = calls.fail(communicator); })));
  CHECK(reports(written_by([&] {
    Request request = calls.fail(communicator);
    request = Request();
  })));
  CHECK(reports(written_by([&] {
    Persistent persistent = communicator.allreduce_init(calls.input, calls.output, calls.failing);
    persistent.start();
  })));
  CHECK(reports(written_by([&] {
    Persistent persistent = communicator.allreduce_init(calls.input, calls.output, calls.failing);
    persistent.start();
    persistent = communicator.allreduce_init(calls.input, calls.output);
  })));
  CHECK(written_by([&] { const Request fine = calls.succeed(communicator); }).empty());
  CHECK(written_by([&] {
          Request request = calls.fail(communicator);
          CHECK_THROWS_AS(request.wait(), Error);
        }).empty());
}

TEST_CASE("wait_all() waits for all, and throws what the first one that failed has met") {
  Communicator communicator(MPI_COMM_WORLD);
  std::vector<Calls> calls(4);
  std::vector<Request> requests;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    requests.push_back(c % 2 == 0 ? calls[c].succeed(communicator) : calls[c].fail(communicator));
  }
  CHECK(kind_of_error([&] { wait_all(requests); }) == ErrorKind::user_operator);
  for (Request& request : requests) CHECK(request.test());
  for (const std::size_t c : {0, 2}) {
    CHECK(calls[c].output == std::vector<int>(3, communicator.size()));
  }
  requests.clear();
  wait_all(requests);
}

TEST_CASE("has_completed() leaves the call and its error to wait()") {
  Communicator communicator(MPI_COMM_WORLD);
  Calls calls;
  Request request = calls.fail(communicator);
  while (!request.has_completed()) std::this_thread::yield();
  CHECK(request.has_completed());
  CHECK(request.has_call());
  CHECK(kind_of_error([&] { request.wait(); }) == ErrorKind::user_operator);
  CHECK_FALSE(request.has_call());
  CHECK(request.has_completed());

  Persistent persistent = communicator.allreduce_init(calls.input, calls.output);
  CHECK(persistent.has_completed());
  persistent.start();
  while (!persistent.has_completed()) std::this_thread::yield();
  CHECK_THROWS_AS(persistent.start(), Error);  // for it has not been waited for
  persistent.wait();
  CHECK(calls.output == std::vector<int>(3, communicator.size()));
}

TEST_CASE("test_all() takes all calls or none, and throws what the first one has met") {
  Communicator communicator(MPI_COMM_WORLD);
  std::vector<Calls> calls(3);
  std::vector<Request> requests;
  for (Calls& each : calls) requests.push_back(each.succeed(communicator));
  while (!test_all(requests)) {
    for (const Request& request : requests) CHECK(request.has_call());
  }
  for (std::size_t c = 0; c < calls.size(); ++c) {
    CHECK_FALSE(requests[c].has_call());
    CHECK(calls[c].output == std::vector<int>(3, communicator.size()));
  }
  CHECK(test_all(requests));
  requests[1] = calls[1].fail(communicator);
  const auto all = [&] {
    while (!test_all(requests)) std::this_thread::yield();
  };
  CHECK(kind_of_error(all) == ErrorKind::user_operator);
  CHECK(test_all(requests));
}

TEST_CASE("wait_any() takes each call once, with its error") {
  Communicator communicator(MPI_COMM_WORLD);
  std::vector<Calls> calls(5);
  std::vector<Request> requests;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    requests.push_back(c == 3 ? calls[c].fail(communicator) : calls[c].succeed(communicator));
  }
  requests.emplace_back();
  int failed = 0;
  std::vector<int> taken(calls.size());
  for (std::size_t call = 0; call < calls.size(); ++call) {
    try {
      ++taken.at(wait_any(requests));
    } catch (const Error&) {
      ++failed;
    }
  }
  CHECK(failed == 1);
  CHECK(taken == std::vector<int>{1, 1, 1, 0, 1});
  CHECK(wait_any(requests) == requests.size());
}

TEST_CASE("communicators and teams move, with their calls") {
  Calls calls;
  Communicator first(MPI_COMM_WORLD);
  Persistent persistent = first.allreduce_init(calls.input, calls.output);
  Request request = calls.succeed(first);
  std::vector<Communicator> kept;
  kept.push_back(std::move(first));
  request.wait();
  persistent.run();
  CHECK(calls.output == std::vector<int>(3, kept[0].size()));
  kept.emplace_back(MPI_COMM_WORLD);
  kept[1] = std::move(kept[0]);  // that of the second one goes
  CHECK(kept[1].allreduce(1) == kept[1].size());
  persistent.run();

  Team team(MPI_COMM_WORLD, 1);
  Member member = team.join(0);
  const Team moved = std::move(team);
  CHECK(member.allreduce(2) == 2 * member.size());
}

TEST_CASE("a request that is assigned waits for its last call") {
  Communicator communicator(MPI_COMM_WORLD);
  Calls first;
  Calls second;
  Request request = first.succeed(communicator);
  request = second.succeed(communicator);
  CHECK(first.output == std::vector<int>(3, communicator.size()));
  Request moved = std::move(request);
  moved.wait();
  CHECK(second.output == std::vector<int>(3, communicator.size()));
}

}  // namespace requests_mpi_test
}  // namespace hycoll::tests
