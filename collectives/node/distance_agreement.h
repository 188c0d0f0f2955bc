#ifndef HYCOLL_COLLECTIVES_NODE_DISTANCE_AGREEMENT_H_
#define HYCOLL_COLLECTIVES_NODE_DISTANCE_AGREEMENT_H_

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/errors.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// What the first party tells all to do before run `first_run`. A party answers with the same and
/// what it has seen.
struct DistanceNotice {
  enum class Kind : std::uint8_t {
    result,  ///< Of the last look: `handoff_ns` holds from now on; 0: what has held.
    look,    ///< All measure.
  };

  CallNumber first_run = 0;
  Kind kind = Kind::result;
  std::uint16_t handoff_ns = 0;

  /// A word. 0 is the result that all have followed at first.
  std::uint64_t packed() const noexcept {
    return first_run << kRunShift | static_cast<std::uint64_t>(kind) << kKindShift | handoff_ns;
  }
  static DistanceNotice unpack(std::uint64_t packed) noexcept {
    return {.first_run = packed >> kRunShift,
            .kind = static_cast<Kind>(packed >> kKindShift & 1),
            .handoff_ns = static_cast<std::uint16_t>(packed)};
  }
  friend auto operator<=>(const DistanceNotice&, const DistanceNotice&) = default;

 private:
  static constexpr int kKindShift = 16;
  static constexpr int kRunShift = 17;
};

/// How the parties of a node come to do the same before the same run, as one of them sees it: look
/// at their distance, then change their ways by what the look has shown. It measures nothing and
/// knows no clock (DistanceLooks), and reaches the others through a `Board`, so a test can go
/// through all interleavings.
///
/// A board has room for one notice, and for one answer of each party. Two rules make that enough:
/// - *Known in time*: a notice names a run that nobody starts without having seen it
///   (known_from()).
/// - *Never replaced early*: the first party gives a notice when it has read the answers of all
///   parties to the last one. A party answers when it has done what the notice says.
///
///   class Board {
///     DistanceNotice notice() const;              // the last one
///     void give(const DistanceNotice&);           // by the first party
///     void answer(const DistanceNotice&);         // this party's
///     DistanceNotice answer_of(int party) const;  // the last one
///     int party_count() const;
///   };
///
/// Whoever knows that a party has started a run knows what it has written before, and whoever has
/// read an answer knows what its party has done before.
class DistanceAgreement {
 public:
  /// `maximum_lead`: how far members run ahead.
  explicit DistanceAgreement(CallNumber maximum_lead = kMaximumLead) noexcept
      : maximum_lead_(maximum_lead) {}

  /// What has to be done before run `run`, and then to be answered, if anything. All parties ask
  /// before the same runs.
  template <class Board>
  std::optional<DistanceNotice> due(const Board& board, CallNumber run) {
    const DistanceNotice notice = board.notice();
    const CallNumber previous = std::exchange(previous_, run);
    if (notice.first_run == answered_.first_run || run < notice.first_run) return std::nullopt;
    HYCOLL_ASSERT(previous < notice.first_run, "a notice is known before its run starts");
    HYCOLL_ASSERT(notice.kind != answered_.kind, "a notice stays until all have answered");
    return notice;
  }

  /// `handoff_ns`: what a look has shown; 0: nothing.
  template <class Board>
  void answer(Board& board, const DistanceNotice& notice, std::uint16_t handoff_ns = 0) {
    answered_ = {notice.first_run, notice.kind, handoff_ns};
    board.answer(answered_);
  }

  /// Of the first party, where nothing is due before run `run`: gives the next notice, if all have
  /// answered the last one. It is the result of the last look, or a look if is_time() says so.
  /// `leaving` says how this run ends. Whether it has called for a look.
  template <class Board, class IsTime>
  bool lead(Board& board, CallNumber run, Leaving leaving, const IsTime& is_time) const {
    const DistanceNotice last = board.notice();
    const bool is_result = last.kind == DistanceNotice::Kind::look;
    if (!is_result && !is_time()) return false;
    DistanceNotice next = {.first_run = known_from(run, leaving, maximum_lead_),
                           .kind = DistanceNotice::Kind::look};
    if (is_result) next.kind = DistanceNotice::Kind::result;
    for (int party = 0; party < board.party_count(); ++party) {
      const DistanceNotice answer = board.answer_of(party);
      if (answer.first_run != last.first_run) return false;
      next.handoff_ns = std::max(next.handoff_ns, answer.handoff_ns);
    }
    board.give(next);
    return !is_result;
  }

  friend auto operator<=>(const DistanceAgreement&, const DistanceAgreement&) = default;

 private:
  CallNumber maximum_lead_;
  DistanceNotice answered_;
  CallNumber previous_ = 0;  // before which it has asked last
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_NODE_DISTANCE_AGREEMENT_H_
