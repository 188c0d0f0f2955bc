#ifndef HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_TEXT_H_
#define HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_TEXT_H_

#include <string>

#include "tools/command/comparing/comparison.h"

namespace hycoll::command {

/// Functions of this file are pure.

/// For the terminal: a table for each use of inputs, collective and state, and what they mean.
std::string to_text(const Comparison& comparison);

/// Which figures are missing, a line for each state, collective, use of inputs and contender; ""
/// if none are.
std::string missing_text(const Comparison& comparison);

/// Every cell in which hycoll is slower than the fastest reference, or that there is none.
std::string slower_text(const Comparison& comparison);

/// "2 changes of the machine's state", and how many blocks they have cost.
std::string changes_text(const Comparison& comparison);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_COMPARING_COMPARISON_TEXT_H_
