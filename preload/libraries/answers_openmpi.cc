// What Open MPI does with a call in which a process makes a mistake: it looks at MPI_IN_PLACE, at
// null addresses never, and in two collectives at equal addresses.
// (tests/preload/mistakes/arguments.cc compares.)

#include "preload/session/mistake.h"

namespace hycoll::preload {

Answer library_answer(Mistake mistake, Routine routine, MPI_Count count) noexcept {
  const Collective collective = collective_of(routine);
  const bool compares =
      collective == Collective::reduce || (collective == Collective::allreduce && count > 1);
  switch (mistake) {
    case Mistake::none:
      return Answer::result;
    case Mistake::aliased:
      return compares ? Answer::error : Answer::result;
    case Mistake::output_in_place:
      return collective == Collective::exscan ? Answer::crash : Answer::error;
    case Mistake::input_in_place:
    case Mistake::negative_count:
      return Answer::error;
    case Mistake::no_buffer:
      break;
  }
  return Answer::crash;
}

}  // namespace hycoll::preload
