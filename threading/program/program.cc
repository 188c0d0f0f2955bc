#include "threading/program/program.h"

#include <algorithm>
#include <atomic>
#include <ranges>
#include <span>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "threading/memory/node_memory.h"
#include "threading/program/memory_layout.h"
#include "threading/program/program_needs.h"
#include "threading/program/program_recipe.h"
#include "threading/program/repeated_signals.h"
#include "threading/program/staging_slices.h"
#include "threading/program/step_parts.h"
#include "threading/program/step_stores.h"

namespace hycoll {
namespace {

/// A flag of the schedule as the executor keeps it.
struct FlagPlace {
  int worker = -1;  ///< On the node.
  int cell = -1;    ///< -1: the flag is the worker's post.
};

/// A number that require_within_limits() has bounded, in fewer bits.
template <class Narrow, class Wide>
Narrow narrowed(Wide value) {
  HYCOLL_ASSERT(std::in_range<Narrow>(value), "the executor's limits have been checked");
  return static_cast<Narrow>(value);
}

/// Binds one node. Each step of the schedule becomes at most one instruction. Notes in `recipes`,
/// if there are any, what depends on the length.
class Binder {
 public:
  Binder(const Schedule& schedule, int node, const VectorExtent& extent,
         const BindingOptions& options, std::vector<ProgramRecipe>* recipes)
      : recipes_(recipes),
        schedule_(schedule),
        node_(node),
        element_bytes_(options.element_bytes),
        brief_bytes_(briefly_staged_bytes(schedule.shape, extent, options)),
        workers_(options.workers),
        peers_(options.peers),
        partition_(partition_for(schedule, extent, options.element_bytes)),
        first_worker_(schedule.shape.first_worker(node)),
        programs_(static_cast<std::size_t>(schedule.shape.node(node).workers)) {
    if (recipes_ != nullptr) recipes_->resize(programs_.size());
    stores_ = StepStores(schedule.collective, buffers_bytes(extent), options);
    add_gaps(Chunking(schedule), extent, gap_before_block_);
    learn_of_all_nodes(options);
  }

  std::vector<Program> bind() {
    place_flags();
    place_buffers();
    for (const int strand : own_strands()) bind_strand(strand);
    for (Program& program : programs_) {
      std::erase_if(program.strands,
                    [](const StrandProgram& strand) { return strand.instructions.empty(); });
      program.blocks_alone = natives_block_ && program.strands.size() == 1;
    }
    note_who_is_reached();
    choose_memory();
    choose_staging();
    let_run_ahead();
    note_streams();
    note_repeated_signals(programs_);
    if (recipes_ != nullptr) keep_wanted(*recipes_);
    keep_wanted(programs_);
    for (Program& program : programs_) program.number = take_program_numbers(1);
    return std::move(programs_);
  }

 private:
  /// The others were needed to find out who reaches whom, and who may run ahead.
  template <class Element>
  void keep_wanted(std::vector<Element>& by_worker) const {
    const auto count = static_cast<int>(by_worker.size());
    const int end = workers_.first + std::min(workers_.count, std::max(count - workers_.first, 0));
    by_worker.erase(by_worker.begin() + std::min(end, count), by_worker.end());
    by_worker.erase(by_worker.begin(), by_worker.begin() + std::min(workers_.first, end));
  }

  /// Of the node's members, for the whole vector.
  std::size_t buffers_bytes(const VectorExtent& extent) const {
    const Partition whole_vector = partition_for(
        schedule_, {.count = extent.count, .block_counts = extent.block_counts}, element_bytes_);
    std::size_t bytes = 0;
    for (int i = 0; i < schedule_.shape.node(node_).members; ++i) {
      const int member = schedule_.shape.first_member(node_) + i;
      for (const int buffer : {schedule_.input(member), schedule_.output(member)}) {
        const Buffer& whole = schedule_.buffers[static_cast<std::size_t>(buffer)];
        bytes += whole_vector.range(whole.first_chunk, whole.chunk_count).size() * element_bytes_;
      }
    }
    return bytes;
  }

