#ifndef HYCOLL_TESTS_COLLECTIVES_RUNS_LONG_CALLS_H_
#define HYCOLL_TESTS_COLLECTIVES_RUNS_LONG_CALLS_H_

#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/allocated_memory.h"
#include "tests/support/call_sweeps.h"

/// What tests of long calls share: elements that lie apart, numbers that tell where they come from,
/// and the ways to make a call.
namespace hycoll::tests {

/// What so many calls may take for a piece of the input, and of the output, and their plans. The
/// members of a team allocate in one process, and not in step, so theirs is not looked at.
inline constexpr std::size_t kMostOfCall = std::size_t{14} << 20;
inline std::size_t most_bytes(const Communicator& /*caller*/, int calls,
                              std::size_t each = kMostOfCall) {
  return static_cast<std::size_t>(calls) * each;
}
inline std::size_t most_bytes(const Member& /*caller*/, int /*calls*/, std::size_t /*each*/ = 0) {
  return SIZE_MAX;
}

/// The ways to make a call: blocking, nonblocking, driven, persistent.
inline constexpr int kForms = 4;

/// Two numbers, so far apart, in elements that are so far apart.
struct PairLayout {
  std::ptrdiff_t second_offset;
  std::ptrdiff_t extent;
};
inline constexpr PairLayout kPlain{4, 8};  // moved and reduced where they are
inline constexpr PairLayout kSpaced{8, 16};
inline constexpr PairLayout kInterleaved{28, 8};

class OwnType {
 public:
  explicit OwnType(const PairLayout& layout) {
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
inline std::uint32_t place_factor(std::size_t element, int number) {
  return static_cast<std::uint32_t>(element * 2 + static_cast<std::size_t>(number)) *
         2'654'435'761u;
}
inline std::uint32_t member_factor(int member, int round) {
  return static_cast<std::uint32_t>(member * 1'000 + round * 7 + 1);
}
/// Of the members [0, end).
inline std::uint32_t sum_of_factors(int end, int round) {
  std::uint32_t sum = 0;
  for (int member = 0; member < end; ++member) sum += member_factor(member, round);
  return sum;
}

inline constexpr std::uint32_t kPoison = 0xdeadbeef;

/// Pairs in memory of their own, with what lies between them poisoned.
class Pairs {
 public:
  Pairs(const PairLayout& layout, std::size_t count) : layout_(layout), count_(count) {
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

  PairLayout layout_;
  std::size_t count_;
  std::vector<std::uint32_t> words_;
};

/// A call made in some form, with the memory that it takes.
template <class Caller, class Trial>
std::string try_form(Caller& caller, Trial& trial, int form, std::size_t most) {
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
  note(first, peak.complaint(most));
  return first.empty() ? "" : fmt::format("form {}: {}", form, first);
}
template <class Caller, class Trial>
std::string try_form(Caller& caller, Trial& trial, int form) {
  return try_form(caller, trial, form, most_bytes(caller, 1));
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_COLLECTIVES_RUNS_LONG_CALLS_H_
