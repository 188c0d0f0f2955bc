// Calls on more data than hycoll packs at once, of derived datatypes and of blocks that do not
// follow each other, in every form and layout, several under way at a time: what comes out, and how
// much memory they take.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>
#include <sys/mman.h>
#include <unistd.h>

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
#include <span>
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
constexpr std::size_t kMostOfCall = std::size_t{14} << 20;
std::size_t most_bytes(const Communicator& /*caller*/, int calls, std::size_t each = kMostOfCall) {
  return static_cast<std::size_t>(calls) * each;
}
std::size_t most_bytes(const Member& /*caller*/, int /*calls*/, std::size_t /*each*/ = 0) {
  return SIZE_MAX;
}

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

/// Words that end where a page begins that nobody may touch.
class GuardedWords {
 public:
  explicit GuardedWords(std::size_t count) {
    const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t size_bytes = (count * 4 + page_bytes - 1) / page_bytes * page_bytes;
    mapped_bytes_ = size_bytes + page_bytes;
    mapping_ =
        mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(mapping_ != MAP_FAILED);
    std::byte* const guard = static_cast<std::byte*>(mapping_) + size_bytes;
    REQUIRE(mprotect(guard, page_bytes, PROT_NONE) == 0);
    words_ = {reinterpret_cast<std::uint32_t*>(guard) - count, count};
  }
  ~GuardedWords() { munmap(mapping_, mapped_bytes_); }
  GuardedWords(const GuardedWords&) = delete;
  GuardedWords& operator=(const GuardedWords&) = delete;

  /// The last ones.
  std::span<std::uint32_t> last(std::size_t count) const { return words_.last(count); }
  std::size_t size() const { return words_.size(); }

 private:
  std::size_t mapped_bytes_ = 0;
  void* mapping_ = nullptr;
  std::span<std::uint32_t> words_;
};

/// 9.6 MB, in pieces of a fifth of it or less.
constexpr std::size_t kBlockElements = 1'200'001;  // of 8 bytes
constexpr std::size_t kMostPieceBytes = std::size_t{7} << 20;

/// A member's buffers, of one call after another.
struct LongBuffers {
  explicit LongBuffers(int member_count)
      : all((kBlockElements + 2 * static_cast<std::size_t>(member_count)) * 4), own(all.size()) {}
  GuardedWords all;
  GuardedWords own;
};

bool has_rows(Collective collective) { return collective == Collective::alltoall; }

/// An allgather, gather or scatter of unequal blocks, or an all-to-all, whose members describe the
/// blocks differently: with gaps in the elements or not, one after the other or in the reverse
/// order and apart.
class LongBlocks {
 public:
  template <class Caller>
  LongBlocks(Caller& caller, const LongBuffers& buffers, Collective collective, int shift,
             Placement placement)
      : rank_(caller.rank()),
        size_(caller.size()),
        root_(shift % caller.size()),
        collective_(collective),
        has_all_(collective == Collective::allgather || collective == Collective::alltoall ||
                 caller.rank() == root_),
        in_place_(placement == Placement::in_place && has_all_),
        layout_((caller.rank() + shift) % 2 == 0 ? kPlain : kSpaced),
        type_(layout_) {
    set_up_blocks((caller.rank() + shift) / 2 % 2 != 0);
    all_ = buffers.all.last(words_of(all_elements_));
    own_ = buffers.own.last(words_of(own_elements()));
    const bool gathers = collective != Collective::scatter;
    std::uint32_t* const all = has_all_ ? all_.data() : nullptr;
    std::uint32_t* const own = in_place_ ? all : own_.data();
    call_ = {.collective = collective,
             .input = gathers ? own : all,
             .output = gathers ? all : own,
             .type = ElementType(type_.handle()),
             .root = root_};
    if (has_rows(collective)) {
      call_.count = counts_[0];
    } else {
      call_.block_counts = counts_;
      call_.displacements = places_;
    }
  }

  const Call& call() const { return call_; }

  void fill(int round) {
    round_ = round;
    std::ranges::fill(all_, kPoison);
    std::ranges::fill(own_, kPoison);
    each_input([&](std::span<std::uint32_t> words, std::ptrdiff_t place, std::size_t count,
                   const Sent& sent) {
      each_number(words, place, count, sent,
                  [](std::uint32_t& word, std::uint32_t number) { word = number; });
    });
  }

  /// Takes what is right out of the buffers, after which nothing may be left.
  std::string complaint() {
    bool is_right = true;
    const auto take = [&](std::span<std::uint32_t> words, std::ptrdiff_t place, std::size_t count,
                          const Sent& sent) {
      each_number(words, place, count, sent, [&](std::uint32_t& word, std::uint32_t number) {
        is_right = is_right && word == number;
        word = kPoison;
      });
    };
    each_output(take);
    if (!is_right) return "the result is wrong";
    // What a scatter in place sends stays, too.
    if (!in_place_ || collective_ == Collective::scatter) each_input(take);
    if (!is_right) return "the input has changed";
    const auto is_poison = [](std::uint32_t word) { return word == kPoison; };
    const bool is_left_alone =
        std::ranges::all_of(all_, is_poison) && std::ranges::all_of(own_, is_poison);
    return is_left_alone ? "" : "what is no block's was written";
  }