  /// Of the node. Those that begin by receiving come first: workers go over their strands in this
  /// order, and what comes before anybody is there to receive it takes longer.
  std::vector<int> own_strands() const {
    std::vector<int> strands;
    for (std::size_t s = 0; s < schedule_.strands.size(); ++s) {
      const int worker = schedule_.strands[s].worker;
      if (schedule_.shape.node_of_worker(worker) == node_) strands.push_back(static_cast<int>(s));
    }
    std::ranges::stable_partition(strands, [&](int strand) {
      const std::vector<Step>& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
      return !steps.empty() && steps.front().kind == StepKind::recv;
    });
    return strands;
  }

  void place_flags() {
    const std::vector<bool> is_arrival = arrival_flags(schedule_);
    flags_.resize(schedule_.flags.size());
    for (std::size_t f = 0; f < schedule_.flags.size(); ++f) {
      const Flag& flag = schedule_.flags[f];
      if (flag.node != node_) continue;
      const int writer = schedule_.strands[static_cast<std::size_t>(flag.writer_strand)].worker;
      flags_[f].worker = writer - first_worker_;
      if (is_arrival[f]) continue;
      flags_[f].cell = programs_[static_cast<std::size_t>(flags_[f].worker)].flag_count++;
    }
  }

  void place_buffers() {
    buffers_.resize(schedule_.buffers.size());
    std::vector<int> lines_used(programs_.size(), 0);
    const std::vector<int> staging_owners = staging_workers(schedule_);
    const std::vector<std::size_t> begins = lay_out_own(staging_owners);
    for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) {
      const Buffer& buffer = schedule_.buffers[b];
      Operand& base = buffers_[b];
      base = {.role = buffer.role, .index = 0, .lines_buffer = 0, .offset_bytes = 0};
      if (is_of_member(buffer.role)) {
        const int member = buffer.owner - schedule_.shape.first_member(node_);
        if (member < 0 || member >= schedule_.shape.node(node_).members) continue;
        base.index = narrowed<std::uint16_t>(member);
        continue;
      }
      const int worker = worker_of(buffer, staging_owners[b]);
      if (worker < 0) continue;
      base.index = narrowed<std::uint16_t>(worker);
      if (buffer.role == BufferRole::stream) {
        base.lines_buffer = narrowed<std::uint16_t>(b);
      } else if (buffer.role == BufferRole::lines) {
        base.lines_buffer = narrowed<std::uint16_t>(lines_used[static_cast<std::size_t>(worker)]++);
      } else {
        base.offset_bytes = begins[b];
      }
    }
  }

  /// Whose a buffer is that is no member's, among the node's; -1: it is of another node, or nobody
  /// writes it.
  int worker_of(const Buffer& buffer, int staging_owner) const {
    const int owner = buffer.role == BufferRole::staging ? staging_owner : buffer.owner;
    const int worker = owner - first_worker_;
    return worker >= 0 && std::cmp_less(worker, programs_.size()) ? worker : -1;
  }

  /// Where the node's buffers in staging and scratch begin, by number; counts their bytes.
  std::vector<std::size_t> lay_out_own(const std::vector<int>& staging_owners) {
    const std::vector<Buffer>& buffers = schedule_.buffers;
    std::vector<std::size_t> begins(buffers.size());
    std::size_t elsewhere = 0;
    lay_out(
        begins,
        [&](std::size_t b) {
          return lies_over_another(buffers[b], b) ? static_cast<std::size_t>(buffers[b].shares_with)
                                                  : b;
        },
        [&](std::size_t b) {
          return is_of_member(buffers[b].role)
                     ? 0
                     : padded_bytes(buffers[b], partition_, element_bytes_);
        },
        [&](std::size_t b) -> std::size_t& {
          const bool is_staging = buffers[b].role == BufferRole::staging;
          const bool is_placed = is_staging || buffers[b].role == BufferRole::scratch;
          const int worker = is_placed ? worker_of(buffers[b], staging_owners[b]) : -1;
          if (worker < 0) return elsewhere;
          Program& program = programs_[static_cast<std::size_t>(worker)];
          return is_staging ? program.staging_bytes : program.scratch_bytes;
        });
    return begins;
  }

