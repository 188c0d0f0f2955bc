#ifndef HYCOLL_CORE_SCHEDULE_PACKS_H_
#define HYCOLL_CORE_SCHEDULE_PACKS_H_

#include "core/schedule/schedule.h"

namespace hycoll {

// A pack is a buffer in scratch in which chunks lie one after the other that are not neighbours, so
// that a message has them. They have further numbers there, from the partition's number of chunks
// on, each of which is of one pack: what follows each other in a pack has neighbouring numbers, so
// that a span of it is like any other. What a number stands for is asked here.
//
// Where packs may be all chunks are equally long, as those of pairs are: a number beyond the
// partition's is one of a chunk more.

/// All numbers that a span may have: those of the chunks, and those in packs.
int number_count(const Schedule& schedule);

/// Whether a buffer is a pack.
bool is_pack(const Schedule& schedule, const Buffer& buffer);

/// The chunk that a number stands for: a chunk's own number for itself. Requires a number that
/// there is.
int chunk_at(const Schedule& schedule, int number);

/// Whether two spans hold the same chunks in the same order, under whichever numbers. Requires
/// numbers that there are.
bool hold_the_same(const Schedule& schedule, const Span& one, const Span& other);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_PACKS_H_
