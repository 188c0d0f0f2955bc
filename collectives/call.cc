#include "collectives/call.h"

#include <fmt/format.h>

#include "core/errors.h"

namespace hycoll {

void require_same_size(std::size_t input_size, std::size_t output_size) {
  if (input_size == output_size) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("input has {} elements and output has {}; both must have the same size",
                          input_size, output_size));
}

}  // namespace hycoll
