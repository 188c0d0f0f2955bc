#ifndef HYCOLL_TOOLS_COMMAND_MODELLING_MODEL_REPORT_H_
#define HYCOLL_TOOLS_COMMAND_MODELLING_MODEL_REPORT_H_

#include <string>
#include <vector>

#include "tools/command/line/output.h"
#include "tools/command/modelling/model_comparison.h"

namespace hycoll::command {

/// For people: a row for each size with each term, the sum, and the walk.
std::string model_text(const ModelQuestion& question, const std::vector<ModelPoint>& points);

/// For machines: the same.
Report model_report(const ModelQuestion& question, const MachinePrices& prices,
                    const std::vector<ModelPoint>& points);

/// A picture: time over size, a line for the model and one for the walk.
std::string model_picture(const ModelQuestion& question, const std::vector<ModelPoint>& points);

/// For people and machines: what there is, by collective and algorithm.
std::string forms_text();
Report forms_report();

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MODELLING_MODEL_REPORT_H_