  void bind_strand(int strand_index) {
    const Strand& strand = schedule_.strands[static_cast<std::size_t>(strand_index)];
    Program& program = programs_[static_cast<std::size_t>(strand.worker - first_worker_)];
    StrandProgram& bound = program.strands.emplace_back();
    bound.instructions.reserve(strand.steps.size());
    std::vector<int> request_of_step(strand.steps.size(), -1);
    const StepParts parts(schedule_, !gap_before_block_.empty());
    std::vector<int> dependencies;  // of the next instruction: its own, and those of dropped steps
    for (std::size_t s = 0; s < strand.steps.size(); ++s) {
      const Step& step = strand.steps[s];
      for (const int earlier : schedule_.dependencies_of(step)) {
        const int request = request_of_step[static_cast<std::size_t>(earlier)];
        if (request >= 0) dependencies.push_back(request);
      }
      const bool is_flag_step = step.kind == StepKind::signal || step.kind == StepKind::wait;
      if (!is_flag_step) {
        parts.visit(step, [&](const StepPart& part) {
          if (bytes_of(part.chunks) == 0 && !touches_signals(schedule_, step)) return;
          Instruction instruction = bind_data_step(program, step, part);
          if (instruction.peer >= 0 && peers_ == Peers::processes) {
            // A lane is used by its leaders only, as is proved.
            instruction.peer =
                schedule_.shape.process(schedule_.shape.leader(step.peer_node, step.lane));
          }
          if (is_asynchronous(step.kind)) {
            instruction.request = request_of_step[s] = bound.request_count++;
          }
          add_instruction(program, bound, instruction, dependencies);
        });
        continue;
      }
      if (step.kind == StepKind::signal && flags_[static_cast<std::size_t>(step.flag)].cell < 0)
        continue;
      note_extent(program, {});
      add_instruction(program, bound, bind_flag_step(step), dependencies);
    }
  }

  /// `dependencies` are those of the instruction; none are left.
  static void add_instruction(Program& program, StrandProgram& strand, Instruction instruction,
                              std::vector<int>& dependencies) {
    instruction.first_dependency = narrowed<std::uint32_t>(program.dependencies.size());
    instruction.dependency_count = narrowed<std::uint32_t>(dependencies.size());
    program.dependencies.insert(program.dependencies.end(), dependencies.begin(),
                                dependencies.end());
    dependencies.clear();
    strand.instructions.push_back(instruction);
  }

  static bool is_of_others(const Operand& operand, std::size_t worker) {
    return is_of_member(operand.role) && operand.index != worker;
  }

  /// Which instructions touch the buffers of others' members, and whose members' buffers are
  /// touched by others.
  void note_who_is_reached() {
    bool some_touch_others = false;
    for (Program& program : programs_) program.is_looked_up = false;
    for (std::size_t w = 0; w < programs_.size(); ++w) {
      for (StrandProgram& strand : programs_[w].strands) {
        for (Instruction& instruction : strand.instructions) {
          const auto note = [&](const Operand& operand) {
            if (!is_of_others(operand, w)) return;
            instruction.reaches_others = some_touch_others = true;
            programs_[operand.index].is_looked_up = true;
            programs_[operand.index].touched_before = static_cast<int>(w) + 1;
          };
          const std::span<const Operand> operands = operands_of(programs_[w], instruction);
          std::ranges::for_each(operands, note);
          for (int follower = 1; follower < instruction.row_count; ++follower) {
            Operand source = operands.back();
            source.index = narrowed<std::uint16_t>(source.index + follower);
            note(source);
          }
        }
      }
    }
    for (Program& program : programs_) program.some_touch_others = some_touch_others;
  }

  static std::span<const Operand> operands_of(const Program& program,
                                              const Instruction& instruction) {
    return std::span(program.operands)
        .subspan(instruction.first_operand,
                 std::size_t{instruction.destination_count} + instruction.source_count);
  }

