#include "threading/program/schedule_binding.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/errors.h"
#include "threading/memory/node_memory.h"
#include "threading/program/memory_layout.h"
#include "threading/program/repeated_signals.h"

namespace hycoll {
namespace {

/// Forms that are kept. A communicator's calls have one or two of each schedule; lists of counts
/// with ever other zeros in them have as many as there are lists.
constexpr int kMostForms = 16;

template <class Element>
std::size_t capacity_bytes(const std::vector<Element>& elements) noexcept {
  return elements.capacity() * sizeof(Element);
}

}  // namespace

std::size_t memory_bytes(const Program& program) noexcept {
  std::size_t bytes = capacity_bytes(program.strands) + capacity_bytes(program.operands) +
                      capacity_bytes(program.dependencies);
  for (const StrandProgram& strand : program.strands) bytes += capacity_bytes(strand.instructions);
  return bytes;
}

std::size_t memory_bytes(const std::vector<Program>& programs) noexcept {
  return std::accumulate(
      programs.begin(), programs.end(), capacity_bytes(programs),
      [](std::size_t bytes, const Program& program) { return bytes + memory_bytes(program); });
}

std::size_t memory_bytes(const Schedule& schedule) noexcept {
  const auto size_bytes = [](const auto& elements) {
    return elements.size() * sizeof(elements.front());
  };
  std::size_t bytes = sizeof(Schedule) + size_bytes(schedule.buffers) + size_bytes(schedule.flags) +
                      size_bytes(schedule.strands) + size_bytes(schedule.spans) +
                      size_bytes(schedule.packed) + size_bytes(schedule.dependencies);
  for (const Strand& strand : schedule.strands) bytes += size_bytes(strand.steps);
  return bytes;
}

std::uint64_t BindingMemory::next_number() noexcept {
  // Threads that bind at once do not pass a cache line to one another for each program.
  constexpr std::uint64_t kBlock = 1 << 16;
  if (next_number_ == numbers_end_) {
    next_number_ = take_program_numbers(kBlock);
    numbers_end_ = next_number_ + kBlock;
  }
  return next_number_++;
}

/// What a vector's length comes to.
struct ScheduleBinding::Numbers {
  const Partition& partition;
  std::size_t element_bytes;
  StepStores stores;
  NodeMemory::Section section;
  std::size_t staging_set_bytes;
  BindingMemory& memory;
};

ScheduleBinding::ScheduleBinding(Schedule schedule, int node, const BindingOptions& options)
    : schedule_(std::move(schedule)),
      node_(node),
      needs_(options.needs != nullptr ? *options.needs : needs_of(schedule_)),
      options_(options),
      chunking_(schedule_) {
  HYCOLL_ASSERT(schedule_.is_whole() || options.needs != nullptr,
                "a part is bound to what all nodes need");
  options_.needs = &needs_;
  // As it is kept for long.
  for (Strand& strand : schedule_.strands) strand.steps.shrink_to_fit();
  schedule_.spans.shrink_to_fit();
  schedule_.packed.shrink_to_fit();
  schedule_.dependencies.shrink_to_fit();
  note_placed_buffers();
  note_member_chunks();
  schedule_bytes_ = sizeof(ScheduleBinding) + memory_bytes(schedule_) +
                    capacity_bytes(place_of_buffer_) + capacity_bytes(placed_) +
                    capacity_bytes(member_chunks_);
}

void ScheduleBinding::note_placed_buffers() {
  const std::vector<int> staging_owners = staging_workers(schedule_);
  const int first_worker = schedule_.shape.first_worker(node_);
  place_of_buffer_.assign(schedule_.buffers.size(), -1);
  for (std::size_t b = 0; b < schedule_.buffers.size(); ++b) {
    const Buffer& buffer = schedule_.buffers[b];
    const bool is_staging = buffer.role == BufferRole::staging;
    if (!is_staging && buffer.role != BufferRole::scratch) continue;
    const int worker = (is_staging ? staging_owners[b] : buffer.owner) - first_worker;
    if (worker < 0 || worker >= schedule_.shape.node(node_).workers) continue;
    const auto number = static_cast<int>(placed_.size());
    place_of_buffer_[b] = number;
    const bool shares = lies_over_another(buffer, b);
    const std::size_t first = shares ? static_cast<std::size_t>(buffer.shares_with) : b;
    placed_.push_back({.worker = worker,
                       .is_staging = is_staging,
                       .lies_at = place_of_buffer_[first],
                       .chunks = {.first = buffer.first_chunk, .count = buffer.chunk_count}});
  }
}

void ScheduleBinding::note_member_chunks() {
  for (int i = 0; i < schedule_.shape.node(node_).members; ++i) {
    const int member = schedule_.shape.first_member(node_) + i;
    for (const int id : {schedule_.input(member), schedule_.output(member)}) {
      const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(id)];
      const ChunkRange chunks{.first = buffer.first_chunk, .count = buffer.chunk_count};
      const auto same = std::ranges::find(member_chunks_, chunks, &MemberChunks::chunks);
      if (same != member_chunks_.end()) {
        ++same->buffer_count;
      } else {
        member_chunks_.push_back({.chunks = chunks, .buffer_count = 1});
      }
    }
  }
}

