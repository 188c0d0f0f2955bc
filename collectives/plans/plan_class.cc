#include "collectives/plans/plan_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/errors.h"
#include "threading/program/abridgement.h"
#include "threading/program/staging_slices.h"

namespace hycoll {

namespace {

/// Up to here a call takes a few microseconds.
constexpr std::size_t kShortBytes = 8 * 1024;

/// Whether some message is sent from, or received into, a buffer of another worker's member.
bool sends_others_buffers(const Schedule& schedule) {
  const auto is_others = [&](int worker, const Span& span) {
    const Buffer& buffer = schedule.buffer_of(span);
    return is_of_member(buffer.role) && schedule.shape.worker_of_member(buffer.owner) != worker;
  };
  return std::ranges::any_of(schedule.strands, [&](const Strand& strand) {
    return std::ranges::any_of(strand.steps, [&](const Step& step) {
      const auto reaches = [&](const Span& span) { return is_others(strand.worker, span); };
      return is_asynchronous(step.kind) &&
             (std::ranges::any_of(schedule.destinations(step), reaches) ||
              std::ranges::any_of(schedule.sources(step), reaches));
    });
  });
}

}  // namespace

PlanClass::PlanClass(const PlanParts& parts, CommonNeeds common, std::optional<AbridgedPart> own)
    : options_(parts.options()), key_(parts.key()), common_(std::move(common)) {
  if (!common_.staging) {
    Schedule whole = parts.own_direct(key_.selected);
    is_native_ = has_natives(whole);
    Schedule own_workers = abridged_for(std::move(whole), options_.workers);
    if (key_.has_unequal_pairs) {
      make_pairs(own_workers, parts);
    } else {
      whole_.emplace(std::move(own_workers), options_.node, binding_options(common_.needs));
    }
    return;
  }
  if (!own) own = parts.own_staged();
  is_native_ = own->has_natives;
  if (key_.has_unequal_pairs) {
    make_pairs(own->schedule, parts);
    return;
  }
  staged_.emplace(std::move(own->schedule), options_.node, binding_options(common_.needs));
  if (!common_.direct) return;
  make_direct(parts, [&](Schedule direct, const ProgramNeeds& needs) {
    direct_.emplace(std::move(direct), options_.node, binding_options(needs));
  });
}

void PlanClass::make_pairs(const Schedule& own, const PlanParts& parts) {
  const int members = own.shape.member_count();
  const std::size_t told_bytes = MemberBlocks::bytes_for(members);
  if (options_.peers == Peers::processes && told_bytes > options_.staging_bytes) {
    throw StagingTooSmall(fmt::format(
        "an all-to-all of unequal blocks among {} members needs {} bytes of staging for each "
        "worker, there are {}; allow more staging (twice that is Options::staging_kib, "
        "HYCOLL_STAGING_KIB)",
        members, told_bytes, options_.staging_bytes));
  }
  std::size_t limit = SIZE_MAX;
  if (common_.staging) {
    // Whatever the blocks are, no longer one passes at once.
    const std::size_t most = options_.staging_bytes / kCacheLineBytes * kCacheLineBytes;
    limit = slice_limit(*common_.staging, {.count = most}, 1, most);
  }
  PairWays ways{.usual = {own, options_.node, binding_options(common_.needs), limit},
                .copied = {},
                .copies = options_.single_copies};
  if (common_.direct && options_.single_copies.may_copy(key_.collective)) {
    make_direct(parts, [&](const Schedule& direct, const ProgramNeeds& needs) {
      if (!may_be_copied_) return;
      ways.copied.emplace(direct, options_.node, binding_options(needs),
                          is_direct_sliced_ ? limit : SIZE_MAX);
    });
  }
  pairs_ = std::make_shared<const PairWays>(std::move(ways));
  common_.staging.reset();  // of each pair of members
}

template <class Bind>
void PlanClass::make_direct(const PlanParts& parts, const Bind& bind) {
  Schedule own = parts.own_direct(key_.selected);
  may_be_copied_ = !sends_others_buffers(own);
  is_direct_sliced_ = !own.is_whole();
  try {
    ProgramNeeds needs = *common_.direct;
    // A node that exchanges nothing may do it another way where it reaches the buffers.
    if (!is_direct_sliced_) {
      needs = parts.direct_needs(key_.reaching, common_.most_bytes).needs;
      own = parts.own_direct(key_.reaching);
    }
    bind(abridged_for(std::move(own), options_.workers), needs);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
  }
}

std::size_t PlanClass::size_bytes() const noexcept {
  std::size_t bytes = sizeof(PlanClass) + (pairs_ != nullptr ? pairs_->size_bytes() : 0);
  for (const std::optional<ScheduleBinding>* const binding : {&whole_, &staged_, &direct_}) {
    if (*binding) bytes += (*binding)->size_bytes();
  }
  return bytes;
}

void PlanClass::bind(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
                     BindingMemory& memory, Plan& plan) const {
  plan.clear();
  plan.selected = key_.selected;
  plan.is_short = size_bytes <= kShortBytes && !is_native_ && pairs_ == nullptr;
  plan.pair_ways = pairs_;
  if (pairs_ != nullptr) {
    plan.programs.clear();
    plan.crossing.reset();
  } else if (whole_) {
    plan.crossing.reset();
    whole_->bind(query.extent, query.element_bytes, workers, memory, plan.programs);
  } else {
    plan.programs.clear();
    if (!plan.crossing) plan.crossing.emplace();
    bind_crossing(query, size_bytes, workers, memory, *plan.crossing);
  }
  plan.block_counts.assign(query.extent.block_counts.begin(), query.extent.block_counts.end());
  plan.query = query;
  plan.query.extent.block_counts = plan.block_counts;
}

void PlanClass::bind_crossing(const PlanQuery& query, std::size_t size_bytes, WorkerRange workers,
                              BindingMemory& memory, CrossingPrograms& programs) const {
  const std::size_t limit =
      slice_limit(*common_.staging, query.extent, query.element_bytes, options_.staging_bytes);
  const auto bind = [&](const ScheduleBinding& binding, std::size_t slice, SlicedPrograms& sliced) {
    bind_slices(binding, query.extent, query.element_bytes, slice, workers, memory, sliced);
  };
  bind(*staged_, limit, programs.staged);
  programs.copies = KernelCopies::never;
  const KernelCopies copies = options_.single_copies.of(query.collective, size_bytes);
  const bool is_asked_for =
      options_.shares_heaps || (may_be_copied_ && copies != KernelCopies::never);
  if (!direct_ || !is_asked_for) return programs.direct.reset();
  if (!programs.direct) programs.direct.emplace();
  try {
    bind(*direct_, is_direct_sliced_ ? limit : SIZE_MAX, *programs.direct);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    programs.direct.reset();
    return;
  }
  if (may_be_copied_) programs.copies = copies;
}

BindingOptions PlanClass::binding_options(const ProgramNeeds& needs) const {
  return {.streaming_threshold_bytes = options_.streaming_threshold_bytes,
          .streaming_staging_bytes = options_.streaming_staging_bytes,
          .short_staging_bytes = options_.short_staging_bytes,
          .peers = options_.peers,
          .tag_count = options_.tag_count,
          .workers = options_.workers,
          .needs = &needs};
}

}  // namespace hycoll
