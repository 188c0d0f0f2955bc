#ifndef HYCOLL_COLLECTIVES_RUNS_ARGUMENTS_H_
#define HYCOLL_COLLECTIVES_RUNS_ARGUMENTS_H_

#include <cstddef>

#include "collectives/api/hycoll.h"
#include "collectives/elements/vector_elements.h"
#include "threading/memory/node_memory.h"

namespace hycoll {

/// What a call's buffers hold on one member, in elements.
struct CallBuffers {
  std::size_t input_count = 0;   ///< 0 where the member's input is not asked for.
  std::size_t output_count = 0;  ///< 0 where the member gets no result.
  std::size_t input_begin = 0;   ///< Where the input begins in the vector: there, or at the
  std::size_t output_begin = 0;  ///< member's block; and the output.
  bool in_place = false;         ///< Input and output are the same address.
  std::size_t input_offset = 0;  ///< From the address that is passed as input to it: in place, what
                                 ///< is moved from a block of the output is there.
  std::size_t output_offset = 0;  ///< The same of an output that is a block of the input.
  bool needs_own_output = false;  ///< In place, or in a copy, but not at the same elements of the
                                  ///< vector: the result lies where other input lies.
};

/// Throws Error (invalid_argument), naming argument, value and remedy, if a member cannot make this
/// call: a root or block counts that do not fit the members, containers of other sizes than it
/// needs, a null buffer with a positive count, more bytes than memory has, or buffers that overlap
/// in part. Where elements are staged, their datatype tells their addresses: buffers may be null,
/// and overlap.
CallBuffers check_buffers(const Call& call, const VectorElements& elements, int rank,
                          int member_count);

/// What members compare of a call that moves so many bytes, of each block where it has blocks,
/// whatever they are described by.
CallSignature movement_signature(const Call& call, std::size_t size_bytes);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_ARGUMENTS_H_