void ScheduleBinding::find_places(const Partition& partition, std::size_t element_bytes,
                                  BindingMemory& memory) const {
  const auto workers = static_cast<std::size_t>(schedule_.shape.node(node_).workers);
  memory.staged_bytes.assign(workers, 0);
  memory.scratch_bytes.assign(workers, 0);
  memory.buffer_begins.resize(placed_.size());
  lay_out(
      memory.buffer_begins,
      [&](std::size_t b) { return static_cast<std::size_t>(placed_[b].lies_at); },
      [&](std::size_t b) {
        const ChunkRange& chunks = placed_[b].chunks;
        return padded_to_lines(partition.range(chunks.first, chunks.count).size() * element_bytes);
      },
      [&](std::size_t b) -> std::size_t& {
        return memory.used_by(placed_[b].worker, placed_[b].is_staging);
      });
}

void ScheduleBinding::count_filled_chunks(const VectorExtent& extent, const Partition& partition,
                                          std::size_t element_bytes,
                                          std::vector<int>& filled) const {
  filled.clear();
  if (chunking_.block_count == 0) {
    filled.push_back(partition.filled_chunk_count());
    return;
  }
  if (chunking_.has_pairs) {
    filled.push_back(partition.element_count() > 0 ? 1 : 0);
    return;
  }
  const std::size_t granule = std::max<std::size_t>(1, kCacheLineBytes / element_bytes);
  const auto most = static_cast<std::size_t>(chunking_.chunks_per_block());
  for (int block = 0; block < chunking_.block_count; ++block) {
    const std::size_t count = slice_of(block_count(extent, block), extent);
    const std::size_t granules = count / granule + (count % granule != 0 ? 1 : 0);
    filled.push_back(static_cast<int>(std::min(granules, most)));
  }
}

std::size_t ScheduleBinding::buffers_bytes(const VectorExtent& extent, const Partition& partition,
                                           std::size_t element_bytes) const {
  if (!is_whole(extent)) {
    const VectorExtent vector{.count = extent.count, .block_counts = extent.block_counts};
    return buffers_bytes(vector, partition_for(chunking_, vector, element_bytes), element_bytes);
  }
  std::size_t bytes = 0;
  for (const auto& [chunks, buffer_count] : member_chunks_) {
    bytes += buffer_count * partition.range(chunks.first, chunks.count).size() * element_bytes;
  }
  return bytes;
}

StepStores ScheduleBinding::stores_for(const VectorExtent& extent, const Partition& partition,
                                       std::size_t element_bytes) const {
  const bool may_stream = options_.streaming_threshold_bytes != SIZE_MAX;
  const std::size_t bytes = may_stream ? buffers_bytes(extent, partition, element_bytes) : 0;
  return {schedule_.collective, bytes, options_};
}

const ScheduleBinding::Form* ScheduleBinding::find_form(bool stages_briefly,
                                                        const BindingMemory& memory) const {
  // Pairs with the releasing store in make_form().
  const Form* form = forms_.load(std::memory_order_acquire);
  const FormKind kind{.has_gaps = !memory.gaps.empty(), .stages_briefly = stages_briefly};
  for (; form != nullptr; form = form->next.get()) {
    if (form->kind == kind && form->filled_chunks == memory.filled_chunks) break;
  }
  return form;
}

