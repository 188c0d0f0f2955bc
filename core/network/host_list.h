#ifndef HYCOLL_CORE_NETWORK_HOST_LIST_H_
#define HYCOLL_CORE_NETWORK_HOST_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hycoll {

/// The most names of one network, and of one host list.
inline constexpr std::size_t kMostNames = 1'000'000;

/// The names that a host list of Slurm's stands for, in its order. Names are separated by commas;
/// brackets hold numbers and ranges of them, which stand for one name each, with leading zeros as
/// they are written: "n[1-3,7],m01" is n1, n2, n3, n7 and m01, "r[1-2]n[08-09]" r1n08, r1n09, r2n08
/// and r2n09.
///
/// Pure. Throws Error (invalid_argument), whose message begins with `where` ("FILE:LINE" or an
/// option's name): for an empty name or one with a character that names do not have (blanks,
/// control characters, any of ,[]{}"'=#\), for brackets without a partner or ranges that descend,
/// and for more than kMostNames.
std::vector<std::string> expand_host_list(std::string_view text, const std::string& where);

/// Whether a name is one that expand_host_list() would give.
bool is_network_name(std::string_view name) noexcept;

/// The order in which host lists are sorted: numbers in names count as numbers, so n2 comes before
/// n10. A strict weak order.
bool is_before_as_host(std::string_view a, std::string_view b) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_HOST_LIST_H_
