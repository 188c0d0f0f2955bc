// Broadcasts of more data than hycoll packs at once, in every form and layout, several under way at
// a time: what comes out, and how much memory they take.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/collectives/runs/long_calls.h"
#include "tests/support/allocated_memory.h"
#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace long_broadcasts_test {

/// 20 MB: several pieces, of different lengths.
constexpr std::size_t kMovedElements = 2'500'001;  // of 8 bytes

/// What members describe a broadcast's data by.
enum class Described { as_pairs, as_numbers, as_both };

/// A broadcast of a vector of this member's own.
class LongBroadcast {
 public:
  template <class Caller>
  LongBroadcast(Caller& caller, const OwnType& type, Described described, int root)
      : root_(root), is_root_(caller.rank() == root) {
    const bool is_even = (caller.rank() + root) % 2 == 0;
    is_plain_ = described == Described::as_numbers || (described == Described::as_both && !is_even);
    if (is_plain_) {
      numbers_.resize(2 * kMovedElements);
      call_ = calls::broadcast(numbers_.data(), numbers_.size(), ElementType(MPI_UINT32_T), root);
    } else {
      pairs_.emplace(kSpaced, kMovedElements);
      call_ = calls::broadcast(pairs_->data(), kMovedElements, ElementType(type.handle()), root);
    }
  }

  const Call& call() const { return call_; }

  void fill(int round) {
    factor_ = member_factor(root_, round);
    if (!is_plain_) {
      pairs_->poison();
      if (is_root_) pairs_->fill(factor_);
      return;
    }
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      numbers_[i] = is_root_ ? number(i) : kPoison;
    }
  }

  std::string complaint() {
    if (!is_plain_) {
      const std::string wrong = pairs_->complaint(factor_);
      return wrong.empty() ? pairs_->complaint_about_gaps() : wrong;
    }
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] != number(i)) return fmt::format("number {} is wrong", i);
    }
    return "";
  }

 private:
  std::uint32_t number(std::size_t index) const {
    return place_factor(index / 2, static_cast<int>(index % 2)) * factor_;
  }

  int root_;
  bool is_root_;
  bool is_plain_ = false;
  std::uint32_t factor_ = 0;
  std::vector<std::uint32_t> numbers_;
  std::optional<Pairs> pairs_;
  Call call_;
};

TEST_CASE("long broadcasts of data that some, all or none of the members pack") {
  in_every_layout([](auto& caller) {
    const OwnType type(kSpaced);
    std::string first;
    for (const Described described :
         {Described::as_pairs, Described::as_both, Described::as_numbers}) {
      const int root = described == Described::as_pairs ? caller.size() - 1 : 0;
      LongBroadcast trial(caller, type, described, root);
      for (int form = 0; form < kForms; ++form) note(first, try_form(caller, trial, form));
    }
    return first;
  });
}

/// Short ones before, between and after long ones, completed in another order.
template <class Caller>
std::string try_several(Caller& caller) {
  std::string first;
  const OwnType type(kSpaced);
  LongBroadcast packed(caller, type, Described::as_both, 0);
  LongBroadcast plain(caller, type, Described::as_numbers, caller.size() - 1);
  LongBroadcast last(caller, type, Described::as_pairs, 0);
  std::vector<std::vector<std::int64_t>> sums(4, std::vector<std::int64_t>(1'000));
  for (int round = 0; round < 2; ++round) {
    for (auto& sum : sums) sum.assign(sum.size(), caller.rank() + round);
    packed.fill(round);
    plain.fill(round);
    last.fill(round);
    const PeakSince peak;
    {
      std::vector<Request> requests;
      requests.push_back(caller.iallreduce(sums[0]));
      requests.push_back(caller.start(packed.call()));
      requests.push_back(caller.iallreduce(sums[1]));
      requests.push_back(caller.start(plain.call()));
      requests.push_back(caller.start(last.call()));
      requests.push_back(caller.iallreduce(sums[2]));
      while (!requests[4].test()) std::this_thread::yield();
      for (auto request = requests.rbegin(); request != requests.rend(); ++request) request->wait();
    }
    caller.allreduce(sums[3]);
    note(first, peak.complaint(most_bytes(caller, 3)));
    note(first, packed.complaint());
    note(first, plain.complaint());
    note(first, last.complaint());
    const int size = caller.size();
    const std::int64_t sum = size * (size - 1) / 2 + size * round;
    for (const auto& vector : sums) {
      if (vector != std::vector<std::int64_t>(1'000, sum)) note(first, "a short call is wrong");
    }
  }
  return first;
}

TEST_CASE("several calls under way, completed out of order") {
  in_every_layout([](auto& caller) { return try_several(caller); });
}

}  // namespace long_broadcasts_test
}  // namespace hycoll::tests
