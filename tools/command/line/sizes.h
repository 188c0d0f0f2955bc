#ifndef HYCOLL_TOOLS_COMMAND_LINE_SIZES_H_
#define HYCOLL_TOOLS_COMMAND_LINE_SIZES_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hycoll::command {

/// Functions of this file are pure. `argument` is how the user knows the text ("--sizes"); errors
/// are Error (invalid_argument) that name it, the text and a remedy.

/// One size in bytes: a whole number, then nothing, "Ki", "Mi" or "Gi", then nothing or "B":
/// "8", "1Ki", "16MiB".
std::size_t parse_size(std::string_view argument, std::string_view text);

/// Sizes in bytes: "8:16Mi" is 8 and its doublings up to and including 16 Mi; "8,24,1Ki" is those
/// three; both may be mixed: "0,8:64". In the order given, without repetitions. A range starts at 1
/// or more.
std::vector<std::size_t> parse_sizes(std::string_view argument, std::string_view text);

/// Whole numbers of at least `minimum` and at most `maximum`: "1:17" is every one from 1 to 17,
/// "1,2,5" those three; both may be mixed. Ascending, without repetitions.
std::vector<int> parse_numbers(std::string_view argument, std::string_view text, int minimum,
                               int maximum);

/// How parse_size reads it back, as short as possible: "24", "1Ki", "16Mi".
std::string short_size(std::size_t size_bytes);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_LINE_SIZES_H_
