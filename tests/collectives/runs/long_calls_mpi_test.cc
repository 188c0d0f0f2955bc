// Broadcasts and reductions of more data than hycoll packs at once, of derived datatypes, in every
// form and layout, several under way at a time: what comes out, and how much memory they take.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/support/allocated_memory.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace {

/// What so many calls may take for a piece of the input, and of the output, and their plans. The
/// members of a team allocate in one process, and not in step, so theirs is not looked at.
std::size_t most_bytes(const Communicator& /*caller*/, int calls) {
  return static_cast<std::size_t>(calls) * (std::size_t{14} << 20);
}
std::size_t most_bytes(const Member& /*caller*/, int /*calls*/) { return SIZE_MAX; }

/// The ways to make a call: blocking, nonblocking, driven, persistent.
constexpr int kForms = 4;

/// Two numbers, so far apart, in elements that are so far apart.
struct Layout {
  std::ptrdiff_t second_offset;
  std::ptrdiff_t extent;
};
constexpr Layout kPlain{4, 8};  // moved and reduced where they are
constexpr Layout kSpaced{8, 16};
constexpr Layout kInterleaved{28, 8};

class OwnType {
 public:
  explicit OwnType(const Layout& layout) {
    const int lengths[] = {1, 1};
    const MPI_Aint offsets[] = {0, layout.second_offset};
    MPI_Datatype pair = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, lengths, offsets, MPI_UINT32_T, &pair);
    MPI_Type_create_resized(pair, 0, layout.extent, &handle_);
    MPI_Type_commit(&handle_);
    MPI_Type_free(&pair);
  }
  ~OwnType() { MPI_Type_free(&handle_); }
  OwnType(const OwnType&) = delete;
  OwnType& operator=(const OwnType&) = delete;
  MPI_Datatype handle() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

/// A number is the product of one that depends on its place, and one that depends on the rest.
std::uint32_t place_factor(std::size_t element, int number) {
  return static_cast<std::uint32_t>(element * 2 + static_cast<std::size_t>(number)) *
         2'654'435'761u;
}
std::uint32_t member_factor(int member, int round) {
  return static_cast<std::uint32_t>(member * 1'000 + round * 7 + 1);
}
/// Of the members [0, end).
std::uint32_t sum_of_factors(int end, int round) {
  std::uint32_t sum = 0;
  for (int member = 0; member < end; ++member) sum += member_factor(member, round);
  return sum;
}

constexpr std::uint32_t kPoison = 0xdeadbeef;

/// Pairs in memory of their own, with what lies between them poisoned.
class Pairs {
 public:
  Pairs(const Layout& layout, std::size_t count) : layout_(layout), count_(count) {
    const std::size_t span = (count - 1) * static_cast<std::size_t>(layout.extent) +
                             static_cast<std::size_t>(layout.second_offset) + 4;
    words_.assign((span + 3) / 4, kPoison);
  }

  void* data() { return words_.data(); }
  void* at(std::size_t element) {
    return words_.data() + element * static_cast<std::size_t>(layout_.extent) / 4;
  }
  void fill(std::uint32_t factor) {
    for (std::size_t e = 0; e < count_; ++e) {
      for (int n = 0; n < 2; ++n) word(e, n) = place_factor(e, n) * factor;
    }
  }
  void poison() { std::fill(words_.begin(), words_.end(), kPoison); }

  /// Whether the first `count` elements are those from `first` on of a vector with this factor.
  std::string complaint(std::uint32_t factor, std::size_t first, std::size_t count) {
    for (std::size_t e = 0; e < count; ++e) {
      for (int n = 0; n < 2; ++n) {
        const std::uint32_t expected = place_factor(first + e, n) * factor;
        if (word(e, n) == expected) continue;
        return fmt::format("number {} of element {} is {}, not {}", n, e, word(e, n), expected);
      }
    }
    return "";
  }
  std::string complaint(std::uint32_t factor) { return complaint(factor, 0, count_); }

  /// Whether all but the pairs' words is poison still. Not for interleaved ones.
  std::string complaint_about_gaps() {
    for (std::size_t e = 0; e + 1 < count_; ++e) {
      const std::size_t word = e * static_cast<std::size_t>(layout_.extent) / 4 + 1;
      if (words_[word] != kPoison) return fmt::format("a gap was written, after element {}", e);
    }
    return "";
  }

 private:
  std::uint32_t& word(std::size_t element, int number) {
    const std::size_t offset = element * static_cast<std::size_t>(layout_.extent) +
                               static_cast<std::size_t>(number * layout_.second_offset);
    return words_[offset / 4];
  }

  Layout layout_;
  std::size_t count_;
  std::vector<std::uint32_t> words_;
};

/// 20 MB: several pieces, of different lengths.
constexpr std::size_t kMovedElements = 2'500'001;    // of 8 bytes
constexpr std::size_t kReducedElements = 1'300'001;  // of 8 bytes, too

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

/// A call made in some form, with the memory that it takes.
template <class Caller, class Trial>
std::string try_form(Caller& caller, Trial& trial, int form) {
  std::string first;
  const PeakSince peak;
  const auto make = [&](int round, const auto& run) {
    trial.fill(round);
    run();
    note(first, trial.complaint());
  };
  if (form == 0) make(1, [&] { caller.run(trial.call()); });
  if (form == 1) make(2, [&] { caller.start(trial.call()).wait(); });
  if (form == 2) make(3, [&] { make_driven(caller, trial.call()); });
  if (form == 3) {
    Persistent persistent = caller.prepare(trial.call());
    for (int start = 0; start < 3; ++start) {
      make(4 + start, [&] {
        if (start == 1) return persistent.run();
        persistent.start();
        persistent.wait();
      });
    }
  }
  note(first, peak.complaint(most_bytes(caller, 1)));
  return first.empty() ? "" : fmt::format("form {}: {}", form, first);
}

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

void add_pairs(const Layout& layout, const void* left, void* right, std::size_t count) {
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
  LongReduction(Caller& caller, Collective collective, const Layout& layout,
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
std::string try_reductions(Caller& caller, const Layout& layout, const Operation& op) {
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
      const Layout layout = kLayouts[static_cast<std::size_t>(caller.rank() + shift) % 3];
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

}  // namespace
}  // namespace hycoll::tests
