#include "collectives/node/distance_agreement.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "threading/memory/node_memory.h"

// A model of a node whose parties agree, and a search through all that can happen in it: in every
// order, with every kind of run after every other, and with every value that a load may return.

namespace hycoll {
namespace distance_agreement_test {

constexpr int kMostParties = 3;
constexpr int kMostRuns = 14;
constexpr int kMostSlots = 2;
constexpr int kMostWords = kMostSlots + kMostParties;

/// What a run may be like, alike for all parties.
enum class RunKind : std::uint8_t {
  unknown,       ///< Nobody has come to it.
  meeting,       ///< Nobody leaves before all have entered; the parties ask before it.
  ahead,         ///< Parties run ahead, and ask before it.
  ahead_silent,  ///< Parties run ahead, and do not ask, as in calls for which the distance is all
                 ///< one.
};

/// What one step of a search is free in: a list of numbers, each below a bound. The search goes
/// through all lists.
class Choices {
 public:
  int choose(int bound) {
    if (next_ == taken_.size()) taken_.push_back({0, bound});
    return taken_[next_++].value;
  }
  /// The next list; false: there is none.
  bool advance() {
    next_ = 0;
    while (!taken_.empty() && taken_.back().value + 1 == taken_.back().bound) taken_.pop_back();
    if (taken_.empty()) return false;
    ++taken_.back().value;
    return true;
  }

 private:
  struct Taken {
    int value;
    int bound;
  };
  std::vector<Taken> taken_;
  std::size_t next_ = 0;
};

/// A word that one party writes and all read: its last two values. Those before are out of
/// everybody's sight, or the rules have been broken already.
struct Word {
  DistanceNotice older;
  DistanceNotice newest;
  friend auto operator<=>(const Word&, const Word&) = default;
};

struct Size {
  int parties;
  CallNumber lead;
  CallNumber runs;
};

/// Everything that counts for what happens next. `Rule` is a party's.
template <class Rule>
struct Node {
  using Knowledge = std::uint8_t;  // a bit for each word: its newest value is known

  std::array<Rule, kMostParties> rules;
  std::array<CallNumber, kMostParties> entered{};  // the last run
  std::array<RunKind, kMostRuns + 1> kinds{};      // by run; those that all have left: unknown
  std::array<Word, kMostWords> words{};            // the slots of notices, then the answers
  std::array<Knowledge, kMostParties> known{};
  /// What a party knew when it entered a run, by run.
  std::array<std::array<Knowledge, kMostRuns + 1>, kMostParties> known_at{};
  /// By slot: which parties have followed its newest notice.
  std::array<std::uint8_t, kMostSlots> followed{};

  friend auto operator<=>(const Node&, const Node&) = default;
};

/// How one party reaches the others in the model, as DistanceAgreement wants it, in its step.
template <class Rule>
class ModelBoard {
 public:
  ModelBoard(Node<Rule>& node, const Size& size, int party, Choices& choices)
      : node_(node), size_(size), party_(party), choices_(choices) {}

  int party_count() const { return size_.parties; }
  DistanceNotice notice(int slot = 0) const { return read(slot); }
  DistanceNotice answer_of(int party) const { return read(kMostSlots + party); }

  void give(const DistanceNotice& notice, int slot = 0) {
    const std::uint8_t all = static_cast<std::uint8_t>((1 << size_.parties) - 1);
    if (node_.words[at(slot)].newest.first_run > 0 && node_.followed[at(slot)] != all) {
      fault_ = "a notice is replaced before all have followed it";
    }
    for (int party = 0; party < size_.parties; ++party) {
      if (party != party_ && node_.entered[at(party)] >= notice.first_run) {
        fault_ = "a party has started the notice's run already";
      }
    }
    node_.followed[at(slot)] = 0;
    write(slot, notice);
  }
  void answer(const DistanceNotice& notice, int slot = 0) {
    node_.followed[at(slot)] |= static_cast<std::uint8_t>(1 << party_);
    write(kMostSlots + party_, notice);
  }

