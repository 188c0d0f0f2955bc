#ifndef HYCOLL_CORE_NETWORK_TEXT_LINES_H_
#define HYCOLL_CORE_NETWORK_TEXT_LINES_H_

#include <string_view>
#include <vector>

namespace hycoll {

/// A line of a text, without its line break.
struct TextLine {
  int number = 0;  ///< From 1.
  std::string_view text;
};

/// What separates words.
inline constexpr std::string_view kBlanks = " \t\r";

/// All lines. Pure; the views are into `text`.
std::vector<TextLine> lines_of(std::string_view text);

/// What stands before the first '#', without blanks at either end.
std::string_view without_comment(std::string_view line);

/// The words between blanks.
std::vector<std::string_view> words_of(std::string_view line);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_TEXT_LINES_H_
