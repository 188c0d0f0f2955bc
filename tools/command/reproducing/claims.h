#ifndef HYCOLL_TOOLS_COMMAND_REPRODUCING_CLAIMS_H_
#define HYCOLL_TOOLS_COMMAND_REPRODUCING_CLAIMS_H_

#include <string>
#include <vector>

#include "tools/command/reproducing/paper_results.h"

namespace hycoll::command {

/// Microseconds, by curve and size.
using CurveTimes = std::vector<std::vector<double>>;

/// What a claim's measure is in these times; infinite for a break-even that no size reaches.
double value_of(const Claim& claim, const PaperResult& result, const CurveTimes& times);

/// "4.90x", "256Ki", "16 lanes", "322 MB/s"; "none" for a break-even that is not reached.
std::string value_text(Measure measure, double value);

/// Where a deviation from the paper is one: 30 % in either direction.
bool deviates(double value, double paper);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_REPRODUCING_CLAIMS_H_
