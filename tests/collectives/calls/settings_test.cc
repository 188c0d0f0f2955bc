// The table of settings, its parsers, and what is said of variables that are none. No setting is in
// the environment of this test.
#include "collectives/calls/settings.h"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/calls/unknown_variables.h"
#include "core/base/errors.h"

namespace hycoll {
namespace settings_test {
namespace {

/// While it lives, the variable has this value.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

Options options_with(const char* variable, const char* value) {
  const Variable set(variable, value);
  return Options::from_environment();
}

/// The message names variable and value, and says what is expected.
void check_refused(const char* variable, const char* value, const char* expected) {
  const std::string message =
      std::string(variable) + "='" + value + "': expected " + expected + "; correct or unset it";
  CHECK_THROWS_WITH_AS(options_with(variable, value), message.c_str(), Error);
}

TEST_CASE("each setting has a variable of its own and says what there is to know") {
  std::set<std::string> variables;
  for (const Setting& setting : all_settings()) {
    CAPTURE(setting.variable);
    CHECK(variables.insert(setting.variable).second);
    CHECK(std::string_view(setting.variable).starts_with("HYCOLL_"));
    CHECK(!setting.otherwise.empty());
    CHECK(!setting.values.empty());
    CHECK(!setting.effect.empty());
    CHECK(!setting.readers.empty());
    CHECK(setting.for_whom.empty() == (setting.group != Setting::Group::tuning));
    if (setting.read != nullptr) {
      CHECK(!setting.field.empty());
      CHECK(setting.readers.starts_with("L"));
    }
  }
}

TEST_CASE("whole numbers") {
  CHECK(options_with("HYCOLL_WORKERS", "0").workers == 0);
  CHECK(options_with("HYCOLL_WORKERS", "4096").workers == 4096);
  CHECK(options_with("HYCOLL_LANES", "3").lanes == 3);
  CHECK(options_with("HYCOLL_SINGLE_COPY_KIB", "0").single_copy_kib == 0);
  CHECK(!Options::from_environment().single_copy_kib);
  CHECK(options_with("HYCOLL_STAGING_LIMIT", "100").staging_limit_mib == 100);
  for (const char* wrong : {"", "4097", "-1", "four", "4 ", " 4", "4K", "99999999999999999999"}) {
    check_refused("HYCOLL_WORKERS", wrong, "a whole number from 0 to 4096");
  }
}

TEST_CASE("seconds") {
  CHECK(options_with("HYCOLL_WARN_AFTER_S", "5").warn_after == std::chrono::seconds(5));
  CHECK(options_with("HYCOLL_TIMEOUT_S", "0").timeout == std::chrono::seconds(0));
  check_refused("HYCOLL_TIMEOUT_S", "1s", "a whole number from 0 to 1000000");
}

TEST_CASE("switches") {
  CHECK(options_with("HYCOLL_PIN", "0").pinning == Options::Pinning::unpinned);
  CHECK(options_with("HYCOLL_PIN", "1").pinning == Options::Pinning::pinned);
  CHECK(options_with("HYCOLL_CHECK", "1").checking == Options::Checking::all_processes);
  CHECK(options_with("HYCOLL_REPRODUCIBLE", "1").bits == Bits::reproducible);
  CHECK(options_with("HYCOLL_REPRODUCIBLE", "0").bits == Bits::same_on_all_members);
  check_refused("HYCOLL_PIN", "yes", "a whole number from 0 to 1");
}

TEST_CASE("names are those of the enumerators") {
  using Layout = Options::Layout;
  CHECK(options_with("HYCOLL_LAYOUT", "per_node").layout == Layout::per_node);
  CHECK(options_with("HYCOLL_LAYOUT", "processes").layout == Layout::processes);
  CHECK(options_with("HYCOLL_NODE", "machine").node_scope == Options::NodeScope::machine);
  CHECK(options_with("HYCOLL_NODE", "numa").node_scope == Options::NodeScope::numa_domain);
  CHECK(options_with("HYCOLL_TRANSPORT", "auto").transport == Options::Transport::automatic);
  CHECK(options_with("HYCOLL_TRANSPORT", "mpi").transport == Options::Transport::mpi);
  CHECK(options_with("HYCOLL_TRANSPORT", "ucx").transport == Options::Transport::ucx);
  CHECK(options_with("HYCOLL_PUTS", "auto").puts == Options::Puts::automatic);
  CHECK(options_with("HYCOLL_PUTS", "0").puts == Options::Puts::off);
  CHECK(options_with("HYCOLL_PUTS", "1").puts == Options::Puts::on);
  CHECK(options_with("HYCOLL_WAIT", "auto").waiting == Options::Waiting::automatic);
  CHECK(options_with("HYCOLL_WAIT", "spin").waiting == Options::Waiting::spin);
  CHECK(options_with("HYCOLL_WAIT", "yield").waiting == Options::Waiting::yield);
  CHECK(options_with("HYCOLL_WAIT", "sleep").waiting == Options::Waiting::sleep);
  check_refused("HYCOLL_LAYOUT", "threads", "per_node or processes");
  check_refused("HYCOLL_TRANSPORT", "", "auto, mpi or ucx");
  check_refused("HYCOLL_PUTS", "2", "auto, 0 or 1");
  check_refused("HYCOLL_WAIT", "doze", "auto, spin, yield or sleep");
}

TEST_CASE("texts") {
  CHECK(options_with("HYCOLL_ALGORITHM", "dpml-ring").algorithm == "dpml-ring");
  CHECK(options_with("HYCOLL_PLACEMENT", "compact").placement == "compact");
  CHECK(options_with("HYCOLL_GROUPS", "4,16").groups == "4,16");
  CHECK(options_with("HYCOLL_LATENCIES", "published").latencies == "published");
  CHECK_THROWS_WITH_AS(options_with("HYCOLL_GROUPS", "4,six"),
                       doctest::Contains("(HYCOLL_GROUPS) is '4,six'"), Error);
  CHECK_THROWS_WITH_AS(options_with("HYCOLL_LATENCIES", "10,20"),
                       doctest::Contains("(HYCOLL_LATENCIES) is '10,20'"), Error);
}

TEST_CASE("emulated nodes") {
  const Options options = options_with("HYCOLL_EMULATE_NODES", "3:cyclic");
  CHECK(options.emulated_nodes == 3);
  CHECK(options.emulated_dealing == Options::EmulatedDealing::cyclic);
  CHECK(options_with("HYCOLL_EMULATE_NODES", "2").emulated_dealing ==
        Options::EmulatedDealing::blocks);
  CHECK_THROWS_WITH_AS(options_with("HYCOLL_EMULATE_NODES", "3:"),
                       doctest::Contains("HYCOLL_EMULATE_NODES='3:'"), Error);
}

TEST_CASE("the nearest setting differs by two letters at most") {
  const auto nearest = [](const char* variable) {
    const Setting* const setting = nearest_setting(variable);
    return std::string(setting == nullptr ? "" : setting->variable);
  };
  CHECK(nearest("HYCOLL_LANES") == "HYCOLL_LANES");
  CHECK(nearest("HYCOLL_LANE") == "HYCOLL_LANES");
  CHECK(nearest("HYCOLL_ALGORITM") == "HYCOLL_ALGORITHM");
  CHECK(nearest("HYCOLL_PINN") == "HYCOLL_PIN");
  CHECK(nearest("HYCOLL_LAYUOT") == "HYCOLL_LAYOUT");
  CHECK(nearest("HYCOLL_TIMEOUT") == "HYCOLL_TIMEOUT_S");
  CHECK(nearest("HYCOLL_SHARED_HEAP_SIZE") == "");
  CHECK(nearest("HYCOLL_") == "");
}

TEST_CASE("variables that are no setting are named, and those of tests and modules are not") {
  const Variable misspelt("HYCOLL_LANE", "4");
  const Variable unlike("HYCOLL_COLOUR", "blue");
  const Variable known("HYCOLL_LANES", "4");
  const Variable of_a_test("HYCOLL_TEST_COLOUR", "blue");
  const Variable of_a_module("HYCOLL_ROOT", "/opt/hycoll");
  CHECK(unknown_variables() == std::vector<std::string>{"HYCOLL_COLOUR", "HYCOLL_LANE"});
  CHECK(unknown_variable_text("HYCOLL_LANE") ==
        "hycoll: the variable HYCOLL_LANE is no setting, and changes nothing; did you mean "
        "HYCOLL_LANES?");
  CHECK(unknown_variable_text("HYCOLL_COLOUR") ==
        "hycoll: the variable HYCOLL_COLOUR is no setting, and changes nothing; hycoll info "
        "--settings names all settings");
}

}  // namespace
}  // namespace settings_test
}  // namespace hycoll
