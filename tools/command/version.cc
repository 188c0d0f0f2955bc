// hycoll --version: what this command was built of, and what it finds.

#include <fmt/format.h>

#include <string>

#include "collectives/job/build_identity.h"
#include "collectives/job/lane_transport.h"
#include "numa/placement/numa_library.h"
#include "tools/command/line/commands.h"
#include "tools/command/measuring/mpi_session.h"

namespace hycoll::command {
namespace {

#ifdef __clang__
constexpr const char* kCompiler = __VERSION__;
#else
constexpr const char* kCompiler = "GCC " __VERSION__;
#endif

}  // namespace

std::string version_text() {
  const UcxPresence ucx = ucx_presence();
  const FoundNuma& numa = found_numa();
  return fmt::format(
      "hycoll {}\n"
      "MPI library  {}\n"
      "compiler     {}\n"
      "UCX          {}\n"
      "libnuma      {}",
      build_identity(), mpi_library_name(), kCompiler,
      ucx.version.empty() ? "not used: " + ucx.why_not : ucx.version,
      numa.library == nullptr ? "not used: " + numa.why_not : "found");
}

}  // namespace hycoll::command
