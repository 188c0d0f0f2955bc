#ifndef HYCOLL_CORE_BASE_MACHINE_FILE_H_
#define HYCOLL_CORE_BASE_MACHINE_FILE_H_

#include <string>
#include <string_view>

#include "core/base/machine_prices.h"

namespace hycoll {

/// A machine file is JSON (docs/models.md#machine-files):
///   {"hycoll_machine": 1, "prices": {"alpha": "1.5us", "bandwidth": "12.5GB/s"}}
/// with keys and units as parse_prices has them. What it does not name has its default. "about" and
/// "measured" may follow, objects for people and other programs. Nothing else may.

/// The number behind "hycoll_machine", and the keys.
inline constexpr int kMachineFileVersion = 1;
inline constexpr const char* kMachineKey = "hycoll_machine";
inline constexpr const char* kPricesKey = "prices";
inline constexpr const char* kAboutKey = "about";
inline constexpr const char* kMeasuredKey = "measured";

/// The prices in the text of a machine file. Pure. Throws Error (invalid_argument) that names
/// `file`, the line or the key, the value and what was expected.
MachinePrices read_machine_prices(std::string_view text, const std::string& file);

/// The same of a file. Throws Error (invalid_argument), whose message begins with `argument` (the
/// name of an option or variable), if it cannot be read.
MachinePrices read_machine_file(const std::string& argument, const std::string& path);

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_MACHINE_FILE_H_
