// Allgatherv, gatherv and scatterv under real MPI, in all layouts: blocks that different types
// describe, that follow each other or lie apart in any order, and some of which are empty.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tests/collectives/calls/described_blocks.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace unequal_blocks_mpi_test {

constexpr Collective kAll[] = {Collective::allgather, Collective::gather, Collective::scatter};

enum class Form { blocking, nonblocking, persistent };
constexpr Form kForms[] = {Form::blocking, Form::nonblocking, Form::persistent, Form::blocking};

enum class Order {
  one_after_the_other,
  reversed,  ///< And a pair between any two.
};

/// The blocks of all members, as one member describes them.
class Blocks {
 public:
  /// So many pairs of each member.
  Blocks(const Description& one_pair, std::vector<std::size_t> pairs, Order order)
      : one_pair_(one_pair), pairs_(std::move(pairs)), order_(order) {
    const auto elements = static_cast<std::ptrdiff_t>(one_pair.count);
    std::size_t next = 0;
    places_.resize(pairs_.size());
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      const std::size_t member = order == Order::reversed ? pairs_.size() - 1 - i : i;
      if (order == Order::reversed) ++next;
      places_[member] = next;
      next += pairs_[member];
    }
    pair_count_ = next;
    for (std::size_t member = 0; member < pairs_.size(); ++member) {
      counts_.push_back(pairs_[member] * one_pair.count);
      displacements_.push_back(static_cast<std::ptrdiff_t>(places_[member]) * elements);
    }
  }

  const std::vector<std::size_t>& counts() const { return counts_; }
  /// None where the blocks follow each other: the call does not need them.
  std::span<const std::ptrdiff_t> displacements() const {
    if (order_ == Order::reversed) return displacements_;
    return {};
  }

  Numbers poisoned() const { return Numbers(pair_count_ * one_pair_.extent, kPoison); }
  /// As a member's block is.
  Numbers poisoned_block(int member) const {
    return Numbers(pairs_[static_cast<std::size_t>(member)] * one_pair_.extent, kPoison);
  }
  void fill_block(std::int32_t* block, int member) const {
    one_pair_.fill(block, pairs_[static_cast<std::size_t>(member)], member);
  }
  void fill(Numbers& all, int member) const {
    fill_block(all.data() + places_[static_cast<std::size_t>(member)] * one_pair_.extent, member);
  }
  Numbers filled() const {
    Numbers all = poisoned();
    for (int member = 0; member < static_cast<int>(pairs_.size()); ++member) fill(all, member);
    return all;
  }

 private:
  Description one_pair_;
  std::vector<std::size_t> pairs_;
  Order order_;
  std::vector<std::size_t> places_;
  std::size_t pair_count_ = 0;
  std::vector<std::size_t> counts_;
  std::vector<std::ptrdiff_t> displacements_;
};

template <class Caller>
void make(Caller& caller, const Call& call, Form form) {
  switch (form) {
    case Form::blocking:
      return caller.run(call);
    case Form::nonblocking:
      return caller.start(call).wait();
    case Form::persistent: {
      Persistent persistent = caller.prepare(call);
      persistent.run();
      persistent.start();
      return persistent.wait();
    }
  }
}

/// One call; the complaint.
template <class Caller>
std::string try_call(Caller& caller, Collective collective, const Blocks& blocks, ElementType type,
                     int root, Placement placement, Form form) {
  const int rank = caller.rank();
  const bool has_all = collective == Collective::allgather || rank == root;
  const bool gathers = collective != Collective::scatter;
  const bool in_place = placement == Placement::in_place && has_all;
  Numbers all = gathers ? blocks.poisoned() : blocks.filled();
  Numbers own = blocks.poisoned_block(rank);
  if (gathers && in_place) blocks.fill(all, rank);
  if (gathers && !in_place) blocks.fill_block(own.data(), rank);
  std::int32_t* const all_data = has_all ? all.data() : nullptr;
  std::int32_t* const own_data = in_place ? all_data : own.data();
  Call call{.collective = collective,
            .input = gathers ? own_data : all_data,
            .output = gathers ? all_data : own_data,
            .block_counts = blocks.counts(),
            .displacements = blocks.displacements(),
            .type = type,
            .root = root};
  make(caller, call, form);
  Numbers expected = blocks.poisoned_block(rank);
  if (!in_place) blocks.fill_block(expected.data(), rank);
  if (own == expected && (!has_all || all == blocks.filled())) return "";
  return fmt::format("{}v, type {}, root {}, is wrong on member {}{}", name_of(collective),
                     type.code(), root, rank, in_place ? ", in place" : "");
}

