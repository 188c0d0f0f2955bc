#ifndef HYCOLL_THREADING_OBSERVING_CODE_PLACE_H_
#define HYCOLL_THREADING_OBSERVING_CODE_PLACE_H_

#include <cstdint>
#include <string>

namespace hycoll {

/// Where code of this process is.
struct CodePlace {
  std::string module;        ///< The program's file, or a library's; "" if it is not known.
  std::uint64_t offset = 0;  ///< In it, as addr2line(1) takes it.
  std::string function;      ///< "" if the module does not show it.

  /// "FILE+0xOFFSET".
  std::string text() const;
};

/// Of a call that returns to this address.
CodePlace place_of_call(const void* address);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_OBSERVING_CODE_PLACE_H_
