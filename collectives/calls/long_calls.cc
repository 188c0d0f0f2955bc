// Calls of more data than are packed at once, as the runs that they are made of.

#include <cstddef>
#include <string_view>
#include <utility>

#include "collectives/calls/caller.h"
#include "collectives/runs/arguments.h"
#include "collectives/runs/long_movement.h"
#include "collectives/runs/long_reduction.h"
#include "collectives/runs/pieces.h"

namespace hycoll {

std::unique_ptr<CallRuns> Caller::long_call(const Call& call) {
  // Without a type, the call will be refused.
  if (call.type.handle() == MPI_DATATYPE_NULL) return nullptr;
  if (combines(call.collective)) return long_reduction(call);
  return long_movement(call);
}

std::unique_ptr<CallRuns> Caller::long_movement(const Call& call) {
  if (has_unequal_pairs(call) ||
      !LongMovement::is_long(call, call.type.slot_bytes(), identity_.member_count)) {
    return nullptr;
  }
  // A copy: what follows looks for elements of its own.
  const VectorElements elements = moved_.find(call.type, name_of(call.collective));
  if (elements.element_bytes == 0) return nullptr;
  const CallBuffers buffers =
      check_buffers(call, elements, identity_.rank, identity_.member_count, identity_.overlaps);
  LongMovement::Pieces pieces(
      LongMovement::blocks_of(call, elements.element_bytes, identity_.member_count));
  if (!pieces.have_data()) return nullptr;
  const PackedSignature signature = movement_signature(movement_query(call, elements)).packed();
  LongMovement::Plans plans{.question = nullptr, .whole = nullptr, .pieces = {}};
  for (std::size_t piece = 0; piece < pieces.count(); ++piece) {
    PlanQuery part = movement_query(call, elements);
    for (std::size_t block = 0; block < block_bytes_.size(); ++block) {
      block_bytes_[block] = pieces.length(block, piece);
    }
    if (block_bytes_.empty()) part.extent.count = pieces.length(0, piece);
    plans.pieces.emplace_back(&plans_.find(part));
  }
  CallArguments whole{.reducer = {}, .signature = signature};
  // Aggregators are told of runs before the members know what these will be.
  if (plans.pieces.front()->selected.aggregators == 0) {
    plans.question = &plans_.find({.element_bytes = 1, .extent = {.count = 1}});
    if (!LongMovement::needs_pieces(elements, buffers)) {
      PreparedCall prepared = resolve_movement(call);
      find_plan(prepared);
      plans.whole = std::move(prepared.plan);
      whole = prepared.arguments;
    }
  } else if (has_blocks(call.collective)) {
    return nullptr;
  }
  return std::make_unique<LongMovement>(*this, call, signature, elements, buffers, identity_.rank,
                                        std::move(pieces), std::move(plans), whole);
}

std::unique_ptr<CallRuns> Caller::long_reduction(const Call& call) {
  const std::string_view name = name_of(call.collective);
  // Whether a type of the program's is staged only this member knows; all know of predefined ones.
  if (!call.op.is_user_defined() && reductions_.find(call.type, call.op, name).staging == nullptr) {
    return nullptr;
  }
  if (LongReduction::element_count(call, identity_.member_count) <=
      kPieceBytes / call.type.slot_bytes()) {
    return nullptr;
  }
  const Reduction reduction = reductions_.find(call.type, call.op, name);
  const CallBuffers buffers =
      check_buffers(call, reduction, identity_.rank, identity_.member_count, identity_.overlaps);
  LongReduction::Pieces pieces =
      LongReduction::cut(call, reduction.element_bytes, identity_.member_count);
  std::vector<LongReduction::Part> parts;
  std::vector<std::size_t> block_counts;
  for (std::size_t index = 0; index < pieces.count; ++index) {
    const Call part = pieces.call_of(call, index, block_counts);
    parts.push_back({.plan = &plans_.find(query_for(part, reduction)),
                     .signature = signature_of(part, reduction).packed()});
  }
  const Plan* const agreement = call.op.is_custom() ? &plans_.find(agreement_query()) : nullptr;
  const bool is_scattered = has_blocks(call.collective);
  return std::make_unique<LongReduction>(
      *this, call, signature_of(call, reduction).packed(), reduction, buffers, std::move(pieces),
      std::move(parts), is_scattered ? static_cast<std::size_t>(identity_.rank) : 0, agreement);
}

}  // namespace hycoll
