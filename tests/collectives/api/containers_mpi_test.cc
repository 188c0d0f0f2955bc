// Containers whose sizes do not fit the call are refused, with the sizes in the message; the next
// call is as good as ever.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <vector>

namespace hycoll::tests {
namespace containers_mpi_test {

using Vector = std::vector<int>;

/// Makes a call in all three forms, each of which must be refused like this.
template <class Caller>
void check_refused(Caller& caller, const Call& call, const std::string& complaint) {
  const auto says = doctest::Contains(complaint.c_str());
  CHECK_THROWS_WITH_AS(caller.run(call), says, Error);
  CHECK_THROWS_WITH_AS((void)caller.start(call), says, Error);
  CHECK_THROWS_WITH_AS((void)caller.prepare(call), says, Error);
}

TEST_CASE("the input of reduce_scatter_block has a block for each member") {
  Communicator communicator(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(communicator.size());
  Vector block(4);
  for (const std::size_t wrong : {4 * size - 1, 4 * size + 1, std::size_t{0}}) {
    Vector input(wrong, 1);
    const std::string complaint = fmt::format(
        "input has {} elements, but must have {} ({} members have blocks of 4, the "
        "size of the output)",
        wrong, 4 * size, size);
    check_refused(communicator, calls::reduce_scatter_block(input, block), complaint);
  }
  const Vector input(4 * size, 1);
  for (int round = 0; round < 3; ++round) {
    communicator.reduce_scatter_block(input, block);
    CHECK(block == Vector(4, communicator.size()));
    // Not taken for the last call, which it is like but for the input's size.
    const auto shorter = std::span(input).first(input.size() - 1);
    CHECK_THROWS_AS(communicator.reduce_scatter_block(shorter, block), Error);
  }
}

TEST_CASE("reduce_scatter compares input and output with block_counts") {
  Communicator communicator(MPI_COMM_WORLD);
  const auto rank = static_cast<std::size_t>(communicator.rank());
  std::vector<std::size_t> counts(static_cast<std::size_t>(communicator.size()));
  std::iota(counts.begin(), counts.end(), 1);
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  Vector input(total, 1);
  Vector block(counts[rank]);
  Vector longer_input(total + 1, 1);
  Vector longer_block(counts[rank] + 1);
  check_refused(communicator, calls::reduce_scatter(longer_input, block, counts),
                fmt::format("input has {} elements, but must have {} (the sum of block_counts)",
                            total + 1, total));
  check_refused(communicator, calls::reduce_scatter(input, longer_block, counts),
                fmt::format("output has {} elements, but must have {} (block_counts[{}])",
                            counts[rank] + 1, counts[rank], rank));
  communicator.reduce_scatter(input, block, counts);
  CHECK(block == Vector(counts[rank], communicator.size()));
  // In place, in the whole container and in its beginning.
  communicator.reduce_scatter(input, input, counts);
  CHECK(Vector(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(counts[rank])) == block);
  input.assign(total, 1);
  communicator.reduce_scatter(input, std::span(input).first(counts[rank]), counts);
  CHECK(Vector(input.begin(), input.begin() + static_cast<std::ptrdiff_t>(counts[rank])) == block);
}

TEST_CASE("the output of allgather has a block for each member") {
  Communicator communicator(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(communicator.size());
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const Vector block(4, communicator.rank() + 1);
  for (const std::size_t wrong : {4 * size - 1, 4 * size + 1, std::size_t{0}}) {
    Vector output(wrong);
    const std::string complaint = fmt::format(
        "output has {} elements, but must have {} ({} members have blocks of 4, the "
        "size of the input)",
        wrong, 4 * size, size);
    check_refused(communicator, calls::allgather(block, output), complaint);
  }
  Vector expected;
  for (int member = 1; member <= communicator.size(); ++member) {
    expected.insert(expected.end(), 4, member);
  }
  Vector output(4 * size);
  for (int round = 0; round < 3; ++round) {
    communicator.allgather(block, output);
    CHECK(output == expected);
    const auto shorter = std::span(output).first(output.size() - 1);
    CHECK_THROWS_AS(communicator.allgather(block, shorter), Error);
    // In place.
    output.assign(4 * size, 0);
    const auto own = std::span(output).subspan(4 * rank, 4);
    std::copy(block.begin(), block.end(), own.begin());
    communicator.allgather(own, output);
    CHECK(output == expected);
  }
  // One container for both is its own block.
  if (size > 1) check_refused(communicator, calls::allgather(output, output), "output has");
}

TEST_CASE("the root of reduce needs an output, the others do not") {
  Communicator communicator(MPI_COMM_WORLD);
  const Vector input(5, 1);
  Vector none;
  none.reserve(5);  // an address, but no elements
  for (int root = 0; root < communicator.size(); ++root) {
    Vector output(5);
    const bool is_root = communicator.rank() == root;
    if (is_root) {
      check_refused(communicator, calls::reduce(input, none, Operator::sum, root),
                    "output has 0 elements, but must have 5 (as many as the input has)");
    }
    communicator.reduce(input, is_root ? output : none, Operator::sum, root);
    if (is_root) CHECK(output == Vector(5, communicator.size()));
  }
}

TEST_CASE("the roots of gather and scatter have a block for each member, the others need none") {
  Communicator communicator(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(communicator.size());
  const auto rank = static_cast<std::size_t>(communicator.rank());
  const Vector block(4, communicator.rank() + 1);
  Vector expected;
  for (int member = 1; member <= communicator.size(); ++member) {
    expected.insert(expected.end(), 4, member);
  }
  for (int root = 0; root < communicator.size(); ++root) {
    const bool is_root = communicator.rank() == root;
    Vector all(is_root ? 4 * size : 0);
    Vector own(4);
    if (is_root) {
      Vector longer(4 * size + 1);
      const std::string complaint = fmt::format(
          "has {} elements, but must have {} ({} members have blocks of 4, the size of ",
          4 * size + 1, 4 * size, size);
      check_refused(communicator, calls::gather(block, longer, root), "output " + complaint);
      check_refused(communicator, calls::scatter(longer, own, root), "input " + complaint);
    }
    communicator.gather(block, all, root);
    if (is_root) CHECK(all == expected);
    communicator.scatter(all, own, root);
    CHECK(own == block);
    // In place at the root.
    const auto kept = is_root ? std::span(all).subspan(4 * rank, 4) : std::span(own);
    communicator.scatter(all, kept, root);
    if (is_root) all.assign(4 * size, communicator.rank() + 1);
    communicator.gather(kept, all, root);
    if (is_root) CHECK(all == expected);
  }
}

TEST_CASE("the members of a team compare their containers, too") {
  Team team(MPI_COMM_WORLD, 1);
  Member member = team.join(0);
  Vector block(2);
  const Vector input(2 * static_cast<std::size_t>(member.size()) + 1, 1);
  CHECK_THROWS_WITH_AS(member.reduce_scatter_block(input, block), doctest::Contains("input has"),
                       Error);
}

TEST_CASE("a temporary is as good an input as a variable") {
  Communicator communicator(MPI_COMM_WORLD);
  Vector output(3);
  communicator.allreduce(Vector{1, 2, 3}, output);
  const int size = communicator.size();
  CHECK(output == Vector{size, 2 * size, 3 * size});
}

}  // namespace containers_mpi_test
}  // namespace hycoll::tests
