#ifndef HYCOLL_COLLECTIVES_RUNS_ARGUMENTS_H_
#define HYCOLL_COLLECTIVES_RUNS_ARGUMENTS_H_

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "collectives/elements/vector_elements.h"
#include "collectives/plans/plan.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// What a call's buffers hold on one member, in elements.
struct CallBuffers {
  std::size_t input_count = 0;       ///< 0 where the member's input is not asked for.
  std::size_t output_count = 0;      ///< 0 where the member gets no result.
  std::size_t input_begin = 0;       ///< Where the input begins in the vector: there, or at the
  std::size_t output_begin = 0;      ///< member's block; and the output.
  bool in_place = false;             ///< Input and output are the same address.
  std::ptrdiff_t input_offset = 0;   ///< From the address that is passed as input to it: in place,
                                     ///< what is moved from a block of the output is there.
  std::ptrdiff_t output_offset = 0;  ///< The same of an output that is a block of the input.
  bool needs_own_output = false;  ///< In place, in a copy, or overlapping in part, but not at the
                                  ///< same elements of the vector: the result lies where other
                                  ///< input lies.
  bool is_displaced = false;      ///< The blocks of the one that has them all do not follow each
                                  ///< other.
};

/// Throws Error (invalid_argument), naming argument, value and remedy, if a member cannot make this
/// call: a root, block counts or displacements that do not fit the members, blocks of a result that
/// overlap, containers of other sizes than it needs, elements at a null address, more bytes than
/// memory has, or buffers that overlap in part; not for overlaps if these are `unspecified`. That
/// is a BufferError for null addresses and buffers that overlap. Where elements are staged, their
/// datatype tells their addresses: buffers may be null, and overlap.
CallBuffers check_buffers(const Call& call, const VectorElements& elements, int rank,
                          int member_count, Options::Overlaps overlaps);

/// What members compare of a call that moves data, whatever these are described by. The query
/// counts bytes.
CallSignature movement_signature(const PlanQuery& query);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_ARGUMENTS_H_
