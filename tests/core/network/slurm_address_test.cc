#include "core/network/slurm_address.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hycoll {
namespace slurm_address_test {

using Levels = std::vector<std::string>;

TEST_CASE("an address has the switches above a host, from the top down") {
  const Levels levels = {"core", "core.leaf1", "core.leaf1.n3"};
  CHECK(slurm_levels("core.leaf1.n3", "switch.switch.node", "n3") == levels);
  CHECK(slurm_levels("core.leaf1.n3", "switch.switch.node", "n3.site.org") == levels);
  CHECK(slurm_levels("s[0-1].n3", "switch.node", "n3") == Levels{"s[0-1]", "s[0-1].n3"});
}

TEST_CASE("an address without switches, of another host or of another length says nothing") {
  CHECK(slurm_levels("", "", "n3").empty());
  CHECK(slurm_levels("n3", "node", "n3").empty());
  CHECK(slurm_levels("core.n4", "switch.node", "n3").empty());
  CHECK(slurm_levels("core.leaf1.n3", "switch.node", "n3").empty());
  CHECK(slurm_levels("n3", "switch.node", "n3").empty());
  CHECK(slurm_levels("core.n3", "block.node", "n3").empty());
  CHECK(slurm_levels("core.n3", "switch.switch", "n3").empty());
}

}  // namespace slurm_address_test
}  // namespace hycoll
