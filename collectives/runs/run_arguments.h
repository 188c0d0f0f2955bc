#ifndef HYCOLL_COLLECTIVES_RUNS_RUN_ARGUMENTS_H_
#define HYCOLL_COLLECTIVES_RUNS_RUN_ARGUMENTS_H_

#include <cstddef>

#include "threading/execution/executor.h"

namespace hycoll {

/// A call's arguments for a run of it that has this number on the node.
inline CallArguments as_run(const CallArguments& arguments, CallNumber run) noexcept {
  CallArguments numbered = arguments;
  numbered.member_call = arguments.call;
  numbered.call = run;
  return numbered;
}

/// The arguments of another call like this one.
inline CallArguments as_like(const CallArguments& like, CallNumber call, const void* input,
                             void* output) noexcept {
  CallArguments arguments = like;
  arguments.call = call;
  arguments.input = input;
  arguments.output = output;
  return arguments;
}

/// The same on buffers that lie so many bytes behind, as far as there are any.
inline CallArguments displaced(const CallArguments& arguments,
                               std::size_t displacement_bytes) noexcept {
  CallArguments slice = arguments;
  if (slice.input != nullptr) {
    slice.input = static_cast<const std::byte*>(slice.input) + displacement_bytes;
  }
  if (slice.output != nullptr) {
    slice.output = static_cast<std::byte*>(slice.output) + displacement_bytes;
  }
  return slice;
}

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_RUN_ARGUMENTS_H_