  /// After what the party has done before this run.
  void check_before(CallNumber run) {
    for (int slot = 0; slot < kMostSlots; ++slot) {
      const CallNumber first_run = node_.words[at(slot)].newest.first_run;
      const bool has_followed = (node_.followed[at(slot)] >> party_ & 1) != 0;
      if (has_followed && run < first_run) fault_ = "a party follows a notice too early";
      if (!has_followed && first_run > 0 && run >= first_run) {
        fault_ = "a party starts a notice's run without following it";
      }
    }
  }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  bool is_known(int word) const { return (node_.known[at(party_)] >> word & 1) != 0; }

  /// A load may return any value that is not older than what the party knows.
  DistanceNotice read(int word) const {
    const Word& value = node_.words[at(word)];
    if (!is_known(word) && value.older != value.newest && choices_.choose(2) == 0) {
      return value.older;
    }
    node_.known[at(party_)] |= static_cast<std::uint8_t>(1 << word);
    return value.newest;
  }
  void write(int word, const DistanceNotice& notice) {
    const auto bit = static_cast<std::uint8_t>(1 << word);
    for (auto& known : node_.known) known &= static_cast<std::uint8_t>(~bit);
    for (auto& of_party : node_.known_at) {
      for (auto& known : of_party) known &= static_cast<std::uint8_t>(~bit);
    }
    Word& value = node_.words[at(word)];
    value.older = std::exchange(value.newest, notice);
    node_.known[at(party_)] |= bit;
  }

  Node<Rule>& node_;
  const Size& size_;
  int party_;
  Choices& choices_;
  std::optional<std::string> fault_;
};

/// Goes through all nodes that can come to be. Parties look and give notice whenever they may.
template <class Rule>
class Search {
 public:
  Search(const Size& size, const Rule& rule) : size_(size) {
    Node<Rule> begin;
    begin.rules.fill(rule);
    open(std::move(begin));
  }

  /// The first fault that is found.
  std::optional<std::string> run() {
    while (!open_.empty() && !fault_) {
      const Node<Rule>* const node = open_.back();
      open_.pop_back();
      for (int party = 0; party < size_.parties && !fault_; ++party) go_on(*node, party);
    }
    return fault_;
  }
  std::size_t notice_count() const { return notice_count_; }

 private:
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  void open(Node<Rule>&& node) {
    const auto [place, is_new] = seen_.insert(std::move(node));
    if (is_new) open_.push_back(&*place);
  }

  /// The party leaves its run, if it may, and enters the next one.
  void go_on(const Node<Rule>& before, int party) {
    const CallNumber left = before.entered[at(party)];
    if (left == size_.runs) return;
    const bool meets = before.kinds[left] == RunKind::meeting;
    const CallNumber lead = meets ? 0 : size_.lead;
    if (left > lead) {
      for (int other = 0; other < size_.parties; ++other) {
        if (before.entered[at(other)] + lead < left) return;
      }
    }
    Choices choices;
    do {
      Node<Rule> node = before;
      if (left > lead) learn(node, party, left - lead);
      enter(node, party, left + 1, choices);
      if (fault_) return;
      open(std::move(node));
    } while (choices.advance());
  }

  /// Of the others' announcements the party has seen no later ones than it had to.
  void learn(Node<Rule>& node, int party, CallNumber run) const {
    for (int other = 0; other < size_.parties; ++other) {
      node.known[at(party)] |= node.known_at[at(other)][run];
    }
  }

  void enter(Node<Rule>& node, int party, CallNumber run, Choices& choices) {
    if (node.kinds[run] == RunKind::unknown) {
      node.kinds[run] = static_cast<RunKind>(1 + choices.choose(3));
    }
    const RunKind kind = node.kinds[run];
    if (kind != RunKind::ahead_silent) {
      ModelBoard<Rule> board(node, size_, party, choices);
      const Leaving leaving =
          kind == RunKind::meeting ? Leaving::when_all_have_entered : Leaving::ahead;
      const DistanceNotice notice_before = node.words[0].newest;
      node.rules[at(party)].before(board, party, run, leaving,
                                   [&] { return choices.choose(2) == 1; });
      board.check_before(run);
      fault_ = board.fault();
      if (node.words[0].newest != notice_before) ++notice_count_;
    }
    node.entered[at(party)] = run;
    node.known_at[at(party)][run] = node.known[at(party)];
    forget(node);
  }

