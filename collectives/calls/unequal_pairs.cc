// All-to-alls of unequal blocks.

#include <memory>
#include <utility>

#include "collectives/calls/caller.h"
#include "collectives/plans/unequal_pairs.h"
#include "collectives/runs/pair_buffers.h"
#include "threading/program/meeting.h"

namespace hycoll {

PlanQuery Caller::unequal_pairs_query() {
  return {.collective = Collective::alltoall, .extent = {}, .has_unequal_pairs = true};
}

PreparedCall Caller::resolve_unequal_pairs(const Call& call) {
  auto pairs =
      std::make_unique<PairBuffers>(call, static_cast<std::size_t>(identity_.member_count));
  const CallSignature signature{.collective = call.collective,
                                .detail = CallSignature::kUnequalBlocks};
  return {.query = unequal_pairs_query(),
          .arguments = {.reducer = {}, .signature = signature.packed()},
          .is_custom = false,
          .foreign_owner = nullptr,
          .work = nullptr,
          .buffers = {},
          .pairs = std::move(pairs)};
}

PlanPointer Caller::plan_of_pairs(const Plan& found, PreparedCall& prepared) {
  Plan* plan = pairs_plan_.get_if_alone();
  if (plan == nullptr || plan->pair_binding != found.pair_binding) {
    plan = new Plan;
    pairs_plan_ = PlanPointer(plan);
    const int workers = memory_.worker_count();
    // Processes read in staging what threads read where it is.
    Program meeting =
        memory_.addresses() != nullptr
            ? telling_others(identity_.slot, workers,
                             MemberBlocks::bytes_for(
                                 static_cast<std::size_t>(identity_.member_count)))
            : arrival_of_others(identity_.slot, workers);
    meeting.is_looked_up = true;
    plan->query = found.query;
    plan->selected = found.selected;
    plan->pair_binding = found.pair_binding;
    plan->pairs = std::make_unique<UnequalPairs>(found.pair_binding, identity_.workers,
                                                 std::move(meeting));
  }
  UnequalPairs& pairs = *plan->pairs;
  prepared.pairs->tell(pairs.blocks());
  // Blocks count from there: others find a member's announced at the same address in both runs.
  prepared.arguments.input = pairs.blocks().data();
  prepared.arguments.output = const_cast<PairBlock*>(pairs.blocks().data());
  if (pairs.is_alone()) {
    pairs.learn([&](int /*slot*/) { return pairs.blocks().data(); });
    if (pairs.mismatch()) throw Error(*pairs.mismatch());
    plan->programs = pairs.bind(0);
  }
  if (prepared.pairs->has_copies()) prepared.work = std::move(prepared.pairs);
  return pairs_plan_;
}

}  // namespace hycoll
