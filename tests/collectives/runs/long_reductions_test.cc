// Reductions of more data than hycoll packs at once, of elements that do not follow each other, in
// every form and layout: what comes out, how much memory they take, and operators that fail.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/collectives/runs/long_calls.h"
#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace long_reductions_test {

constexpr std::size_t kReducedElements = 1'300'001;  // of 8 bytes: several pieces

void add_pairs(const PairLayout& layout, const void* left, void* right, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    for (int n = 0; n < 2; ++n) {
      const std::ptrdiff_t offset =
          static_cast<std::ptrdiff_t>(i) * layout.extent + (n == 1 ? layout.second_offset : 0);
      std::uint32_t a;
      std::uint32_t b;
      std::memcpy(&a, static_cast<const std::byte*>(left) + offset, 4);
      std::memcpy(&b, static_cast<std::byte*>(right) + offset, 4);
      b += a;
      std::memcpy(static_cast<std::byte*>(right) + offset, &b, 4);
    }
  }
}

void add_spaced(void* left, void* right, int* count, MPI_Datatype* /*type*/) {
  add_pairs(kSpaced, left, right, static_cast<std::size_t>(*count));
}

/// A reduction of a vector of this member's own.
class LongReduction {
 public:
  /// As CallTrial's.
  template <class Caller>
  LongReduction(Caller& caller, Collective collective, const PairLayout& layout,
                const OwnType& own_type, const Operation& op, Placement placement)
      : rank_(caller.rank()),
        size_(caller.size()),
        collective_(collective),
        input_(layout, kReducedElements),
        output_(layout, placement == Placement::separate ? kReducedElements : 1),
        in_place_(placement == Placement::in_place) {
    void* const to = in_place_ ? input_.data() : output_.data();
    const ElementType type(own_type.handle());
    const auto members = static_cast<std::size_t>(size_);
    switch (collective) {
      case Collective::reduce:
        call_ = calls::reduce(input_.data(), to, kReducedElements, type, op, size_ - 1);
        break;
      case Collective::scan:
        call_ = calls::scan(input_.data(), to, kReducedElements, type, op);
        break;
      case Collective::exscan:
        call_ = calls::exscan(input_.data(), to, kReducedElements, type, op);
        break;
      case Collective::reduce_scatter:
        // One of them empty, and the last one the longest.
        counts_.assign(members, kReducedElements / (2 * members));
        counts_[members / 2] = 0;
        counts_.back() = 0;
        counts_.back() =
            kReducedElements - std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
        call_ = calls::reduce_scatter(input_.data(), to, counts_, type, op);
        break;
      default:
        call_ = calls::allreduce(input_.data(), to, kReducedElements, type, op);
    }
  }

  const Call& call() const { return call_; }

  void fill(int round) {
    round_ = round;
    output_.poison();
    input_.fill(member_factor(rank_, round));
  }

  std::string complaint() {
    Pairs& result = in_place_ ? input_ : output_;
    switch (collective_) {
      case Collective::reduce:
        return rank_ == size_ - 1 ? result.complaint(sum_of_factors(size_, round_)) : "";
      case Collective::scan:
        return result.complaint(sum_of_factors(rank_ + 1, round_));
      case Collective::exscan:
        return rank_ > 0 ? result.complaint(sum_of_factors(rank_, round_)) : "";
      case Collective::reduce_scatter: {
        const auto own = counts_.begin() + rank_;
        return result.complaint(sum_of_factors(size_, round_),
                                std::accumulate(counts_.begin(), own, std::size_t{0}), *own);
      }
      default:
        return result.complaint(sum_of_factors(size_, round_));
    }
  }

 private:
  int rank_;
  int size_;
  Collective collective_;
  Pairs input_;
  Pairs output_;
  bool in_place_;
  int round_ = 0;
  std::vector<std::size_t> counts_;
  Call call_;
};

/// The collectives, each in another form, alternately in place.
template <class Caller>
std::string try_reductions(Caller& caller, const PairLayout& layout, const Operation& op) {
  const OwnType type(layout);
  std::string first;
  int form = 0;
  for (const Collective collective :
       {Collective::reduce_scatter, Collective::reduce, Collective::scan, Collective::exscan,
        Collective::allreduce, Collective::reduce_scatter}) {
    const Placement placement = form % 2 == 0 ? Placement::separate : Placement::in_place;
    LongReduction trial(caller, collective, layout, type, op, placement);
    const std::string wrong = try_form(caller, trial, form % kForms);
    if (!wrong.empty()) note(first, fmt::format("{}: {}", name_of(collective), wrong));
    ++form;
  }
  return first;
}

TEST_CASE("long reductions of elements with gaps by an operator of MPI_Op_create") {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&add_spaced, 1, &op);
  in_every_layout([&](auto& caller) { return try_reductions(caller, kSpaced, Operation(op)); });
  MPI_Op_free(&op);
}

TEST_CASE("long reductions of interleaved elements by an operator in C++") {
  in_every_layout([&](auto& caller) {
    const Operation op =
        Operation::custom([](const void* left, void* right,
                             std::size_t count) { add_pairs(kInterleaved, left, right, count); },
                          Commutativity::commutative);
    return try_reductions(caller, kInterleaved, op);
  });
}

TEST_CASE("long reductions of elements that each member lays out in its own way") {
  for (const int shift : {0, 1}) {
    in_every_layout([&](auto& caller) {
      constexpr std::array kLayouts = {kPlain, kInterleaved, kSpaced};
      const PairLayout layout = kLayouts[static_cast<std::size_t>(caller.rank() + shift) % 3];
      const Operation op =
          Operation::custom([layout](const void* left, void* right,
                                     std::size_t count) { add_pairs(layout, left, right, count); },
                            Commutativity::commutative);
      return try_reductions(caller, layout, op);
    });
  }
}

/// Some members' operators fail after some elements; all learn of it, and the next call is right.
template <class Caller>
std::string try_failing(Caller& caller) {
  const OwnType type(kSpaced);
  std::string first;
  for (int round = 0; round < 3; ++round) {
    // Some member has more to do than that.
    std::size_t left_to_do = kReducedElements / 3;
    const Operation failing = Operation::custom(
        [&](const void* left, void* right, std::size_t count) {
          if (left_to_do < count) throw std::runtime_error("enough");
          left_to_do -= count;
          add_pairs(kSpaced, left, right, count);
        },
        Commutativity::non_commutative);
    LongReduction trial(caller, Collective::allreduce, kSpaced, type, failing, Placement::separate);
    trial.fill(round);
    try {
      if (round == 0) caller.run(trial.call());
      if (round == 1) caller.start(trial.call()).wait();
      if (round == 2) make_driven(caller, trial.call());
      note(first, "the operator's failure is unknown");
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::user_operator) note(first, error.what());
    }
    if (caller.allreduce(std::int64_t{1}) != caller.size()) note(first, "the next call is wrong");
  }
  return first;
}

TEST_CASE("an operator that fails in the midst of a long call") {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size == 1) return;  // nothing is combined
  in_every_layout([](auto& caller) { return try_failing(caller); });
}

}  // namespace long_reductions_test
}  // namespace hycoll::tests
