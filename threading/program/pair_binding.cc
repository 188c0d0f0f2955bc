#include "threading/program/pair_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/errors.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "threading/program/memory_layout.h"
#include "threading/program/program_recipe.h"
#include "threading/program/repeated_signals.h"
#include "threading/program/schedule_form.h"
#include "threading/program/staging_slices.h"

namespace hycoll {
namespace {

/// Blocks of which a slice is bound, so that nothing is empty, and blocks do not follow each other.
constexpr VectorExtent kSliceOfBlocks{.count = 2, .first = 0, .limit = 1};

std::size_t index_of(int number) noexcept { return static_cast<std::size_t>(number); }

std::size_t slice_of(std::size_t size_bytes, std::size_t begin, std::size_t limit) noexcept {
  return size_bytes <= begin ? 0 : std::min(size_bytes - begin, limit);
}

/// Chunks by number, each once.
class ChunkSet {
 public:
  void add(ChunkRange chunks) {
    for (int chunk = 0; chunk < chunks.count; ++chunk) chunks_.push_back(chunks.first + chunk);
  }
  void order() {
    std::ranges::sort(chunks_);
    const auto repeated = std::ranges::unique(chunks_);
    chunks_.erase(repeated.begin(), repeated.end());
  }
  const std::vector<int>& chunks() const noexcept { return chunks_; }
  int index_of(int chunk) const {
    return static_cast<int>(std::ranges::lower_bound(chunks_, chunk) - chunks_.begin());
  }

