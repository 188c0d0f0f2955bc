#ifndef HYCOLL_TOOLS_COMMAND_PRICING_PRICE_OPTIONS_H_
#define HYCOLL_TOOLS_COMMAND_PRICING_PRICE_OPTIONS_H_

#include <string>

#include "core/base/machine_prices.h"
#include "tools/command/line/command_line.h"

namespace hycoll::command {

/// The machine file that HYCOLL_MACHINE names; "" if there is none.
std::string kept_machine_file();

/// What steps cost, as subcommands are told.
struct PriceOptions {
  std::string machine;            ///< A machine file; "": that of HYCOLL_MACHINE, or none.
  std::string price = "default";  ///< Changes to its prices.

  void add_machine_to(CommandLine& line);
  /// Adds --machine and --price, of which `price_help` says what it does.
  void add_to(CommandLine& line, const std::string& price_help);

  /// By which calls are chosen and priced. Throws Error (invalid_argument) if one of the two cannot
  /// be read.
  MachinePrices prices() const;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_PRICING_PRICE_OPTIONS_H_