std::unique_ptr<ScheduleBinding::Form> ScheduleBinding::make_form(
    const Partition& partition, bool stages_briefly, const BindingMemory& memory) const {
  auto made = std::make_unique<Form>();
  made->number = take_program_numbers(1);
  made->kind = {.has_gaps = !memory.gaps.empty(), .stages_briefly = stages_briefly};
  made->filled_chunks = memory.filled_chunks;
  made->form = form_of(schedule_, node_, needs_, partition, made->kind, options_);
  const char* const algorithm = kept_algorithm_name(schedule_.algorithm);
  for (Program& program : made->form.programs) {
    program.form = made->number;
    program.algorithm = algorithm;
  }
  for (ProgramRecipe& recipe : made->form.recipes) {
    for (ProgramRecipe::Place& place : recipe.operands) {
      if (place.buffer < 0) continue;
      place.buffer = place_of_buffer_[static_cast<std::size_t>(place.buffer)];
    }
  }
  return made;
}

const ScheduleBinding::Form* ScheduleBinding::keep_form(const Partition& partition,
                                                        bool stages_briefly,
                                                        const BindingMemory& memory) const {
  const std::lock_guard lock(mutex_);
  // Somebody else may have made it meanwhile.
  if (const Form* const made = find_form(stages_briefly, memory)) return made;
  if (form_count_ == kMostForms) return nullptr;
  std::unique_ptr<Form> made = make_form(partition, stages_briefly, memory);
  std::size_t bytes =
      sizeof(Form) + memory_bytes(made->form.programs) + capacity_bytes(made->form.recipes);
  for (const ProgramRecipe& recipe : made->form.recipes) {
    bytes += capacity_bytes(recipe.instructions) + capacity_bytes(recipe.operands);
  }
  made->next = std::move(first_form_);
  first_form_ = std::move(made);
  // Pairs with the acquiring load in find_form().
  forms_.store(first_form_.get(), std::memory_order_release);
  form_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  ++form_count_;
  return first_form_.get();
}

void ScheduleBinding::fill(const Numbers& numbers, const ProgramRecipe& recipe,
                           Program& program) const {
  const Partition& partition = numbers.partition;
  const auto chunk_count = static_cast<std::size_t>(partition.chunk_count());
  if (chunk_count > 2 * recipe.operands.size()) {
    return fill(numbers, recipe, program, [&](int chunk) { return partition.range(0, chunk).end; });
  }
  std::vector<std::size_t>& begins = numbers.memory.chunk_begins;
  begins.resize(chunk_count + 1);
  for (std::size_t chunk = 0; chunk <= chunk_count; ++chunk) {
    begins[chunk] = partition.range(0, static_cast<int>(chunk)).end;
  }
  fill(numbers, recipe, program,
       [first = begins.data()](int chunk) { return first[static_cast<std::size_t>(chunk)]; });
}

template <class BeginOf>
void ScheduleBinding::fill(const Numbers& numbers, const ProgramRecipe& recipe, Program& program,
                           const BeginOf& begin_of) const {
  BindingMemory& memory = numbers.memory;
  const std::size_t element_bytes = numbers.element_bytes;
  const StepStores stores = numbers.stores;
  const ProgramRecipe::Extent* next = recipe.instructions.data();
  std::size_t lines_source_bytes = 0;
  for (StrandProgram& strand : program.strands) {
    for (Instruction& instruction : strand.instructions) {
      const ProgramRecipe::Extent& extent = *next++;
      instruction.count =
          begin_of(extent.first_chunk + extent.chunk_count) - begin_of(extent.first_chunk);
      instruction.size_bytes = instruction.count * element_bytes;
      stores.apply(extent, instruction);
      if (instruction.lines_source_count == 0) continue;
      lines_source_bytes =
          std::max(lines_source_bytes,
                   instruction.lines_source_count * unpacked_stride_bytes(instruction.size_bytes));
    }
    leave_out_signals(strand);
  }
  const std::size_t* const gaps = memory.gaps.data();
  const std::size_t* const buffer_begins = memory.buffer_begins.data();
  const ProgramRecipe::Place* place = recipe.operands.data();
  for (Operand& operand : program.operands) {
    std::size_t skipped = begin_of(place->first_chunk) - begin_of(place->buffer_first_chunk);
    if (place->block >= 0) skipped += gaps[place->block];
    const std::size_t begin = place->buffer < 0 ? 0 : buffer_begins[place->buffer];
    operand.offset_bytes = begin + skipped * element_bytes;
    ++place;
  }
  program.lines_source_bytes = lines_source_bytes;
  program.memory = numbers.section;
  program.some_stream_outputs = stores.streams_outputs() && recipe.some_make_final_outputs;
  program.number = memory.next_number();
}

