#include "tools/command/line/collective_option.h"

#include <fmt/format.h>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "tools/command/line/arguments.h"
#include "tools/command/line/command_line.h"

namespace hycoll::command {

void CollectiveOption::add_to(CommandLine& line, const std::string& extra) {
  line.add_option("collective", name,
                  fmt::format("The collective: {}{}{}", routine_names(),
                              name.empty() ? "" : fmt::format(" (default: {})", name), extra))
      .type_name("COLLECTIVE");
}

Routine CollectiveOption::routine() const {
  if (const auto routine = parse_routine(name)) return *routine;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("COLLECTIVE '{}' is not known. Give one of {}", name, routine_names()));
}

void RootOption::add_to(CommandLine& line) {
  line.add_option(
          "--root", root,
          "Of reduce and gather: the rank that gets the result; of broadcast and scatter: the "
          "one that has the data (default: 0)")
      .type_name("RANK")
      .check(between(0, kMaximumNodes * kMaximumMembers - 1));
}

void RootOption::check(Routine routine) const {
  if (root == 0 || has_root(collective_of(routine))) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("--root {}: {} has no root. Leave the option out, or give reduce, "
                          "broadcast, gather or scatter",
                          root, name_of(routine)));
}

void add_type_option(CommandLine& line, std::string& type) {
  line.add_option(
          "--type", type,
          "Element type: int8, int16, int32, int64, uint8, uint16, uint32, uint64, float or "
          "double")
      .type_name("TYPE")
      .show_default();
}

void add_operator_option(CommandLine& line, std::string& op) {
  line.add_option(
          "--op,--operation", op,
          "Operator: sum, prod, min or max; for integers also land, lor, lxor, band, bor or "
          "bxor")
      .type_name("OP")
      .show_default();
}

void add_reproducible_option(CommandLine& line, bool& reproducible) {
  line.add_flag("--reproducible", reproducible,
                "The same bits for any lanes, workers, algorithm and size");
}

}  // namespace hycoll::command