  /// What can count no more is all alike.
  void forget(Node<Rule>& node) const {
    CallNumber first = node.entered[0];
    for (int party = 1; party < size_.parties; ++party) {
      first = std::min(first, node.entered[at(party)]);
    }
    for (CallNumber run = 0; run < first; ++run) {
      node.kinds[run] = RunKind::unknown;
      if (run + size_.lead >= first) continue;
      for (auto& known : node.known_at) known[run] = 0;
    }
  }

  Size size_;
  std::set<Node<Rule>> seen_;
  std::vector<const Node<Rule>*> open_;
  std::optional<std::string> fault_;
  std::size_t notice_count_ = 0;
};

/// The library's rule.
struct Agreeing {
  DistanceAgreement agreement;

  template <class Board, class IsTime>
  void before(Board& board, int party, CallNumber run, Leaving leaving, const IsTime& is_time) {
    if (const auto notice = agreement.due(board, run)) {
      return agreement.answer(board, *notice, 1);
    }
    if (party == 0) agreement.lead(board, run, leaving, is_time);
  }
  friend auto operator<=>(const Agreeing&, const Agreeing&) = default;
};

/// What the library did before decision 81: looks and results each have a slot, and what is known
/// of the others follows from the numbers of runs alone, so nobody answers to results.
struct Replacing {
  static constexpr int kLook = 0;
  static constexpr int kResult = 1;

  CallNumber lead;
  CallNumber looked = 0;
  CallNumber changed = 0;
  CallNumber seen = 0;  // of the first party: from here on it knows what all have seen

  template <class Board, class IsTime>
  void before(Board& board, int party, CallNumber run, Leaving leaving, const IsTime& is_time) {
    const DistanceNotice result = board.notice(kResult);
    if (result.first_run > changed && run >= result.first_run) {
      changed = result.first_run;
      board.answer(result, kResult);
      leaving = Leaving::ahead;
    }
    const DistanceNotice look = board.notice(kLook);
    if (look.first_run > looked && run >= look.first_run) {
      looked = look.first_run;
      seen = known_from(run, leaving, lead);
      return board.answer(look, kLook);
    }
    if (party != 0 || look.first_run > looked) return;
    if (seen != 0 && run >= seen) {
      seen = 0;
      board.give({known_from(run, leaving, lead)}, kResult);
    } else if (seen == 0 && is_time()) {
      board.give({known_from(run, leaving, lead), DistanceNotice::Kind::look}, kLook);
    }
  }
  friend auto operator<=>(const Replacing&, const Replacing&) = default;
};

TEST_CASE("every party follows every notice before the same run, whatever the order of events") {
  for (const Size& size : {Size{2, 0, 14}, Size{2, 1, 11}, Size{2, 2, 11}, Size{3, 1, 7}}) {
    CAPTURE(size.parties);
    CAPTURE(size.lead);
    Search<Agreeing> search(size, {DistanceAgreement(size.lead)});
    const std::optional<std::string> fault = search.run();
    CHECK_MESSAGE(!fault, fault.value_or(""));
    CHECK(search.notice_count() > 0);
  }
}

TEST_CASE("a rule by which nobody waits until a result has been followed replaces it") {
  const Size size{2, 2, 14};
  Search<Replacing> search(size, {.lead = size.lead});
  CHECK(search.run().value_or("none") == "a notice is replaced before all have followed it");
}

TEST_CASE("a notice for a run that is one too early comes too late") {
  const Size size{2, 2, 14};
  Search<Agreeing> search(size, {DistanceAgreement(size.lead - 1)});
  CHECK(search.run().value_or("none") == "a party has started the notice's run already");
}

}  // namespace distance_agreement_test
}  // namespace hycoll