 private:
  struct Sent {
    int from;
    int to;
  };

  void set_up_blocks(bool is_displaced) {
    const auto members = static_cast<std::size_t>(size_);
    counts_.assign(members, kBlockElements / members + 1);
    if (!has_rows(collective_)) {
      counts_.assign(members, kBlockElements / (2 * members));
      counts_[members / 2] = 0;
      counts_.back() = 0;
      counts_.back() =
          kBlockElements - std::accumulate(counts_.begin(), counts_.end(), std::size_t{0});
    }
    places_.resize(members);
    const bool is_apart = is_displaced && !has_rows(collective_);
    for (std::size_t i = 0; i < members; ++i) {
      const std::size_t member = is_apart ? members - 1 - i : i;
      if (is_apart) ++all_elements_;
      places_[member] = static_cast<std::ptrdiff_t>(all_elements_);
      all_elements_ += counts_[member];
    }
  }

  std::size_t own_elements() const {
    return has_rows(collective_) ? all_elements_ : counts_[static_cast<std::size_t>(rank_)];
  }
  /// Up to the last number.
  std::size_t words_of(std::size_t elements) const {
    const auto second = static_cast<std::size_t>(layout_.second_offset) / 4;
    return elements == 0 ? 0 : (elements - 1) * element_words() + second + 1;
  }
  std::size_t element_words() const { return static_cast<std::size_t>(layout_.extent) / 4; }

  /// Calls visit(words, number) for each number of a block, which one member sends to another one,
  /// or to all.
  template <class Visit>
  void each_number(std::span<std::uint32_t> words, std::ptrdiff_t place, std::size_t count,
                   const Sent& sent, const Visit& visit) const {
    const std::uint32_t factor = member_factor(sent.from + sent.to * size_, round_);
    for (std::size_t e = 0; e < count; ++e) {
      const std::size_t first = (static_cast<std::size_t>(place) + e) * element_words();
      for (int n = 0; n < 2; ++n) {
        const auto offset = static_cast<std::size_t>(n * layout_.second_offset) / 4;
        visit(words[first + offset], place_factor(e, n) * factor);
      }
    }
  }

  /// Calls visit(words, place, count, sent) for each block that the member passes, and
  /// that it gets.
  template <class Visit>
  void each_input(const Visit& visit) const {
    for (int member = 0; member < size_; ++member) {
      const auto m = static_cast<std::size_t>(member);
      const bool is_own = member == rank_;
      if (has_rows(collective_)) {
        visit(in_place_ ? all_ : own_, places_[m], counts_[m], Sent{rank_, member});
      } else if (collective_ == Collective::scatter) {
        if (has_all_) visit(all_, places_[m], counts_[m], Sent{member, 0});
      } else if (is_own) {
        visit(in_place_ ? all_ : own_, in_place_ ? places_[m] : 0, counts_[m], Sent{member, 0});
      }
    }
  }
  template <class Visit>
  void each_output(const Visit& visit) const {
    for (int member = 0; member < size_; ++member) {
      const auto m = static_cast<std::size_t>(member);
      if (has_rows(collective_)) {
        visit(all_, places_[m], counts_[m], Sent{member, rank_});
      } else if (collective_ != Collective::scatter) {
        if (has_all_) visit(all_, places_[m], counts_[m], Sent{member, 0});
      } else if (member == rank_ && !in_place_) {
        visit(own_, 0, counts_[m], Sent{member, 0});
      }
    }
  }

  int rank_;
  int size_;
  int root_;
  Collective collective_;
  bool has_all_;
  bool in_place_;
  Layout layout_;
  OwnType type_;
  int round_ = 0;
  std::vector<std::size_t> counts_;
  std::vector<std::ptrdiff_t> places_;
  std::size_t all_elements_ = 0;
  std::span<std::uint32_t> all_;
  std::span<std::uint32_t> own_;
  Call call_;
};

/// The collectives, in place and not, each in another form.
template <class Caller>
std::string try_blocks(Caller& caller) {
  const LongBuffers buffers(caller.size());
  std::string first;
  int shift = 0;
  for (const Placement placement : {Placement::separate, Placement::in_place}) {
    for (const Collective collective :
         {Collective::allgather, Collective::gather, Collective::scatter, Collective::alltoall}) {
      LongBlocks trial(caller, buffers, collective, shift, placement);
      const std::string wrong = try_form(caller, trial, (shift + shift / kForms) % kForms,
                                         most_bytes(caller, 1, kMostPieceBytes));
      if (!wrong.empty()) note(first, fmt::format("{}: {}", name_of(collective), wrong));
      ++shift;
    }
  }
  return first;
}

TEST_CASE("long blocks that some members describe with gaps, or have in another order and apart") {
  in_every_layout([](auto& caller) { return try_blocks(caller); });
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
