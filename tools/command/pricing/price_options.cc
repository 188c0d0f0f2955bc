#include "tools/command/pricing/price_options.h"

#include <cstdlib>

#include "core/base/machine_file.h"
#include "core/base/price_text.h"

namespace hycoll::command {
namespace {

constexpr const char* kMachineVariable = "HYCOLL_MACHINE";

}  // namespace

std::string kept_machine_file() {
  const char* const set = std::getenv(kMachineVariable);
  return set == nullptr ? "" : set;
}

void PriceOptions::add_machine_to(CommandLine& line) {
  line.add_option("--machine", machine,
                  "A machine file, as hycoll calibrate --output writes it: what steps cost, by "
                  "which hycoll also chooses (default: that of HYCOLL_MACHINE, or none)")
      .type_name("FILE");
}

void PriceOptions::add_to(CommandLine& line, const std::string& price_help) {
  add_machine_to(line);
  line.add_option("--price", price, price_help).type_name("KEY=VALUE,...");
}

MachinePrices PriceOptions::prices() const {
  const std::string kept = kept_machine_file();
  MachinePrices base;
  if (!machine.empty()) {
    base = read_machine_file("--machine", machine);
  } else if (!kept.empty()) {
    base = read_machine_file(kMachineVariable, kept);
  }
  // Of hycoll plan: not asked for.
  return price.empty() ? base : parse_prices("--price", price, base);
}

}  // namespace hycoll::command
