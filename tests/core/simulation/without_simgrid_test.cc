#include <doctest/doctest.h>

#include "core/base/errors.h"
#include "core/simulation/simgrid_network.h"

namespace hycoll {
namespace without_simgrid_test {

TEST_CASE("without SimGrid all builds, and whoever wants to simulate learns what is missing") {
  CHECK(simgrid_version().empty());
  CHECK_THROWS_WITH_AS(make_simgrid_network("--platform", {}),
                       "--platform: this hycoll has no SimGrid, which simulates networks: there is "
                       "no libhycoll_simgrid.so that can be loaded. Install SimGrid 3.32 or later "
                       "with its headers (Debian: libsimgrid-dev) and build hycoll again",
                       Error);
}

}  // namespace without_simgrid_test
}  // namespace hycoll