  /// What has to be alike on all nodes, which may have different buffers and strands.
  void learn_of_all_nodes(const BindingOptions& options) {
    HYCOLL_ASSERT(schedule_.is_whole() || options.needs != nullptr,
                  "a part is bound to what all nodes need");
    const ProgramNeeds needs = options.needs != nullptr ? *options.needs : needs_of(schedule_);
    const ProgramExtent extent{.partition = partition_,
                               .element_bytes = element_bytes_,
                               .tag_count = options.tag_count,
                               .has_gaps = !gap_before_block_.empty()};
    require_within_limits(needs, schedule_.algorithm, extent);
    natives_block_ = !needs.has_natives_that_must_not_block;
    is_compact_ = is_compact(needs, extent);
  }

  void choose_memory() {
    for (Program& program : programs_) {
      program.memory = is_compact_ ? NodeMemory::Part::compact : NodeMemory::Part::rest;
    }
  }

  void choose_staging() {
    std::size_t most_bytes = 0;
    for (const Program& program : programs_) {
      most_bytes = std::max(most_bytes, program.staging_bytes);
    }
    const StagingSets sets = StagingSets::of(most_bytes, brief_bytes_);
    for (Program& program : programs_) {
      program.stages_briefly = sets.are_brief;
      program.staging_set_bytes = sets.set_bytes;
    }
  }

  /// A member whose buffers nobody else touches is done when its data steps are: others find what
  /// they need of it in lines or staging. What it waits for at the end is only that the others have
  /// entered. On a single node, where calls send no messages; and where what is staged is brief.
  void let_run_ahead() {
    const bool stages_long = std::ranges::any_of(programs_, [](const Program& program) {
      return program.staging_bytes > 0 && !program.stages_briefly;
    });
    if (schedule_.shape.node_count() > 1 || stages_long) return;
    bool some_run_ahead = false;
    for (std::size_t w = 0; w < static_cast<std::size_t>(schedule_.shape.member_count()); ++w) {
      if (programs_[w].is_looked_up) continue;
      for (StrandProgram& strand : programs_[w].strands) {
        for (Instruction& instruction : std::views::reverse(strand.instructions)) {
          if (instruction.kind != InstructionKind::wait_post) break;
          instruction.kind = InstructionKind::follow_post;
          some_run_ahead = true;
        }
      }
    }
    for (Program& program : programs_) program.some_run_ahead = some_run_ahead;
  }

  void note_streams() {
    for (Program& program : programs_) {
      program.some_stream_outputs = stores_.streams_outputs() && some_make_final_outputs_;
    }
    if (recipes_ == nullptr) return;
    for (ProgramRecipe& recipe : *recipes_) {
      recipe.some_make_final_outputs = some_make_final_outputs_;
    }
  }

  ProgramRecipe* recipe_of(const Program& program) const {
    return recipes_ == nullptr ? nullptr : recipes_->data() + (&program - programs_.data());
  }

  /// Of the next instruction of the program.
  void note_extent(const Program& program, const ProgramRecipe::Extent& extent) const {
    if (ProgramRecipe* const recipe = recipe_of(program)) recipe->instructions.push_back(extent);
  }

  BufferRole role_of(const Span& span) const {
    return schedule_.buffers[static_cast<std::size_t>(span.buffer)].role;
  }

  Instruction bind_flag_step(const Step& step) const {
    const FlagPlace& place = flags_[static_cast<std::size_t>(step.flag)];
    Instruction instruction{.kind = InstructionKind::wait_post};
    instruction.worker = place.worker;
    if (place.cell < 0) return instruction;
    instruction.kind =
        step.kind == StepKind::signal ? InstructionKind::signal : InstructionKind::wait_flag;
    instruction.cell = place.cell;
    instruction.value = narrowed<std::uint32_t>(step.value);
    return instruction;
  }

