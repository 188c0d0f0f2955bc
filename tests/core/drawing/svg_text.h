#ifndef HYCOLL_TESTS_CORE_DRAWING_SVG_TEXT_H_
#define HYCOLL_TESTS_CORE_DRAWING_SVG_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hycoll::tests {

/// How often the part stands in the text.
inline std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

/// What keeps a text from being XML: elements that are not closed, attributes that are not quoted,
/// characters that are not escaped. Empty for nothing.
inline std::string xml_problem(std::string_view text) {
  std::vector<std::string> open;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find('<', at);
    const std::string_view content = text.substr(at, begin - at);
    if (content.find('>') != std::string_view::npos) return "stray >";
    for (std::size_t amp = content.find('&'); amp != std::string_view::npos;
         amp = content.find('&', amp + 1)) {
      if (content.find(';', amp) == std::string_view::npos) return "stray &";
    }
    if (begin == std::string_view::npos) break;
    const std::size_t end = text.find('>', begin);
    if (end == std::string_view::npos) return "unfinished element";
    const std::string_view element = text.substr(begin + 1, end - begin - 1);
    if (count(element, "\"") % 2 != 0 || element.find('<') != std::string_view::npos) {
      return "bad attributes in " + std::string(element);
    }
    const std::string name(element.substr(0, element.find_first_of(" /", 1)));
    if (element.front() == '/') {
      if (open.empty() || "/" + open.back() != element) return "unexpected " + std::string(element);
      open.pop_back();
    } else if (element.back() != '/') {
      open.push_back(name);
    }
    at = end + 1;
  }
  return open.empty() ? "" : "open " + open.back();
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_CORE_DRAWING_SVG_TEXT_H_