 private:
  std::vector<int> chunks_;
};

}  // namespace

Error different_ends(const Pair& pair, std::size_t sent_bytes, std::size_t received_bytes) {
  return Error(ErrorKind::invalid_argument,
               fmt::format("alltoall: rank {} has {} bytes for rank {}, which expects {}; pass the "
                           "same size on both",
                           pair.from, sent_bytes, pair.to, received_bytes));
}

PairBinding::PairBinding(const Schedule& schedule, int node, const BindingOptions& options,
                         std::size_t limit_bytes)
    : options_(options),
      limit_bytes_(limit_bytes),
      member_count_(schedule.shape.member_count()),
      node_member_count_(schedule.shape.node(node).members),
      has_single_members_(schedule.shape.member_count() == schedule.shape.node_count() &&
                          node_member_count_ == 1) {
  options_.needs = nullptr;
  const ProgramNeeds needs = options.needs != nullptr ? *options.needs : needs_of(schedule);
  const Partition partition = partition_for(schedule, kSliceOfBlocks, 1);
  const ProgramExtent extent{
      .partition = partition, .tag_count = options.tag_count, .has_gaps = true};
  require_within_limits(needs, schedule.algorithm, extent);
  auto [programs, recipes] = form_of(schedule, node, needs, partition, {.has_gaps = true}, options);
  std::vector<std::size_t> staged_chunks(index_of(schedule.shape.node(node).workers), 0);
  const std::vector<StagedBuffer> staged = staged_buffers(schedule, node, staged_chunks);
  most_staged_chunks_ = std::ranges::max(staged_chunks);
  for (std::size_t w = 0; w < programs.size(); ++w) {
    WorkerForm& form = forms_.emplace_back();
    form.program = std::move(programs[w]);
    form.program.algorithm = kept_algorithm_name(schedule.algorithm);
    form.program.memory = memory_section_for(needs, extent);
    form.staged_chunks = staged_chunks[index_of(options.workers.first) + w];
    take_needs(schedule, node, staged, recipes[w], form);
  }
}

std::vector<PairBinding::StagedBuffer> PairBinding::staged_buffers(
    const Schedule& schedule, int node, std::vector<std::size_t>& staged_chunks) {
  const std::vector<int> owners = staging_workers(schedule);
  const int first_worker = schedule.shape.first_worker(node);
  std::vector<StagedBuffer> staged(schedule.buffers.size());
  for (std::size_t b = 0; b < staged.size(); ++b) {
    const int worker = owners[b] - first_worker;
    if (owners[b] < 0 || worker < 0 || index_of(worker) >= staged_chunks.size()) continue;
    std::size_t& chunks = staged_chunks[index_of(worker)];
    staged[b] = {.worker = owners[b], .chunks_before = chunks};
    chunks += index_of(schedule.buffers[b].chunk_count);
  }
  return staged;
}

void PairBinding::take_needs(const Schedule& schedule, int node,
                             const std::vector<StagedBuffer>& staged, const ProgramRecipe& recipe,
                             WorkerForm& form) {
  const int first_member = schedule.shape.first_member(node);
  const auto buffer_of = [&](const ProgramRecipe::Place& place) -> const Buffer& {
    return schedule.buffers[index_of(place.buffer)];
  };
  ChunkSet needed;
  for (const ProgramRecipe::Extent& extent : recipe.instructions) {
    needed.add({.first = extent.first_chunk, .count = extent.chunk_count});
  }
  for (const ProgramRecipe::Place& place : recipe.operands) {
    if (place.buffer < 0) continue;
    needed.add({.first = buffer_of(place).first_chunk, .count = buffer_of(place).chunk_count});
  }
  needed.order();
  for (const int chunk : needed.chunks()) {
    const Pair pair = pair_of(schedule.shape, chunk_at(schedule, chunk));
    const auto slot_of = [&](int member) {
      return schedule.shape.node_of_member(member) == node ? member - first_member : -1;
    };
    form.needs.push_back(
        {.pair = pair, .from_slot = slot_of(pair.from), .to_slot = slot_of(pair.to)});
    if (form.needs.back().from_slot < 0 && form.needs.back().to_slot < 0) {
      throw Error(ErrorKind::unsupported,
                  fmt::format("alltoall algorithm '{}' passes on what other nodes exchange, whose "
                              "lengths a node does not know where they differ; choose 'onmpml'",
                              schedule.algorithm));
    }
  }
  for (const ProgramRecipe::Extent& extent : recipe.instructions) {
    form.steps.push_back(
        {.needs = {.first = needed.index_of(extent.first_chunk), .count = extent.chunk_count},
         .extent = extent});
  }
  std::map<int, int> scratch;  // by the schedule's number
  std::map<int, int> shared;   // the first one at a place, by the place's number
  for (std::size_t o = 0; o < recipe.operands.size(); ++o) {
    const ProgramRecipe::Place& from = recipe.operands[o];
    const Operand& operand = form.program.operands[o];
    Place place{.kind = operand.role};
    switch (operand.role) {
      case BufferRole::input:
      case BufferRole::output: {
        const int member = first_member + operand.index;
        const Pair pair = operand.role == BufferRole::input
                              ? Pair{.from = member, .to = from.first_chunk}
                              : Pair{.from = from.first_chunk, .to = member};
        place.need = needed.index_of(chunk_of(schedule.shape, pair));
        break;
      }
      case BufferRole::staging:
      case BufferRole::scratch: {
        place.need = needed.index_of(from.first_chunk);
        place.buffer_need = needed.index_of(from.buffer_first_chunk);
        if (operand.role == BufferRole::staging) {
          place.chunks_before = staged[index_of(from.buffer)].chunks_before;
          break;
        }
        const auto number = static_cast<int>(form.scratch.size());
        const auto [known, is_new] = scratch.try_emplace(from.buffer, number);
        place.scratch = known->second;
        if (is_new) {
          const Buffer& buffer = buffer_of(from);
          const bool shares = buffer.shares_with >= 0;
          form.scratch.push_back(
              {.needs = {.first = place.buffer_need, .count = buffer.chunk_count},
               .lies_at =
                   shares ? shared.try_emplace(buffer.shares_with, number).first->second : number});
        }
        break;
      }
      case BufferRole::lines:
      case BufferRole::stream:
        throw Error(ErrorKind::unsupported,
                    fmt::format("alltoall algorithm '{}' moves blocks of one length only, through "
                                "lines; choose 'onmpml'",
                                schedule.algorithm));
    }
    form.operands.push_back(place);
  }
}

BoundPairs PairBinding::memory_for(WorkerRange workers) const {
  BoundPairs bound;
  const auto first = index_of(workers.first);
  const std::size_t count = std::min(forms_.size() - first, index_of(workers.count));
  for (std::size_t w = first; w < first + count; ++w) {
    const WorkerForm& form = forms_[w];
    bound.programs.push_back(form.program);
    const std::size_t needs = form.needs.size();
    bound.workers.push_back({.sizes = std::vector<std::size_t>(needs),
                             .row_offsets = std::vector<std::ptrdiff_t>(needs),
                             .column_offsets = std::vector<std::ptrdiff_t>(needs),
                             .begins = std::vector<std::size_t>(needs + 1),
                             .scratch_begins = std::vector<std::size_t>(form.scratch.size())});
  }
  return bound;
}

void PairBinding::note(const Need& need, std::size_t index, const PairBlock* sent,
                       const PairBlock* received, BoundPairs& bound,
                       BoundPairs::Worker& worker) const {
  if (sent != nullptr) worker.row_offsets[index] = sent->offset_bytes;
  if (received != nullptr) worker.column_offsets[index] = received->offset_bytes;
  if (sent == nullptr || received == nullptr) {
    worker.sizes[index] = (sent != nullptr ? sent : received)->size_bytes;
    return;
  }
  worker.sizes[index] = std::min(sent->size_bytes, received->size_bytes);
  if (sent->size_bytes == received->size_bytes || bound.mismatch) return;
  bound.mismatch = different_ends(need.pair, sent->size_bytes, received->size_bytes);
}

void PairBinding::choose_runs(const PairSummary& sum, BoundPairs& bound) const noexcept {
  bound.stores = stores_for(sum);
  bound.run_count = 1;
  bound.slice_bytes = limit_bytes_;
  bound.stride_bytes = padded_to_lines(std::min(sum.longest_bytes, limit_bytes_));
  if (limit_bytes_ == SIZE_MAX || sum.longest_bytes == 0) return;
  bound.run_count = 1 + (sum.longest_bytes - 1) / limit_bytes_;
  if (!is_single_node()) return;
  // With the run in which members meet their number is odd, so that the next call's stage in the
  // halves in which this one's have not: what staging is written again as late as possible
  // (StagingTurns). For shorter blocks a run takes longer than that gains.
  constexpr std::size_t kShortestCut = 16 * 1024;
  if (bound.run_count % 2 == 1 && sum.longest_bytes >= kShortestCut) ++bound.run_count;
  const std::size_t slice_bytes = 1 + (sum.longest_bytes - 1) / bound.run_count;
  bound.slice_bytes = std::min(limit_bytes_, padded_to_lines(slice_bytes));
  bound.stride_bytes = padded_to_lines(bound.slice_bytes);
}

void PairBinding::bind(WorkerRange workers, std::size_t run, BoundPairs& bound) const noexcept {
  const std::size_t begin = run * bound.slice_bytes;
  for (std::size_t w = 0; w < bound.programs.size(); ++w) {
    bind(forms_[index_of(workers.first) + w], begin, bound, bound.workers[w], bound.programs[w]);
  }
}

void PairBinding::bind(const WorkerForm& form, std::size_t slice_begin, const BoundPairs& bound,
                       BoundPairs::Worker& worker, Program& program) const noexcept {
  std::size_t before = 0;
  for (std::size_t n = 0; n < form.needs.size(); ++n) {
    worker.begins[n] = before;
    before += slice_of(worker.sizes[n], slice_begin, bound.slice_bytes);
  }
  worker.begins.back() = before;
  const auto begin_of = [&](int need) { return worker.begins[index_of(need)]; };
  const auto size_of = [&](const NeedRange& needs) {
    return begin_of(needs.first + needs.count) - begin_of(needs.first);
  };
  program.scratch_bytes = 0;
  lay_out(
      worker.scratch_begins, [&](std::size_t s) { return index_of(form.scratch[s].lies_at); },
      [&](std::size_t s) { return padded_to_lines(size_of(form.scratch[s].needs)); },
      [&](std::size_t) -> std::size_t& { return program.scratch_bytes; });
  program.staging_bytes = form.staged_chunks * bound.stride_bytes;
  program.staging_set_bytes = staging_set_bytes_for(most_staged_chunks_ * bound.stride_bytes);
  const Step* step = form.steps.data();
  for (StrandProgram& strand : program.strands) {
    for (Instruction& instruction : strand.instructions) {
      instruction.count = instruction.size_bytes = size_of(step->needs);
      bound.stores.apply(step++->extent, instruction);
    }
    leave_out_signals(strand);
  }
  for (std::size_t o = 0; o < form.operands.size(); ++o) {
    const Place& place = form.operands[o];
    const std::size_t in_buffer = begin_of(place.need) - begin_of(place.buffer_need);
    std::size_t& offset = program.operands[o].offset_bytes;
    switch (place.kind) {
      case BufferRole::input:
        offset = slice_begin + static_cast<std::size_t>(worker.row_offsets[index_of(place.need)]);
        break;
      case BufferRole::output:
        offset =
            slice_begin + static_cast<std::size_t>(worker.column_offsets[index_of(place.need)]);
        break;
      case BufferRole::staging:
        offset = place.chunks_before * bound.stride_bytes + in_buffer;
        break;
      default:
        offset = worker.scratch_begins[index_of(place.scratch)] + in_buffer;
    }
  }
  program.number = take_program_numbers(1);
}

std::size_t PairBinding::size_bytes() const noexcept {
  std::size_t bytes = sizeof(PairBinding);
  for (const WorkerForm& form : forms_) {
    bytes += sizeof(WorkerForm) + memory_bytes(form.program) +
             form.needs.capacity() * sizeof(Need) + form.steps.capacity() * sizeof(Step) +
             form.scratch.capacity() * sizeof(ScratchBuffer) +
             form.operands.capacity() * sizeof(Place);
  }
  return bytes;
}

}  // namespace hycoll
