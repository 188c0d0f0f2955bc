// Gather and scatter under real MPI: every algorithm in the layout processes, staged in slices too,
// and blocks that different types describe, in all layouts.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "tests/collectives/calls/described_blocks.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"
#include "tests/support/process_options.h"
#include "tests/support/sanitized.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace gather_mpi_test {

constexpr Collective kBoth[] = {Collective::gather, Collective::scatter};

enum class Form { blocking, nonblocking };

/// One member's buffers in a gather or a scatter, which it describes in its own way.
class DescribedTrial {
 public:
  DescribedTrial(Collective collective, const Description& as, std::size_t pairs, int rank,
                 int members, int root, Placement placement)
      : collective_(collective),
        as_(as),
        pairs_(pairs),
        rank_(rank),
        members_(members),
        root_(root),
        is_in_place_(placement == Placement::in_place && rank == root),
        all_(rank == root ? as.blocks(pairs, members) : Numbers()),
        own_(pairs * as.extent, kPoison) {
    if (collective_ == Collective::scatter) return;
    if (!is_in_place_) {
      as_.fill(own_.data(), pairs_, rank_);
      all_.assign(all_.size(), kPoison);
    } else {
      all_.assign(all_.size(), kPoison);
      as_.fill(all_.data() + own_.size() * static_cast<std::size_t>(rank_), pairs_, rank_);
    }
  }

  template <class Caller>
  void make(Caller& caller, Form form) {
    std::int32_t* const all = rank_ == root_ ? all_.data() : nullptr;
    std::int32_t* const own = is_in_place_ ? all : own_.data();
    const bool gathers = collective_ == Collective::gather;
    const Call call = gathers ? calls::gather(own, all, as_.count, as_.type, root_)
                              : calls::scatter(all, own, as_.count, as_.type, root_);
    if (form == Form::blocking) {
      run_by_name(caller, call);
    } else {
      start_by_name(caller, call).wait();
    }
  }

  std::string complaint() const {
    Numbers own(own_.size(), kPoison);
    if (!is_in_place_) as_.fill(own.data(), pairs_, rank_);
    if (own_ == own && (rank_ != root_ || all_ == as_.blocks(pairs_, members_))) return "";
    return fmt::format("{} of {} pairs, {} numbers apart, root {}, is wrong on member {}{}",
                       name_of(collective_), pairs_, as_.extent, root_, rank_,
                       is_in_place_ ? ", in place" : "");
  }

 private:
  Collective collective_;
  Description as_;
  std::size_t pairs_;
  int rank_;
  int members_;
  int root_;
  bool is_in_place_;
  Numbers all_;
  Numbers own_;
};

/// Members describe their data by a type with gaps, by numbers, or by longer numbers.
template <class Caller>
std::string try_types(Caller& caller, std::initializer_list<std::size_t> sizes) {
  const GappedType gapped;
  std::string first;
  std::size_t round = 0;
  for (const std::size_t pairs : sizes) {
    for (const Collective collective : kBoth) {
      for (const Placement placement : {Placement::separate, Placement::in_place}) {
        for (const Form form : {Form::blocking, Form::nonblocking, Form::blocking}) {
          const std::size_t turn = static_cast<std::size_t>(caller.rank()) + ++round;
          const int root = static_cast<int>(round) % caller.size();
          DescribedTrial trial(collective, gapped.description(turn, pairs), pairs, caller.rank(),
                               caller.size(), root, placement);
          trial.make(caller, form);
          note(first, trial.complaint());
        }
      }
    }
  }
  return first;
}

TEST_CASE("types with gaps, numbers and longer numbers describe the same blocks") {
  in_every_layout([](auto& caller) { return try_types(caller, {1, 5, 700, 9'000}); });
}

TEST_CASE("blocks without data") {
  in_every_layout([](auto& caller) {
    std::int32_t untouched = kPoison;
    caller.gather(nullptr, nullptr, 0, DataType::int32, 0);
    caller.scatter(&untouched, &untouched, 0, DataType::float64, caller.size() - 1);
    return std::string(untouched == kPoison ? "" : "a call without data wrote to a buffer");
  });
}

/// From and to the first, the middle and the last member, in every form; a part of these.
std::string try_roots(Communicator& communicator, Collective collective, std::size_t count,
                      Sample& sample) {
  std::string first;
  int round = 0;
  for (const int root : {0, communicator.size() / 2, communicator.size() - 1}) {
    const CollectiveReference reference{.collective = collective,
                                        .member_count = communicator.size(),
                                        .root = root,
                                        .count = count,
                                        .block_counts = {}};
    for (const Placement placement : {Placement::separate, Placement::in_place}) {
      if (!sample.takes_next()) continue;
      CallTrial trial(reference, communicator.rank(), placement);
      note(first, call_in_every_form(communicator, trial, round));
    }
  }
  return first;
}

TEST_CASE("every algorithm among processes, in slices of their staging, and of data with gaps") {
  Sample sample(static_cast<std::uint64_t>(world_size()));
  for (const Collective collective : kBoth) {
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      for (const int nodes : {1, 2, 3}) {
        CAPTURE(name_of(collective));
        CAPTURE(algorithm.name);
        CAPTURE(nodes);
        Options options = options_with(nodes);
        options.algorithm = fmt::format("{}:{}", name_of(collective), algorithm.name);
        options.staging_kib = 64;
        Communicator communicator(MPI_COMM_WORLD, options);
        for (const std::size_t count : {std::size_t{1}, std::size_t{90}, std::size_t{9'000}}) {
          if (algorithm.name.starts_with("lines") && count > 90) continue;
          CHECK(try_roots(communicator, collective, count, sample) == "");
        }
        if (sample.takes_next()) CHECK(try_types(communicator, {40}) == "");
      }
    }
  }
}

}  // namespace gather_mpi_test
}  // namespace hycoll::tests