  Instruction bind_data_step(Program& program, const Step& step, const StepPart& part) {
    const Span& chunks = part.chunks;
    const auto part_of = [&](const Span& span) {
      return Span{span.buffer, span.first_chunk + part.skipped, chunks.chunk_count};
    };
    Instruction instruction{.kind = kind_of(step)};
    instruction.lane = step.lane;
    instruction.peer = step.peer_node;
    instruction.tag = step.tag;
    instruction.count = partition_.range(chunks.first_chunk, chunks.chunk_count).size();
    instruction.size_bytes = instruction.count * element_bytes_;
    instruction.destination_count = narrowed<std::uint16_t>(part.destinations.size());
    instruction.source_count = narrowed<std::uint16_t>(part.sources.size());
    instruction.row_count = narrowed<std::uint16_t>(part.row_count);
    instruction.first_operand = narrowed<std::uint32_t>(program.operands.size());
    bool is_for_others = false;
    bool final_outputs = schedule_.shape.node_count() == 1 || step.kind == StepKind::copy;
    for (const Span& span : part.destinations) {
      add_operand(program, part_of(span));
      const BufferRole role = program.operands.back().role;
      final_outputs = final_outputs && role == BufferRole::output;
      is_for_others |= role == BufferRole::staging || is_others_output(program);
    }
    for (const Span& span : part.sources) {
      add_operand(program, part_of(span));
      if (program.operands.back().role == BufferRole::lines) ++instruction.lines_source_count;
    }
    some_make_final_outputs_ |= final_outputs;
    const ProgramRecipe::Extent extent{.first_chunk = chunks.first_chunk,
                                       .chunk_count = chunks.chunk_count,
                                       .makes_final_outputs = final_outputs,
                                       .is_for_others = is_for_others};
    stores_.apply(extent, instruction);
    program.lines_source_bytes =
        std::max(program.lines_source_bytes,
                 instruction.lines_source_count * unpacked_stride_bytes(instruction.size_bytes));
    note_extent(program, extent);
    return instruction;
  }

  /// The operand that has been added last.
  bool is_others_output(const Program& program) const {
    const auto worker = static_cast<std::size_t>(&program - programs_.data());
    return program.operands.back().role == BufferRole::output &&
           is_of_others(program.operands.back(), worker);
  }

  InstructionKind kind_of(const Step& step) const {
    switch (step.kind) {
      case StepKind::send:
        return InstructionKind::send;
      case StepKind::recv:
        return InstructionKind::receive;
      case StepKind::native:
        return InstructionKind::native;
      case StepKind::reduce:
        return InstructionKind::reduce;
      default: {
        const BufferRole role = role_of(schedule_.destinations(step).front());
        if (role == BufferRole::lines) return InstructionKind::write_lines;
        if (role == BufferRole::stream) return InstructionKind::write_stream;
        return role_of(schedule_.sources(step).front()) == BufferRole::stream
                   ? InstructionKind::read_stream
                   : InstructionKind::copy;
      }
    }
  }

  void add_operand(Program& program, const Span& span) const {
    const Buffer& buffer = schedule_.buffer_of(span);
    const int cell = cell_in(schedule_, buffer, span.first_chunk);
    ProgramRecipe::Place place{.first_chunk = buffer.first_chunk + cell,
                               .buffer_first_chunk = buffer.first_chunk};
    // Whoever reads nothing of lines waits for the first of them, which is always written.
    if (buffer.role == BufferRole::lines && bytes_of(span) == 0) {
      place.buffer_first_chunk = place.first_chunk;
    }
    if (buffer.role == BufferRole::staging || buffer.role == BufferRole::scratch) {
      place.buffer = span.buffer;
    }
    Operand operand = buffers_[static_cast<std::size_t>(span.buffer)];
    operand.offset_bytes +=
        partition_.range(place.buffer_first_chunk, place.first_chunk - place.buffer_first_chunk)
            .size() *
        element_bytes_;
    if (!gap_before_block_.empty() && holds_all_blocks(schedule_.collective, buffer.role)) {
      place.block = has_pairs(schedule_.collective) ? cell : block_of(schedule_, span.first_chunk);
      operand.offset_bytes +=
          gap_before_block_[static_cast<std::size_t>(place.block)] * element_bytes_;
    }
    program.operands.push_back(operand);
    if (ProgramRecipe* const recipe = recipe_of(program)) recipe->operands.push_back(place);
  }

  std::size_t bytes_of(const Span& span) const {
    return partition_.range(span.first_chunk, span.chunk_count).size() * element_bytes_;
  }

