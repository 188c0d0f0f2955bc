#ifndef HYCOLL_COLLECTIVES_CALLS_UNKNOWN_VARIABLES_H_
#define HYCOLL_COLLECTIVES_CALLS_UNKNOWN_VARIABLES_H_

#include <string>
#include <string_view>
#include <vector>

#include "collectives/calls/settings.h"

namespace hycoll {

/// The setting whose variable is this one but for two letters at most, which are other ones,
/// missing or too many: the nearest, of several the first. Null if there is none.
const Setting* nearest_setting(std::string_view variable);

/// The variables of the environment that begin with HYCOLL_ and are no settings, sorted; not
/// HYCOLL_TEST_*, which are the tests' own, nor what module files say of packages, as HYCOLL_ROOT.
std::vector<std::string> unknown_variables();

/// "hycoll: the variable HYCOLL_LANE is no setting ...", and the nearest setting.
std::string unknown_variable_text(const std::string& variable);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_UNKNOWN_VARIABLES_H_
