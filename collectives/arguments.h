#ifndef HYCOLL_COLLECTIVES_ARGUMENTS_H_
#define HYCOLL_COLLECTIVES_ARGUMENTS_H_

#include <cstddef>

#include "core/kernels.h"
#include "core/types.h"
#include "threading/executor.h"
#include "threading/node_memory.h"

namespace hycoll {

/// Throws Error (invalid_argument), naming the argument and the remedy, if these buffers cannot be
/// reduced: null with a positive count, partial overlap, or an operator that is not defined for the
/// type.
void check_arguments(const void* input, const void* output, std::size_t count, DataType type,
                     Operator op);

/// Looks up a kernel, remembering the last one. Used by one thread at a time.
class RecentKernel {
 public:
  ReduceKernel find(Operator op, DataType type) {
    if (kernel_ == nullptr || op != op_ || type != type_) {
      kernel_ = reduce_kernel(op, type);
      op_ = op;
      type_ = type;
    }
    return kernel_;
  }

 private:
  ReduceKernel kernel_ = nullptr;
  Operator op_ = Operator::sum;
  DataType type_ = DataType::float64;
};

/// A call as the executor sees it.
struct PreparedCall {
  CallArguments arguments;
  std::size_t count;
  std::size_t element_bytes;
};

/// What an empty call reduces in place of a vector, so that it synchronises like any other and
/// members that disagree about the count find out.
struct Token {
  std::uint8_t value = 0;
};

/// What a worker passes to its executor. The signature is that of the caller's arguments, also for
/// an empty call, which reduces the token.
PreparedCall prepare_call(CallNumber call, const void* input, void* output, std::size_t count,
                          DataType type, Operator op, RecentKernel& kernels, Token& token);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ARGUMENTS_H_
