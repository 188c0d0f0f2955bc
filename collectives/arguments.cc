#include "collectives/arguments.h"

#include <fmt/format.h>

#include <cstdint>

#include "core/errors.h"

namespace hycoll {

void check_arguments(const void* input, const void* output, std::size_t count, DataType type,
                     Operator op) {
  if (!is_defined_for(op, type)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("allreduce: operator {} is not defined for type {}; logical and bitwise "
                    "operators need an integer type",
                    name_of(op), name_of(type)));
  }
  if (count == 0) return;
  if (input == nullptr || output == nullptr) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("allreduce: {} is null with count {}; pass a buffer of {} bytes, or the "
                    "same address twice for in place",
                    input == nullptr ? "input" : "output", count, count * size_of(type)));
  }
  const auto first = reinterpret_cast<std::uintptr_t>(input);
  const auto second = reinterpret_cast<std::uintptr_t>(output);
  const std::size_t distance = first < second ? second - first : first - second;
  if (distance != 0 && distance < count * size_of(type)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("allreduce: input and output overlap: they are {} bytes apart and {} bytes "
                    "long; pass separate buffers, or the same address for in place",
                    distance, count * size_of(type)));
  }
}

PreparedCall prepare_call(CallNumber call, const void* input, void* output, std::size_t count,
                          DataType type, Operator op, RecentKernel& kernels, Token& token) {
  const CallSignature signature{.count = count,
                                .collective = 0,
                                .data_type = static_cast<std::uint8_t>(type),
                                .op = static_cast<std::uint8_t>(op)};
  if (count == 0) {
    input = output = &token.value;
    count = 1;
    type = DataType::uint8;
    op = Operator::max;
  }
  return {.arguments = {.call = call,
                        .input = input,
                        .output = output,
                        .type = type,
                        .op = op,
                        .kernel = kernels.find(op, type),
                        .signature = signature.packed()},
          .count = count,
          .element_bytes = size_of(type)};
}

}  // namespace hycoll
