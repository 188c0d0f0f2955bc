#include "tools/command/collective_option.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "core/errors.h"
#include "core/schedule.h"

namespace hycoll::command {

void CollectiveOption::add_to(CLI::App& app, Presence presence) {
  app.add_option("collective", name, "The collective: allreduce")
      ->type_name("COLLECTIVE")
      ->required(presence == Presence::required);
}

void CollectiveOption::check() const {
  if (name != name_of(Collective::allreduce)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("COLLECTIVE '{}' is not known. Give allreduce", name));
  }
}

}  // namespace hycoll::command
