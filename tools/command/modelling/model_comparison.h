#ifndef HYCOLL_TOOLS_COMMAND_MODELLING_MODEL_COMPARISON_H_
#define HYCOLL_TOOLS_COMMAND_MODELLING_MODEL_COMPARISON_H_

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/machine_prices.h"
#include "tools/command/modelling/closed_forms.h"

namespace hycoll::command {

/// Calls of several sizes, for a closed form and for a walk through hycoll's schedule.
struct ModelQuestion {
  const ClosedForm* form;
  ModelCall call;              ///< Its size and segments are set for each size.
  int requested_segments = 0;  ///< 0: as hycoll chooses where the paper cuts vectors, otherwise 1.
  Visibility visibility = Visibility::direct;  ///< Of the walk.
  std::vector<std::size_t> sizes;              ///< Of each member's input, in bytes.
};

/// What all nodes send.
struct SentInAll {
  double messages = 0;
  double bytes = 0;
};

/// One size. Times are in microseconds; NaN is one that there is not.
struct ModelPoint {
  std::size_t size_bytes = 0;
  int segments = 1;
  std::vector<ModelTerm> terms;
  double model_us = std::numeric_limits<double>::quiet_NaN();        ///< The sum.
  double by_the_text_us = std::numeric_limits<double>::quiet_NaN();  ///< ClosedForm says of what.
  double walk_us = 0;  ///< tools/command/pricing/plan_price.h. Infinite: too long to walk through.
  std::optional<SentInAll> modelled;  ///< By a paper that counts messages,
  std::optional<SentInAll> counted;   ///< and in the schedule.
};

/// Both, with the same prices. Throws Error (unsupported) if the algorithm does not serve the
/// shape; and (invalid_argument) if the closed form says nothing of the call.
std::vector<ModelPoint> compare_with_walk(const ModelQuestion& question,
                                          const MachinePrices& prices);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MODELLING_MODEL_COMPARISON_H_
