#ifndef HYCOLL_COLLECTIVES_RUNS_PREPARED_CALL_H_
#define HYCOLL_COLLECTIVES_RUNS_PREPARED_CALL_H_

#include <memory>

#include "collectives/elements/reduction.h"
#include "collectives/plans/plan_cache.h"
#include "collectives/runs/arguments.h"
#include "collectives/runs/pair_buffers.h"
#include "collectives/runs/result_copies.h"
#include "threading/execution/executor.h"

namespace hycoll {

/// A call as the executor sees it.
struct PreparedCall {
  PlanQuery query;
  CallArguments arguments;
  PlanPointer plan = {};  ///< Null before the call is the next one.
  bool is_custom = false;
  std::shared_ptr<const ForeignReducer> foreign_owner;
  std::unique_ptr<ResultCopies> work;
  CallBuffers buffers = {};
  std::unique_ptr<PairBuffers> pairs =
      nullptr;  ///< Of unequal ones; becomes `work` if it has copies.
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_PREPARED_CALL_H_