void ScheduleBinding::fill(const Numbers& numbers, const Form& form, WorkerRange workers,
                           std::vector<Program>& programs) const {
  const auto first = static_cast<std::size_t>(workers.first);
  const std::size_t count =
      std::min(form.form.programs.size() - first, static_cast<std::size_t>(workers.count));
  programs.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    Program& program = programs[i];
    if (program.form != form.number) program = form.form.programs[first + i];
    fill(numbers, form.form.recipes[first + i], program);
    const std::size_t worker = static_cast<std::size_t>(options_.workers.first) + first + i;
    program.staging_bytes = numbers.memory.staged_bytes[worker];
    program.staging_set_bytes = numbers.staging_set_bytes;
    program.scratch_bytes = numbers.memory.scratch_bytes[worker];
  }
}

void ScheduleBinding::bind(const VectorExtent& extent, std::size_t element_bytes,
                           WorkerRange workers, BindingMemory& memory,
                           std::vector<Program>& programs) const {
  const Partition partition = partition_for(chunking_, extent, element_bytes);
  memory.gaps.clear();
  add_gaps(chunking_, extent, memory.gaps);
  const ProgramExtent program_extent{.partition = partition,
                                     .element_bytes = element_bytes,
                                     .tag_count = options_.tag_count,
                                     .has_gaps = !memory.gaps.empty()};
  require_within_limits(needs_, schedule_.algorithm, program_extent);
  find_places(partition, element_bytes, memory);
  count_filled_chunks(extent, partition, element_bytes, memory.filled_chunks);
  const std::size_t most_staged = std::ranges::max(memory.staged_bytes);
  const StagingSets sets =
      StagingSets::of(most_staged, briefly_staged_bytes(schedule_.shape, extent, options_));
  const Form* form = find_form(sets.are_brief, memory);
  if (form == nullptr) form = keep_form(partition, sets.are_brief, memory);
  std::unique_ptr<Form> alone;
  if (form == nullptr) {
    alone = make_form(partition, sets.are_brief, memory);
    form = alone.get();
  }
  const Numbers numbers{.partition = partition,
                        .element_bytes = element_bytes,
                        .stores = stores_for(extent, partition, element_bytes),
                        .section = memory_section_for(needs_, program_extent),
                        .staging_set_bytes = sets.set_bytes,
                        .memory = memory};
  fill(numbers, *form, workers, programs);
}

std::vector<Program> bind_schedule(Schedule schedule, int node, const VectorExtent& extent,
                                   const BindingOptions& options) {
  const ScheduleBinding binding(std::move(schedule), node, options);
  BindingMemory memory;
  std::vector<Program> programs;
  binding.bind(extent, options.element_bytes, {}, memory, programs);
  return programs;
}

void bind_slices(const ScheduleBinding& binding, const VectorExtent& extent,
                 std::size_t element_bytes, std::size_t limit, WorkerRange workers,
                 BindingMemory& memory, SlicedPrograms& sliced) {
  Slices slices(extent, limit);
  sliced.run_count = slices.run_count();
  sliced.displacement_bytes = slices.limit() * element_bytes;
  sliced.programs.resize(slices.program_count());
  for (std::size_t program = 0; program < slices.program_count(); ++program) {
    binding.bind(slices.slice(program), element_bytes, workers, memory, sliced.programs[program]);
    // The first one is the longest.
    if (program == 0) sliced.staging_bytes = std::ranges::max(memory.staged_bytes);
  }
}

}  // namespace hycoll
