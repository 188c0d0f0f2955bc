#include "collectives/node_process_member.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/errors.h"
#include "core/kernels.h"

namespace hycoll {
namespace {

void copy_bytes(void* destination, const void* source, std::size_t size_bytes) {
  if (size_bytes == 0) return;
  copy_kernel(std::span<void* const>(&destination, 1), source, size_bytes, Stores::cached);
}

}  // namespace

NodeProcessMember::NodeProcessMember(ProcessGroup& group, NodeProcesses& processes,
                                     PlanCache& plans, CallGate* gate)
    : Caller(plans, processes.memory(),
             {.rank = group.rank(),
              .member_count = group.size(),
              .slot = processes.worker(),
              .bits = group.options().bits,
              .announcer = nullptr,
              .gate = gate}),
      processes_(processes),
      parts_(plans),
      rank_(group.rank()),
      member_count_(group.size()),
      deferred_(processes.executor()),
      // The background thread runs where the process may: it has hardly more than one core.
      pool_(processes.executors(), group.topology(), processes.cores(),
            LeaderPool::Pinning::unpinned, processes.wait_policy()),
      keeper_({&deferred_}) {}

void NodeProcessMember::execute(const Plan& plan, const CallArguments& arguments) {
  deferred_.finish();
  if (background_ != nullptr && !background_->finished()) {
    const std::shared_ptr<PoolJob> job = submit(plan, arguments, {});
    job->wait();
    return job->throw_if_failed();
  }
  run_here(plan, arguments);
}

std::shared_ptr<PoolJob> NodeProcessMember::submit(const Plan& plan, const CallArguments& arguments,
                                                   PoolJob::Before before) {
  if (!deferred_.finished()) pool_.submit(std::make_shared<PoolJob>(deferred_), 0, 0);
  background_ = std::make_shared<PoolJob>(
      [this, &plan](const CallArguments& job_arguments) { run_here(plan, job_arguments); },
      arguments, std::move(before));
  pool_.submit(background_, 0, 0);
  return background_;
}

DeferredRun* NodeProcessMember::defer(const Plan& plan, const CallArguments& arguments,
                                      DeferredOutcome& outcome) {
  const bool is_idle = deferred_.finished() && (background_ == nullptr || background_->finished());
  if (!plan.is_short || plan.crosses_members || !is_idle) return nullptr;
  deferred_.start(program(plan), next_run(arguments), outcome);
  if (!deferred_.finished()) keeper_.watch();
  return &deferred_;
}

const Program& NodeProcessMember::program(const Plan& plan) const {
  return plan.programs[static_cast<std::size_t>(processes_.worker())];
}

CallArguments NodeProcessMember::next_run(const CallArguments& arguments) {
  CallArguments numbered = arguments;
  numbered.member_call = arguments.call;
  numbered.call = ++run_;
  return numbered;
}

void NodeProcessMember::run_here(const Plan& plan, const CallArguments& arguments) {
  if (!plan.crosses_members) {
    processes_.executor().run(program(plan), next_run(arguments));
  } else if (plan.query.collective == Collective::reduce_scatter) {
    run_by_blocks(plan, arguments);
  } else {
    run_by_elements(plan, arguments);
  }
}

void NodeProcessMember::run_part(const PlanQuery& part, const CallArguments& arguments,
                                 const void* input, void* output) {
  CallArguments run = next_run(arguments);
  run.input = input;
  run.output = output;
  processes_.executor().run(program(parts_.find(part)), run);
}

void NodeProcessMember::require_staging(const PlanQuery& query, std::size_t elements) const {
  if (elements > 0) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("{} of elements of {} bytes over {} members: not one of them, or of their "
                  "blocks, fits into half of the memory that processes share; raise "
                  "Options::staging_kib (HYCOLL_STAGING_KIB)",
                  name_of(query.collective), query.element_bytes, member_count_));
}

bool NodeProcessMember::gets_result(const PlanQuery& query) const {
  if (query.collective == Collective::reduce) return rank_ == query.root;
  return query.collective != Collective::exscan || rank_ > 0;
}

void NodeProcessMember::run_by_elements(const Plan& plan, const CallArguments& arguments) {
  PlanQuery part = plan.query;
  const std::size_t element_bytes = part.element_bytes;
  const std::size_t part_elements = processes_.staging_for_input().size() / element_bytes;
  require_staging(part, part_elements);
  const auto* input = static_cast<const std::byte*>(arguments.input);
  auto* output = static_cast<std::byte*>(arguments.output);
  const std::size_t count = plan.query.extent.count;
  // What lies in the shared heap needs no staging. Plans of parts reckon with two buffers.
  const bool shares_input = processes_.is_in_shared_heap(input);
  const bool shares_output =
      output != input && gets_result(part) && processes_.is_in_shared_heap(output);
  for (std::size_t begin = 0; begin < count; begin += part_elements) {
    part.extent.count = std::min(part_elements, count - begin);
    const std::size_t offset_bytes = begin * element_bytes;
    const std::size_t part_bytes = part.extent.count * element_bytes;
    const std::byte* from = input + offset_bytes;
    if (!shares_input) {
      copy_bytes(processes_.staging_for_input().data(), from, part_bytes);
      from = processes_.staging_for_input().data();
    }
    std::byte* const to =
        shares_output ? output + offset_bytes : processes_.staging_for_output().data();
    run_part(part, arguments, from, to);
    if (shares_output || !gets_result(part)) continue;
    copy_bytes(output + offset_bytes, to, part_bytes);
  }
}

void NodeProcessMember::run_by_blocks(const Plan& plan, const CallArguments& arguments) {
  PlanQuery part = plan.query;
  const std::size_t element_bytes = part.element_bytes;
  std::vector<std::size_t> counts = plan.block_counts;
  if (counts.empty()) counts.assign(static_cast<std::size_t>(member_count_), part.extent.count);
  const std::size_t part_elements =
      processes_.staging_for_input().size() / element_bytes / counts.size();
  require_staging(part, part_elements);
  const auto* input = static_cast<const std::byte*>(arguments.input);
  auto* output = static_cast<std::byte*>(arguments.output);
  const std::size_t longest = *std::max_element(counts.begin(), counts.end());
  std::vector<std::size_t> part_counts(counts.size());
  for (std::size_t begin = 0; begin < longest; begin += part_elements) {
    std::byte* staged = processes_.staging_for_input().data();
    const std::byte* block = input;
    for (std::size_t m = 0; m < counts.size(); ++m) {
      const std::size_t first = std::min(begin, counts[m]);
      part_counts[m] = std::min(part_elements, counts[m] - first);
      copy_bytes(staged, block + first * element_bytes, part_counts[m] * element_bytes);
      staged += part_counts[m] * element_bytes;
      block += counts[m] * element_bytes;
    }
    part.extent = {.count = 0, .block_counts = part_counts};
    run_part(part, arguments, processes_.staging_for_input().data(),
             processes_.staging_for_output().data());
    const std::size_t own = static_cast<std::size_t>(rank_);
    copy_bytes(output + std::min(begin, counts[own]) * element_bytes,
               processes_.staging_for_output().data(), part_counts[own] * element_bytes);
  }
}

}  // namespace hycoll
