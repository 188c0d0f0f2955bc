// Teams in the layout processes: the threads of several processes of this machine are one node, or
// several emulated ones.

#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/call_sweeps.h"
#include "tests/support/process_options.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace team_of_processes_mpi_test {

constexpr int kNodes[] = {1, 2};

/// 2, 1, 3, 2, 1 threads.
int unequal_thread_count() { return 1 + (world_rank() * 2 + 1) % 3; }

TEST_CASE("every collective, form, placement and root, with two threads in every process") {
  for (const int nodes : kNodes) {
    Team team(MPI_COMM_WORLD, 2, options_with(nodes));
    CHECK(in_every_thread(team, [nodes](Member& member) {
            if (member.size() != 2 * world_size()) return std::string("wrong size");
            if (member.rank() / 2 != world_rank()) return std::string("wrong rank");
            return sweep_calls(member, {0, 64, 20'001}, nodes);
          }) == "");
  }
}

TEST_CASE("processes with different numbers of threads, and vectors in many parts") {
  for (const int nodes : kNodes) {
    Options options = options_with(nodes);
    options.staging_kib = 64;
    Team team(MPI_COMM_WORLD, unequal_thread_count(), options);
    CHECK(team.thread_count() == unequal_thread_count());
    CHECK(in_every_thread(team, [nodes](Member& member) {
            return sweep_calls(member, {7, 30'000}, nodes);
          }) == "");
  }
}

TEST_CASE("calls are under way at once, and persistent ones started many times") {
  for (const int nodes : kNodes) {
    Team team(MPI_COMM_WORLD, 2, options_with(nodes));
    CHECK(in_every_thread(team, [](Member& member) {
            const std::string complaint = overlap_calls(member);
            return complaint.empty() ? repeat_calls(member) : complaint;
          }) == "");
  }
}

TEST_CASE("several lanes, led by threads of different processes, and every exchange") {
  for (const char* exchange : {"recursive-doubling", "halving-doubling", "ring", "native"}) {
    Options options = options_with(2);
    options.lanes = 3;
    options.algorithm = std::string("allreduce:dpml-") + exchange;
    Team team(MPI_COMM_WORLD, 2, options);
    CHECK(in_every_thread(team, [](Member& member) {
            std::string first;
            for (const std::size_t count : {std::size_t{3}, std::size_t{20'000}}) {
              const CollectiveReference reference{
                  .member_count = member.size(), .count = count, .block_counts = {}};
              CallTrial trial(reference, member.rank(), Placement::separate);
              int round = 0;
              note(first, call_in_every_form(member, trial, round));
            }
            return first;
          }) == "");
  }
}

TEST_CASE("one thread starts the calls of several members") {
  Team team(MPI_COMM_WORLD, 2, options_with(1));
  Member members[] = {team.join(0), team.join(1)};
  for (const std::size_t count : {std::size_t{5}, std::size_t{20'000}}) {
    std::vector<std::vector<std::int64_t>> values(2);
    std::vector<Request> requests;
    for (std::size_t m = 0; m < 2; ++m) {
      values[m].assign(count, members[m].rank());
      requests.push_back(members[m].iallreduce(values[m]));
    }
    for (Request& request : requests) request.wait();
    const std::int64_t size = members[0].size();
    for (const auto& sums : values) {
      CHECK(sums == std::vector<std::int64_t>(count, size * (size - 1) / 2));
    }
  }
}

TEST_CASE("members that make different calls all learn of it, whichever process they are in") {
  for (const int deviating : {0, 2 * world_size() - 1}) {
    Team team(MPI_COMM_WORLD, 2, options_with(1));
    CHECK(in_every_thread(team, [&](Member& member) {
            std::vector<float> values(100, 1);
            const std::size_t count = member.rank() == deviating ? 5 : 7;
            try {
              member.allreduce(std::span(values).first(count));
            } catch (const Error& error) {
              const std::string text = error.what();
              const bool names_both = text.find("count 5") != std::string::npos &&
                                      text.find("count 7") != std::string::npos;
              return names_both ? std::string() : text;
            }
            return std::string("no error");
          }) == "");
  }
}

}  // namespace team_of_processes_mpi_test
}  // namespace hycoll::tests
