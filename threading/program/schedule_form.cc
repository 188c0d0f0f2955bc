#include "threading/program/schedule_form.h"

#include <algorithm>
#include <cstdint>
#include <ranges>
#include <span>
#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "threading/program/program_needs.h"
#include "threading/program/repeated_signals.h"
#include "threading/program/staging_slices.h"
#include "threading/program/step_parts.h"

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

/// Makes the form of one node. Each step of the schedule becomes at most one instruction.
class FormMaker {
 public:
  FormMaker(const Schedule& schedule, int node, const ProgramNeeds& needs,
            const Partition& partition, const FormKind& kind, const BindingOptions& options)
      : schedule_(schedule),
        node_(node),
        partition_(partition),
        kind_(kind),
        options_(options),
        natives_block_(!needs.has_natives_that_must_not_block),
        first_worker_(schedule.shape.first_worker(node)),
        programs_(static_cast<std::size_t>(schedule.shape.node(node).workers)),
        recipes_(programs_.size()) {}

  ScheduleForm make() {
    place_flags();
    place_buffers();
    for (const int strand : own_strands()) bind_strand(strand);
    for (Program& program : programs_) {
      std::erase_if(program.strands,
                    [](const StrandProgram& strand) { return strand.instructions.empty(); });
      program.blocks_alone = natives_block_ && program.strands.size() == 1;
      program.stages_briefly = kind_.stages_briefly;
    }
    for (ProgramRecipe& recipe : recipes_) {
      recipe.some_make_final_outputs = some_make_final_outputs_;
    }
    note_who_is_reached();
    let_run_ahead();
    note_repeated_signals(programs_);
    keep_wanted(recipes_);
    keep_wanted(programs_);
    return {.programs = std::move(programs_), .recipes = std::move(recipes_)};
  }

 private:
  /// The others were needed to find out who reaches whom, and who may run ahead.
  template <class Element>
  void keep_wanted(std::vector<Element>& by_worker) const {
    const auto count = static_cast<int>(by_worker.size());
    const auto [first, wanted] = options_.workers;
    const int end = first + std::min(wanted, std::max(count - first, 0));
    by_worker.erase(by_worker.begin() + std::min(end, count), by_worker.end());
    by_worker.erase(by_worker.begin(), by_worker.begin() + std::min(first, end));
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
      } else if (buffer.role == BufferRole::staging) {
        some_stage_ |= !is_empty(buffer.first_chunk, buffer.chunk_count);
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

  void bind_strand(int strand_index) {
    const Strand& strand = schedule_.strands[static_cast<std::size_t>(strand_index)];
    Program& program = programs_[static_cast<std::size_t>(strand.worker - first_worker_)];
    StrandProgram& bound = program.strands.emplace_back();
    bound.instructions.reserve(strand.steps.size());
    std::vector<int> request_of_step(strand.steps.size(), -1);
    const StepParts parts(schedule_, kind_.has_gaps);
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
          if (is_empty(part.chunks) && !touches_signals(schedule_, step)) return;
          Instruction instruction = bind_data_step(program, step, part);
          if (instruction.peer >= 0 && options_.peers == Peers::processes) {
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

  /// A member whose buffers nobody else touches is done when its data steps are: others find what
  /// they need of it in lines or staging. What it waits for at the end is only that the others have
  /// entered. On a single node, where calls send no messages; and where what is staged is brief.
  void let_run_ahead() {
    const bool stages_long = some_stage_ && !kind_.stages_briefly;
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

  ProgramRecipe& recipe_of(const Program& program) {
    return recipes_[static_cast<std::size_t>(&program - programs_.data())];
  }

  /// Of the next instruction of the program.
  void note_extent(const Program& program, const ProgramRecipe::Extent& extent) {
    recipe_of(program).instructions.push_back(extent);
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
    note_extent(program, {.first_chunk = chunks.first_chunk,
                          .chunk_count = chunks.chunk_count,
                          .makes_final_outputs = final_outputs,
                          .is_for_others = is_for_others});
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

  void add_operand(Program& program, const Span& span) {
    const Buffer& buffer = schedule_.buffer_of(span);
    const int cell = cell_in(schedule_, buffer, span.first_chunk);
    ProgramRecipe::Place place{.first_chunk = buffer.first_chunk + cell,
                               .buffer_first_chunk = buffer.first_chunk};
    // Whoever reads nothing of lines waits for the first of them, which is always written.
    if (buffer.role == BufferRole::lines && is_empty(span)) {
      place.buffer_first_chunk = place.first_chunk;
    }
    if (buffer.role == BufferRole::staging || buffer.role == BufferRole::scratch) {
      place.buffer = span.buffer;
    }
    if (kind_.has_gaps && holds_all_blocks(schedule_.collective, buffer.role)) {
      place.block = has_pairs(schedule_.collective) ? cell : block_of(schedule_, span.first_chunk);
    }
    program.operands.push_back(buffers_[static_cast<std::size_t>(span.buffer)]);
    recipe_of(program).operands.push_back(place);
  }

  bool is_empty(int first_chunk, int chunk_count) const {
    return partition_.range(first_chunk, chunk_count).size() == 0;
  }
  bool is_empty(const Span& span) const { return is_empty(span.first_chunk, span.chunk_count); }

  const Schedule& schedule_;
  int node_;
  const Partition& partition_;
  const FormKind& kind_;
  const BindingOptions& options_;
  bool natives_block_;
  int first_worker_;
  bool some_stage_ = false;
  bool some_make_final_outputs_ = false;
  std::vector<FlagPlace> flags_;
  std::vector<Operand> buffers_;
  std::vector<Program> programs_;
  std::vector<ProgramRecipe> recipes_;  // by worker
};

}  // namespace

ScheduleForm form_of(const Schedule& schedule, int node, const ProgramNeeds& needs,
                     const Partition& partition, const FormKind& kind,
                     const BindingOptions& options) {
  return FormMaker(schedule, node, needs, partition, kind, options).make();
}

}  // namespace hycoll
