#ifndef HYCOLL_PRELOAD_SESSION_HAND_OVER_H_
#define HYCOLL_PRELOAD_SESSION_HAND_OVER_H_

#include <cstddef>

#include "preload/session/routine.h"

namespace hycoll::preload {

/// Whether the MPI library that this was built for serves the routine sooner than hycoll does, for
/// inputs of so many bytes, among two processes of one machine whose buffers are memory of their
/// own. Numbers: docs/preload.md.
bool library_is_faster(Routine routine, std::size_t size_bytes) noexcept;

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_HAND_OVER_H_
