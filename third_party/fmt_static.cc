// The functions of fmt that hycoll calls, made from fmt's headers. All other files include the same
// headers without FMT_HEADER_ONLY, and so refer to them.

#define FMT_HEADER_ONLY
#include <fmt/format.h>

namespace hycoll::internal {

// Whatever is referred to here is compiled.
[[gnu::used]] std::string (*const fmt_vformat)(fmt::string_view, fmt::format_args) = &fmt::vformat;
[[gnu::used]] void (*const fmt_vprint)(std::FILE*, fmt::string_view,
                                       fmt::format_args) = &fmt::vprint;
[[gnu::used]] void (*const fmt_throw_format_error)(const char*) = &fmt::detail::throw_format_error;
[[gnu::used]] bool (*const fmt_is_printable)(std::uint32_t) = &fmt::detail::is_printable;

}  // namespace hycoll::internal
