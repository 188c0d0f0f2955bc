#ifndef HYCOLL_TOOLS_COMMAND_SIMULATING_PLATFORM_TEXT_H_
#define HYCOLL_TOOLS_COMMAND_SIMULATING_PLATFORM_TEXT_H_

#include <string>
#include <string_view>

#include "core/simulation/platform.h"

namespace hycoll::command {

/// A platform from a description such as
/// "fat-tree:hosts=64,ports=16,oversubscription=2;node:packages=2,cores=14,memory=100GB/s": parts
/// that are separated by semicolons or are a line each. docs/simulation.md lists parts and keys.
/// `where` is how the user knows the text, a file or an option; of a file the messages name lines.
/// `folder` is where relative paths in the text begin, "" or with a slash at its end. A star that
/// does not say how many hosts it has gets `usual_hosts`. What steps cost is as in `prices` where
/// the text says nothing else. Reads the files that the text names.
/// Throws Error (invalid_argument) with the place, the key, the value and what was expected.
Platform parse_platform(std::string_view text, const std::string& where, const std::string& folder,
                        int usual_hosts, const MachinePrices& prices = {});

/// What --platform says: a description, the name of a machine that comes with hycoll ("dpml-b"), or
/// a file with a description, with SimGrid's XML (*.xml), or with a tree of switches and hosts as
/// `hycoll ring` reads it. Errors: the same, and Error (environment) for files that cannot be read.
Platform platform_argument(const std::string& argument, const std::string& value, int usual_hosts,
                           const MachinePrices& prices = {});

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_SIMULATING_PLATFORM_TEXT_H_
