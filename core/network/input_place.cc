#include "core/network/input_place.h"

#include <fmt/format.h>

#include "core/base/errors.h"

namespace hycoll {

std::string InputPlace::title() const { return fmt::format("{}:{}", file, line); }

void InputPlace::fail(const std::string& problem) const {
  throw Error(ErrorKind::invalid_argument, fmt::format("{}: {}", title(), problem));
}

}  // namespace hycoll
