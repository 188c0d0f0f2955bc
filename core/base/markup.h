#ifndef HYCOLL_CORE_BASE_MARKUP_H_
#define HYCOLL_CORE_BASE_MARKUP_H_

#include <string>
#include <string_view>

namespace hycoll {

/// The text as it stands in SVG and HTML, between tags or in quotes: characters that mean something
/// there are replaced, and control characters, which XML does not allow, are blanks. Pure.
std::string escaped(std::string_view text);

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_MARKUP_H_