  std::vector<ProgramRecipe>* recipes_;  // by worker; null if nobody wants them
  const Schedule& schedule_;
  int node_;
  std::size_t element_bytes_;
  std::size_t brief_bytes_;
  WorkerRange workers_;
  Peers peers_;
  Partition partition_;
  int first_worker_;
  StepStores stores_;
  bool natives_block_ = false;
  bool is_compact_ = false;
  bool some_make_final_outputs_ = false;
  std::vector<std::size_t> gap_before_block_;  // elements, by member; empty if there are no gaps
  std::vector<FlagPlace> flags_;
  std::vector<Operand> buffers_;
  std::vector<Program> programs_;
};

}  // namespace

std::size_t slice_of(std::size_t count, const VectorExtent& extent) noexcept {
  return count <= extent.first ? 0 : std::min(extent.limit, count - extent.first);
}

std::size_t block_count(const VectorExtent& extent, int member) noexcept {
  return extent.block_counts.empty() ? extent.count
                                     : extent.block_counts[static_cast<std::size_t>(member)];
}

std::size_t longest_block(const VectorExtent& extent) noexcept {
  return extent.block_counts.empty() ? extent.count
                                     : *std::ranges::max_element(extent.block_counts);
}

bool is_whole(const VectorExtent& extent) noexcept {
  return extent.first == 0 && extent.limit >= longest_block(extent);
}

Chunking::Chunking(const Schedule& schedule)
    : block_count(has_blocks(schedule.collective) ? schedule.shape.member_count() : 0),
      chunk_count(number_count(schedule)),
      has_pairs(hycoll::has_pairs(schedule.collective)) {}

Partition partition_for(const Chunking& chunking, const VectorExtent& extent,
                        std::size_t element_bytes) {
  const std::size_t granule = std::max<std::size_t>(1, kCacheLineBytes / element_bytes);
  if (chunking.block_count == 0) {
    return Partition::balanced(slice_of(extent.count, extent), chunking.chunk_count, granule);
  }
  if (chunking.has_pairs) {
    return Partition::uniform(slice_of(extent.count, extent), chunking.chunk_count);
  }
  std::vector<std::size_t> offsets;
  offsets.reserve(static_cast<std::size_t>(chunking.chunk_count) + 1);
  offsets.push_back(0);
  for (int member = 0; member < chunking.block_count; ++member) {
    const std::size_t block = slice_of(block_count(extent, member), extent);
    const Partition chunks = Partition::balanced(block, chunking.chunks_per_block(), granule);
    const std::size_t begin = offsets.back();
    for (int chunk = 0; chunk < chunking.chunks_per_block(); ++chunk) {
      offsets.push_back(begin + chunks.range(chunk).end);
    }
  }
  return Partition::explicit_offsets(std::move(offsets));
}

Partition partition_for(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes) {
  return partition_for(Chunking(schedule), extent, element_bytes);
}

void add_gaps(const Chunking& chunking, const VectorExtent& extent,
              std::vector<std::size_t>& gaps) {
  std::size_t gap = 0;
  for (int member = 0; member < chunking.block_count; ++member) {
    gaps.push_back(gap);
    const std::size_t block = block_count(extent, member);
    gap += block - slice_of(block, extent);
  }
  if (gap == 0) gaps.clear();
}

std::size_t briefly_staged_bytes(const Shape& shape, const VectorExtent& extent,
                                 const BindingOptions& options) noexcept {
  return shape.node_count() == 1 && is_whole(extent) ? options.short_staging_bytes : 0;
}

std::uint64_t take_program_numbers(std::uint64_t count) noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(count, std::memory_order_relaxed);  // numbers that nobody else has
}

std::vector<Program> bind_schedule(const Schedule& schedule, int node, const VectorExtent& extent,
                                   const BindingOptions& options) {
  return Binder(schedule, node, extent, options, nullptr).bind();
}

std::vector<Program> bind_schedule(const Schedule& schedule, int node, const VectorExtent& extent,
                                   const BindingOptions& options,
                                   std::vector<ProgramRecipe>& recipes) {
  return Binder(schedule, node, extent, options, &recipes).bind();
}

}  // namespace hycoll
