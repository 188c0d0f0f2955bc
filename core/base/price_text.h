#ifndef HYCOLL_CORE_BASE_PRICE_TEXT_H_
#define HYCOLL_CORE_BASE_PRICE_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/base/machine_prices.h"

namespace hycoll {

/// Prices from a text such as "alpha=1.5us,bandwidth=12.5GB/s,reduce=10GB/s": what it does not name
/// is as in `base`; "default" names nothing. Times are in ns, us, ms or s, rates in MB/s or GB/s,
/// or "unlimited".
/// `argument` is how the user knows the text. Throws Error (invalid_argument) that names it, the
/// key, the value and a remedy.
MachinePrices parse_prices(std::string_view argument, std::string_view text,
                           const MachinePrices& base = {});

/// Sets the price with that key from a value such as "1.5us". Errors: as parse_prices.
void set_price(MachinePrices& prices, std::string_view argument, std::string_view key,
               std::string_view value);

/// A time or a rate by itself, called `name` in errors, which are the same.
double parse_time_us(std::string_view argument, std::string_view name, std::string_view value);
double parse_rate_gb_per_s(std::string_view argument, std::string_view name,
                           std::string_view value);

/// A price as set_price reads it.
struct PriceText {
  std::string key;
  std::string value;
};

/// All prices, in the order in which they are listed.
std::vector<PriceText> price_texts(const MachinePrices& prices);

/// How parse_prices reads them back, all of them.
std::string to_text(const MachinePrices& prices);

/// The keys with their defaults, for help.
std::string price_keys();

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_PRICE_TEXT_H_
