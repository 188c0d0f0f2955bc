#ifndef HYCOLL_CORE_BASE_TEXT_FILE_H_
#define HYCOLL_CORE_BASE_TEXT_FILE_H_

#include <string>
#include <string_view>

namespace hycoll {

/// What is in a file. Throws Error (invalid_argument) if it cannot be read or has more than 256
/// MiB. The message begins with `argument`, the name of an option or variable, and ends with what
/// is `wanted`: "the network's switches and hosts".
std::string read_text_file(std::string_view argument, const std::string& path,
                           std::string_view wanted);

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_TEXT_FILE_H_
