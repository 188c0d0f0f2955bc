// All-to-alls of unequal blocks.

#include "collectives/plans/unequal_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "collectives/calls/caller.h"
#include "collectives/runs/pair_buffers.h"
#include "threading/program/pair_binding.h"

namespace hycoll {

PlanQuery Caller::unequal_pairs_query() {
  return {.collective = Collective::alltoall, .extent = {}, .has_unequal_pairs = true};
}

PreparedCall Caller::resolve_unequal_pairs(const Call& call) {
  std::unique_ptr<PairBuffers> pairs = std::move(pair_buffers_);
  if (pairs == nullptr) pairs = std::make_unique<PairBuffers>();
  pairs->take(call, static_cast<std::size_t>(identity_.member_count), identity_.overlaps);
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

Telling Caller::telling_for(const PairBinding& binding) const {
  // Copying twice takes less than meeting twice, up to here.
  constexpr std::size_t kMostDataBytes = 16 * 1024;
  // Each line brings its own signal; longer rows pass faster as a whole.
  constexpr std::size_t kMostDataInLines = 1024;
  const std::size_t told_bytes = MemberBlocks::bytes_for(identity_.member_count);
  const std::size_t begin_bytes = row_begin_bytes(identity_.member_count);
  const std::size_t staging_bytes = memory_.staging_bytes();
  const bool has_room = binding.is_single_node() && staging_bytes > told_bytes &&
                        begin_bytes + kMostDataInLines <= kMaximumLinesBytes;
  const std::size_t data_bytes =
      has_room ? std::min(kMostDataBytes, staging_bytes - told_bytes) : 0;
  return {.worker = identity_.slot,
          .worker_count = memory_.worker_count(),
          // Elsewhere than in staging threads find it only.
          .in_staging = memory_.addresses() != nullptr || has_room,
          .bytes = {.blocks = told_bytes,
                    .data = data_bytes,
                    .data_in_lines = std::min(kMostDataInLines, data_bytes)}};
}

PlanPointer Caller::plan_of_pairs(const Plan& found, PreparedCall& prepared) {
  Plan* plan = pairs_plan_.get_if_alone();
  if (plan == nullptr || plan->pair_ways != found.pair_ways) {
    pairs_plan_ = {};
    auto pairs = std::make_unique<UnequalPairs>(found.pair_ways, identity_.workers,
                                                telling_for(found.pair_ways->usual));
    plan = new Plan;
    pairs_plan_ = PlanPointer(plan);
    plan->query = found.query;
    plan->selected = found.selected;
    plan->pair_ways = found.pair_ways;
    plan->pairs = std::move(pairs);
  }
  UnequalPairs& pairs = *plan->pairs;
  prepared.pairs->describe(pairs.blocks(), pairs.origin());
  prepared.arguments.input = prepared.arguments.output = pairs.origin();
  if (pairs.is_alone()) {
    pairs.blocks().complete();
    pairs.learn([&](int /*slot*/) { return pairs.blocks().told(); }, memory_.is_far());
    if (pairs.mismatch()) throw Error(*pairs.mismatch());
    plan->programs = pairs.bind(0);
  }
  if (prepared.pairs->has_copies()) {
    prepared.work = std::move(prepared.pairs);
  } else {
    pair_buffers_ = std::move(prepared.pairs);
  }
  return pairs_plan_;
}

void Caller::compare_pairs(UnequalPairs& pairs) {
  const auto sizes_of = [](std::span<const PairBlock> blocks) {
    std::vector<std::uint64_t> sizes;
    for (const PairBlock& block : blocks) sizes.push_back(block.size_bytes);
    return sizes;
  };
  const std::vector<std::uint64_t> sent = sizes_of(pairs.blocks().row());
  const std::vector<std::uint64_t> expected = sizes_of(pairs.blocks().column());
  std::vector<std::uint64_t> coming(sent.size());
  run(calls::alltoall(sent.data(), coming.data(), 1, DataType::uint64));
  const auto differs = std::ranges::mismatch(coming, expected);
  const bool is_wrong = differs.in1 != coming.end();
  std::uint64_t noticed_by = is_wrong ? static_cast<std::uint64_t>(identity_.rank) + 1 : 0;
  run(calls::allreduce(&noticed_by, &noticed_by, 1, DataType::uint64, Operator::max));
  if (noticed_by == 0) return;
  if (is_wrong) {
    throw different_ends(
        {.from = static_cast<int>(differs.in1 - coming.begin()), .to = identity_.rank},
        *differs.in1, *differs.in2);
  }
  throw Error(ErrorKind::mismatch,
              fmt::format("alltoall: rank {} expects a block of another size than it is sent; its "
                          "error says which",
                          noticed_by - 1));
}

}  // namespace hycoll
