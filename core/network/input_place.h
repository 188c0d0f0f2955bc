#ifndef HYCOLL_CORE_NETWORK_INPUT_PLACE_H_
#define HYCOLL_CORE_NETWORK_INPUT_PLACE_H_

#include <string>

namespace hycoll {

/// A line of a file, for messages.
struct InputPlace {
  std::string file;
  int line = 0;

  /// "FILE:LINE".
  std::string title() const;
  /// Throws Error (invalid_argument): "FILE:LINE: problem".
  [[noreturn]] void fail(const std::string& problem) const;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_INPUT_PLACE_H_
