// Allgathers, gathers, scatters and all-to-alls of more data than hycoll packs at once, whose
// blocks need not follow each other, in every form and layout: what comes out, that nothing else is
// touched, and how much memory they take.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "tests/collectives/runs/long_calls.h"
#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace long_blocks_test {

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
  PairLayout layout_;
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

}  // namespace long_blocks_test
}  // namespace hycoll::tests
