#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PRICE_REPORTS_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PRICE_REPORTS_H_

#include <string>

#include "tools/command/line/commands.h"
#include "tools/command/line/output.h"
#include "tools/command/pricing/plan_price.h"
#include "tools/command/pricing/price_sweep.h"

namespace hycoll::command {

/// `hycoll plan --price`: prints and writes what the chosen plan and those of all algorithms that
/// serve take. `chosen` is a name, or "auto". Throws Error (unsupported) if what is chosen has no
/// price.
ExitStatus report_plan_prices(const PriceQuestion& question, const std::string& chosen,
                              const MachinePrices& prices, const OutputOptions& output);

/// `hycoll verify --prices`: prints and writes where `auto` takes longer than the best plan, and
/// where it jumps.
ExitStatus report_price_sweep(const PriceGrid& grid, const MachinePrices& prices,
                              const OutputOptions& output);

/// The grid of `hycoll verify --prices` where nothing else is asked for.
inline constexpr const char* kPricedNodes =
    "2,3,4,5,7,8,9,15,16,17,31,32,33,63,64,65,100,127,128,129,255,256,257,511,512,513,1000,1023,"
    "1024";
inline constexpr const char* kPricedMembers = "1,2,16,64,128";
inline constexpr const char* kPricedSizes = "8:256Mi";

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PRICE_REPORTS_H_
