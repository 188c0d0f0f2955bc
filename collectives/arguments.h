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

/// What a worker passes to its executor.
inline CallArguments call_arguments(CallNumber call, const void* input, void* output,
                                    std::size_t count, DataType type, Operator op,
                                    ReduceKernel kernel) {
  const CallSignature signature{.count = count,
                                .collective = 0,
                                .data_type = static_cast<std::uint8_t>(type),
                                .op = static_cast<std::uint8_t>(op)};
  return {.call = call,
          .input = input,
          .output = output,
          .type = type,
          .op = op,
          .kernel = kernel,
          .signature = signature.packed()};
}

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ARGUMENTS_H_
