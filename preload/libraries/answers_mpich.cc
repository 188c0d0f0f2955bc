// What MPICH does with a call in which a process makes a mistake: it compares addresses, and looks
// at those that it takes for buffers. (tests/preload/mistakes/arguments.cc compares.)

#include "preload/session/mistake.h"

namespace hycoll::preload {

Answer library_answer(Mistake mistake, Routine routine, MPI_Count /*count*/) noexcept {
  const Collective collective = collective_of(routine);
  const bool takes_output_as_it_is =
      collective == Collective::broadcast || collective == Collective::scatter;
  switch (mistake) {
    case Mistake::none:
      return Answer::result;
    case Mistake::aliased:
      return Answer::error;
    case Mistake::output_in_place:
      return takes_output_as_it_is ? Answer::crash : Answer::error;
    case Mistake::input_in_place:
      return collective == Collective::scatter ? Answer::error : Answer::crash;
    case Mistake::negative_count:
      return moves_data(routine) ? Answer::error : Answer::crash;
    case Mistake::no_buffer:
      break;
  }
  // Some are refused. It has no text for this one either.
  return Answer::crash;
}

}  // namespace hycoll::preload
