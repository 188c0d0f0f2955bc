// Communicators and teams that choose by a tuning file.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/team_threads.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace {

constexpr std::size_t kTunedCount = 4096;

/// Of all processes, in a folder of each.
std::string tuning_file(const TemporaryDirectory& folder, const std::string& memory, int nodes,
                        int members, int workers, const std::string& algorithm) {
  const std::string path = folder.file("tuning.json");
  std::ofstream(path) << fmt::format(
      "{{\"hycoll_tuning\": 1, \"cells\": [{{\"collective\": \"allreduce\", \"memory\": \"{}\", "
      "\"nodes\": {}, \"members\": {}, \"workers\": {}, \"bytes\": {}, \"algorithm\": \"{}\", "
      "\"lanes\": 1}}]}}\n",
      memory, nodes, members, workers, kTunedCount * sizeof(std::int64_t), algorithm);
  return path;
}

Call sum_of(std::vector<std::int64_t>& values) {
  return calls::allreduce(values.data(), values.data(), values.size(), DataType::int64,
                          Operator::sum);
}

/// What a call takes, and that it is right.
template <class Caller>
std::string taken_by(Caller& caller, std::size_t count = kTunedCount) {
  std::vector<std::int64_t> values(count, caller.rank() + 1);
  const std::string algorithm = caller.choice(sum_of(values)).algorithm;
  caller.run(sum_of(values));
  const std::int64_t size = caller.size();
  for (const std::int64_t value : values) REQUIRE(value == size * (size + 1) / 2);
  return algorithm;
}

Options processes_with(const std::string& path) {
  Options options;
  options.layout = Options::Layout::processes;
  // The file's path need not be the same for this test, but options must be: as one.
  options.tuning = path;
  return options;
}

/// The first process's path, on all: they share the files.
std::string of_first(std::string path) {
  path.resize(512);
  MPI_Bcast(path.data(), 512, MPI_CHAR, 0, MPI_COMM_WORLD);
  return path.c_str();
}

TEST_CASE("what was measured is taken, for calls like those") {
  const TemporaryDirectory folder;
  const std::string path =
      of_first(tuning_file(folder, "staged", 1, world_size(), world_size(), "dpml-ring"));
  MPI_Barrier(MPI_COMM_WORLD);
  Communicator tuned(MPI_COMM_WORLD, processes_with(path));
  Communicator plain(MPI_COMM_WORLD, processes_with(""));
  CHECK(taken_by(tuned) == "dpml-ring");
  CHECK(taken_by(plain) != "dpml-ring");
  CHECK(taken_by(tuned, 16 * kTunedCount) == taken_by(plain, 16 * kTunedCount));
  CHECK(taken_by(tuned, 1) == taken_by(plain, 1));
  Options asked = processes_with(path);
  asked.algorithm = "dpml-recursive-doubling";
  Communicator by_name(MPI_COMM_WORLD, asked);
  CHECK(taken_by(by_name) == "dpml-recursive-doubling");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("the threads of a team, too") {
  const TemporaryDirectory folder;
  const std::string path =
      of_first(tuning_file(folder, "direct", world_size(), 2, 2, "dpml-pipelined-ring"));
  MPI_Barrier(MPI_COMM_WORLD);
  Options options;
  options.tuning = path;
  Team team(MPI_COMM_WORLD, 2, options);
  std::vector<std::int64_t> values(kTunedCount, 1);
  CHECK(team.choice(sum_of(values)).algorithm == "dpml-pipelined-ring");
  CHECK(in_every_thread(team, [&](Member& member) -> std::string {
          std::vector<std::int64_t> own(kTunedCount, member.rank());
          member.run(sum_of(own));
          const std::int64_t size = member.size();
          return own.back() == size * (size - 1) / 2 ? "" : "wrong";
        }) == "");
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_CASE("a file that is not there, or not the same everywhere, changes nothing") {
  Communicator plain(MPI_COMM_WORLD, processes_with(""));
  Communicator without(MPI_COMM_WORLD, processes_with("/nowhere/tuning.json"));
  CHECK(taken_by(without) == taken_by(plain));
  if (world_size() == 1) return;
  // Each process has a file of its own by the same name, relative to its folder.
  const TemporaryDirectory folder;
  tuning_file(folder, "staged", 1, world_size(), world_size(),
              world_rank() == 0 ? "dpml-ring" : "dpml-circulant");
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  Communicator differing(MPI_COMM_WORLD, processes_with("tuning.json"));
  std::filesystem::current_path(before);
  CHECK(taken_by(differing) == taken_by(plain));
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace hycoll::tests
