#ifndef HYCOLL_THREADING_MEMORY_CALL_NUMBER_H_
#define HYCOLL_THREADING_MEMORY_CALL_NUMBER_H_

#include <cstddef>
#include <cstdint>

namespace hycoll {

/// The number of a collective call on one communicator or team: 1, 2, 3, ... alike on all members.
using CallNumber = std::uint64_t;

/// How far a member may run ahead: it may leave a call that nobody waits for it in (Program) when
/// all members of its node have entered the call that lies so many calls back.
inline constexpr CallNumber kMaximumLead = 6;

/// When members leave a run.
enum class Leaving : std::uint8_t {
  when_all_have_entered,
  ahead,  ///< Some may leave before others have entered it, or one of the runs before.
};

/// The first run that no member starts without knowing what another one has written before it
/// entered run `run`: whoever starts a run has left the one before.
constexpr CallNumber known_from(CallNumber run, Leaving leaving,
                                CallNumber maximum_lead = kMaximumLead) noexcept {
  return run + 1 + (leaving == Leaving::ahead ? maximum_lead : 0);
}

/// The sets of what is kept for several calls: signatures, lines, failures. A call uses set
/// call % kCallSets, and may overwrite what it finds there. Why that is safe: whoever starts call c
/// has left c - 1, so every member of its node has entered c - 1 - kMaximumLead and left all calls
/// before. What set c % kCallSets holds is of call c - kCallSets = c - 2 - kMaximumLead or older,
/// which nobody reads any more.
inline constexpr std::size_t kCallSets = kMaximumLead + 2;

}  // namespace hycoll

#endif  // HYCOLL_THREADING_MEMORY_CALL_NUMBER_H_
