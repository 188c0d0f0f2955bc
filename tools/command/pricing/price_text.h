#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PRICE_TEXT_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PRICE_TEXT_H_

#include <string>
#include <string_view>

#include "core/base/machine_prices.h"

namespace hycoll::command {

/// Prices from a text such as "alpha=1.5us,bandwidth=12.5GB/s,reduce=10GB/s": what it does not name
/// keeps its default; "default" names nothing. Times are in ns, us, ms or s, rates in MB/s or GB/s,
/// or "unlimited".
/// `argument` is how the user knows the text. Throws Error (invalid_argument) that names it, the
/// key, the value and a remedy.
MachinePrices parse_prices(std::string_view argument, std::string_view text);

/// Sets the price of that name, from a value as above; `argument` and errors are the same.
void set_price(std::string_view argument, std::string_view name, std::string_view value,
               MachinePrices& prices);

/// A time or a rate by itself, called `name` in errors, which are the same.
double parse_time_us(std::string_view argument, std::string_view name, std::string_view value);
double parse_rate_gb_per_s(std::string_view argument, std::string_view name,
                           std::string_view value);

/// How parse_prices reads them back, all of them.
std::string to_text(const MachinePrices& prices);

/// The keys with their defaults, for help.
std::string price_keys();

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PRICE_TEXT_H_
