// The environment's word on Options.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "collectives/api/hycoll.h"
#include "collectives/calls/settings.h"
#include "collectives/calls/unknown_variables.h"

namespace hycoll {
namespace {

/// Before MPI_Init nobody knows its rank.
bool speaks_for_all() {
  int is_initialized = 0;
  int is_finalized = 0;
  MPI_Initialized(&is_initialized);
  MPI_Finalized(&is_finalized);
  int rank = 0;
  if (is_initialized != 0 && is_finalized == 0) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank == 0;
}

bool say_unknown_variables() {
  if (!speaks_for_all()) return true;
  for (const std::string& variable : unknown_variables()) {
    std::fprintf(stderr, "%s\n", unknown_variable_text(variable).c_str());
  }
  return true;
}

}  // namespace

Options Options::from_environment() {
  [[maybe_unused]] static const bool once = say_unknown_variables();
  Options options;
  for (const Setting& setting : all_settings()) {
    if (setting.read == nullptr) continue;
    const char* const text = std::getenv(setting.variable);
    if (text != nullptr) setting.read(setting, text, options);
  }
  return options;
}

}  // namespace hycoll
