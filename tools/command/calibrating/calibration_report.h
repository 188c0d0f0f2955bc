#ifndef HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_REPORT_H_
#define HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_REPORT_H_

#include <string>

#include "tools/command/calibrating/calibration.h"
#include "tools/command/line/output.h"

namespace hycoll::command {

/// Functions of this file are pure.

/// For people: prices with their origins, workers, lines, and messages with their zones.
std::string calibration_text(const Calibration& calibration);

/// For machines: a record for each thing that was measured. `about` is the context.
Report calibration_report(const Calibration& calibration, const Json& about);

/// The text of a machine file (core/base/machine_file.h), with the prices that were measured.
std::string machine_file_text(const Calibration& calibration, const Json& about);

/// What a machine file says of the zones of message sizes, by where messages go: "inside a node:
/// zone A up to 1Ki, zone C from 64Ki"; "" if it says nothing.
std::string kept_zones(const Json& machine_file);

/// DPML's figure 1: throughput of several pairs, of that of one, over the size of messages.
std::string throughput_picture(const Calibration& calibration);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_REPORT_H_