/// Members describe their data by a type with gaps, by numbers, or by longer numbers, and place
/// blocks in their own ways.
template <class Caller>
std::string try_blocks(Caller& caller, std::initializer_list<std::size_t> sizes) {
  const GappedType gapped;
  std::string first;
  std::size_t round = 0;
  for (const std::size_t size : sizes) {
    std::vector<std::size_t> pairs;
    for (int member = 0; member < caller.size(); ++member) {
      pairs.push_back(member % 3 == 1 ? 0 : size * static_cast<std::size_t>(member + 1));
    }
    for (const Collective collective : kAll) {
      for (const Placement placement : {Placement::separate, Placement::in_place}) {
        for (const Form form : kForms) {
          const std::size_t turn = static_cast<std::size_t>(caller.rank()) + ++round;
          const Order order = turn % 2 == 0 ? Order::reversed : Order::one_after_the_other;
          const Description one_pair = gapped.description(turn, 1);
          note(first, try_call(caller, collective, Blocks(one_pair, pairs, order), one_pair.type,
                               static_cast<int>(round) % caller.size(), placement, form));
        }
      }
    }
  }
  return first;
}

TEST_CASE("types with gaps, numbers and longer numbers describe the same unequal blocks") {
  in_every_layout([](auto& caller) { return try_blocks(caller, {1, 6, 700, 9'000}); });
}

TEST_CASE("a scatterv may send elements to several members") {
  in_every_layout([](auto& caller) {
    const auto size = static_cast<std::size_t>(caller.size());
    const auto rank = static_cast<std::size_t>(caller.rank());
    std::vector<std::size_t> counts;
    std::vector<std::ptrdiff_t> displacements;
    for (std::size_t member = 0; member < size; ++member) {
      counts.push_back(member + 2);
      displacements.push_back(1);
    }
    Numbers all(size + 2);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
    Numbers own(counts[rank], kPoison);
    caller.scatterv(all.data(), own.data(), counts, DataType::int32, 0, displacements);
    return std::string(own == Numbers(all.begin() + 1, all.begin() + 1 + counts[rank])
                           ? ""
                           : "overlapping blocks were not scattered");
  });
}

TEST_CASE("blocks without data") {
  in_every_layout([](auto& caller) {
    const std::vector<std::size_t> counts(static_cast<std::size_t>(caller.size()), 0);
    std::int32_t untouched = kPoison;
    caller.allgatherv(nullptr, nullptr, counts, DataType::int32);
    caller.gatherv(&untouched, &untouched, counts, DataType::float64, 0);
    caller.scatterv(nullptr, &untouched, counts, DataType::int32, caller.size() - 1);
    return std::string(untouched == kPoison ? "" : "a call without data wrote to a buffer");
  });
}

TEST_CASE("containers, which are compared with block_counts") {
  Communicator communicator(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(communicator.size());
  const auto rank = static_cast<std::size_t>(communicator.rank());
  std::vector<std::size_t> counts;
  Numbers expected;
  for (std::size_t member = 0; member < size; ++member) {
    counts.push_back(member + 1);
    expected.insert(expected.end(), member + 1, static_cast<std::int32_t>(member));
  }
  const Numbers own(rank + 1, static_cast<std::int32_t>(rank));
  Numbers all(expected.size(), kPoison);
  communicator.allgatherv(own, all, counts);
  CHECK(all == expected);
  all.assign(all.size(), kPoison);
  communicator.gatherv(own, all, counts, communicator.size() - 1);
  CHECK((all == expected) == (rank + 1 == size));
  Numbers block(rank + 1, kPoison);
  communicator.scatterv(expected, block, counts);
  CHECK(block == own);
  Numbers longer(all.size() + 1);
  CHECK_THROWS_WITH_AS(
      communicator.allgatherv(own, longer, counts),
      fmt::format("allgather: output has {} elements, but must have {} (the sum of "
                  "block_counts); pass a container or view of that size",
                  longer.size(), all.size())
          .c_str(),
      Error);
  longer.resize(rank + 2);
  CHECK_THROWS_WITH_AS(
      communicator.allgatherv(longer, all, counts),
      fmt::format("allgather: input has {} elements, but must have {} (block_counts[{}]); "
                  "pass a container or view of that size",
                  rank + 2, rank + 1, rank)
          .c_str(),
      Error);
}

}  // namespace unequal_blocks_mpi_test
}  // namespace hycoll::tests
