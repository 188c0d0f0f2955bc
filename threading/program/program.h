#ifndef HYCOLL_THREADING_PROGRAM_PROGRAM_H_
#define HYCOLL_THREADING_PROGRAM_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/partition.h"
#include "core/kernels/kernels.h"
#include "core/schedule/schedule.h"
#include "threading/memory/node_memory.h"
#include "threading/program/program_needs.h"

namespace hycoll {

/// Where an operand lies, resolved as far as possible without the addresses of a call.
struct Operand {
  BufferRole role;
  std::uint16_t index;  ///< Member on the node (input, output), or worker on the node (staging,
                        ///< lines).
  std::uint16_t lines_buffer;  ///< For a stream, its number in the FIFO.
  std::size_t offset_bytes;    ///< In lines: of the payload.
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// What the executor does in one step. The schedule's kinds, with two differences: entering a call
/// is announced by the executor itself, so waiting for a member to arrive has kinds of its own;
/// and steps whose operands are empty are gone, except those on lines, which are signals too.
enum class InstructionKind : std::uint8_t {
  send,
  receive,
  native,
  reduce,
  copy,
  write_lines,
  write_stream,
  read_stream,
  signal,
  wait_flag,
  wait_post,
  wait_line,    ///< For the first line of a worker's lines buffer.
  follow_post,  ///< A wait_post that may be postponed: at the end of a strand of a member whose
                ///< buffers nobody else touches.
  left_out,     ///< A signal that is repeated soon (repeated_signals.h): nothing is done.
};

struct Instruction {
  InstructionKind kind;
  Stores stores = Stores::cached;
  /// It stores so much into staging, or into others' outputs, that streaming stores pay if the
  /// node's processes, or members, are far from one another (NodeMemory::is_far).
  bool streams_if_far = false;
  std::uint16_t destination_count = 0;
  std::uint16_t source_count = 0;
  std::uint16_t lines_source_count = 0;  ///< Of the sources, those that lie in lines.
  /// copy: its one source, and the same part of the inputs of the members that follow, so many in
  /// all, make up its one destination one after the other.
  std::uint16_t row_count = 1;
  std::uint32_t dependency_count = 0;
  int lane = -1;
  int peer = -1;  ///< As BindingOptions::peers says.
  int tag = -1;
  int worker = -1;                  ///< signal and the waits: whose cell, on the node.
  int cell = -1;                    ///< signal, wait_flag; of wait_line the lines buffer.
  std::uint32_t value = 0;          ///< signal, wait_flag.
  int request = -1;                 ///< Asynchronous: its slot in the strand's requests.
  bool reaches_others = false;      ///< Some operands are buffers of other workers' members.
  bool is_repeated = false;         ///< signal and left_out: see repeated_signals.h.
  bool first_line_last = false;     ///< write_lines: whoever has seen the first has all of them.
  std::uint32_t first_operand = 0;  ///< Into Program::operands: destinations, then sources.
  std::uint32_t first_dependency =
      0;                  ///< Into Program::dependencies: request slots to complete first.
  std::size_t count = 0;  ///< Elements.
  std::size_t size_bytes = 0;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct StrandProgram {
  std::vector<Instruction> instructions;
  int request_count = 0;
  bool repeats_signals = false;  ///< Some are repeated.
  friend bool operator==(const StrandProgram&, const StrandProgram&) = default;
};

/// A schedule bound to a vector: what one worker executes. Does not change while a run executes it.
struct Program {
  /// Nothing else that has been bound in this process has this number: who keeps something for the
  /// last program knows it again by that, for another one may have come to lie at its address.
  std::uint64_t number = 0;
  /// Programs of the same form differ by what depends on the vector's length only
  /// (ScheduleBinding); 0: it has been bound by itself.
  std::uint64_t form = 0;
  /// The schedule's algorithm; "" for programs that have none. Lasts to the process's end.
  const char* algorithm = "";
  std::vector<StrandProgram> strands;
  std::vector<Operand> operands;
  std::vector<int> dependencies;
  /// Section::compact: its run uses nothing of its node's memory but that section. Otherwise its
  /// lines lie in the rest. Alike on all workers of all nodes.
  NodeMemory::Section memory = NodeMemory::Section::rest;
  int flag_count = 0;  ///< Cells of this worker that it signals: 0..flag_count-1.
  std::size_t scratch_bytes = 0;
  std::size_t staging_bytes = 0;  ///< Of this worker, in one set.
  /// NodeMemory::staging_turns(); alike on all workers of the node.
  std::size_t staging_set_bytes = 0;
  bool stages_briefly = false;         ///< In so many sets that members may run ahead; alike, too.
  std::size_t lines_source_bytes = 0;  ///< Room to unpack the lines sources of the largest step.
  /// One strand, as on every worker of every node that calls the transport's own collectives: the
  /// worker of a blocking call may block inside the transport.
  bool blocks_alone = false;
  /// Others may look where the buffers of this worker's member are: false only if nobody does.
  bool is_looked_up = true;
  /// The buffers of this worker's member are touched by workers before this one only; 0: by no
  /// other.
  int touched_before = 0;
  /// Some workers of the node touch the buffers of others' members.
  bool some_touch_others = false;
  /// Some programs of the node have postponable waits.
  bool some_run_ahead = false;
  /// Some workers of the node write outputs past the caches.
  bool some_stream_outputs = false;

  /// Some workers of the node stage.
  bool stages() const noexcept { return staging_bytes > 0 || staging_set_bytes > 0; }
  friend bool operator==(const Program&, const Program&) = default;
};

/// The first of so many neighbouring numbers that no program has.
std::uint64_t take_program_numbers(std::uint64_t count) noexcept;

/// The same name, for as long as the process lives. There are a few dozen different ones.
const char* kept_algorithm_name(const std::string& name);

/// Whom an endpoint sends to.
enum class Peers {
  nodes,      ///< One process: the node.
  processes,  ///< One of many: the process of the worker at the other end (Shape::process).
};

/// Neighbouring workers of a node, as far as it has them.
struct WorkerRange {
  int first = 0;
  int count = INT32_MAX;
};

/// How a schedule is bound to a vector and a machine.
struct BindingOptions {
  std::size_t element_bytes = 1;
  /// Steps that store into outputs use streaming stores when the buffers of the node have so many
  /// bytes or more together.
  std::size_t streaming_threshold_bytes = SIZE_MAX;
  /// Steps that store so much or more into staging, or others' outputs, use streaming stores where
  /// workers are far from one another.
  std::size_t streaming_staging_bytes = SIZE_MAX;
  /// Whole vectors of which each worker of a single node stages so much at most use short staging.
  std::size_t short_staging_bytes = 0;
  Peers peers = Peers::nodes;
  /// The tags that the endpoints have for a schedule (Endpoint::tag_count), alike on all nodes.
  int tag_count = INT32_MAX;
  /// Whose programs are wanted: of a node of several processes each needs its own workers'.
  WorkerRange workers = {};
  /// For a part of a schedule, what all of its nodes need: it has to be alike on all nodes. Null
  /// for a whole schedule, which says it itself.
  const ProgramNeeds* needs = nullptr;
};

/// The vector that a schedule is bound to.
struct VectorExtent {
  /// Elements of the vector; for collectives with equal blocks, or pairs, of one block.
  std::size_t count = 0;
  /// Of collectives with unequal blocks: the elements of each, by member. Empty otherwise.
  std::span<const std::size_t> block_counts = {};
  /// Only these elements of the vector, or of every block, as far as there are any: a slice that
  /// passes through bounded staging (staging_slices.h). The buffers of a call are then those of the
  /// whole vector, both displaced by `first` elements, and slices of the same length have the same
  /// programs.
  std::size_t first = 0;
  std::size_t limit = SIZE_MAX;
};

/// How the chunks of a schedule cut a vector: the same on all nodes.
struct Chunking {
  int block_count = 0;  ///< Of what a member has of all others; 0: the vector is one.
  int chunk_count = 1;  ///< With pairs the numbers of chunks (packs.h), all of them equally long.
  bool has_pairs = false;  ///< Each chunk is a block, of one pair of members.

  explicit Chunking(const Schedule& schedule);
  int chunks_per_block() const {
    if (has_pairs) return 1;
    return block_count == 0 ? chunk_count : chunk_count / block_count;
  }
};

/// How a vector is cut: chunks are balanced in units of cache lines.
Partition partition_for(const Chunking& chunking, const VectorExtent& extent,
                        std::size_t element_bytes);
Partition partition_for(const Schedule& schedule, const VectorExtent& extent,
                        std::size_t element_bytes);

/// Of a vector or block of `count` elements those that are in the slice.
std::size_t slice_of(std::size_t count, const VectorExtent& extent) noexcept;

/// The elements of a block before it is sliced.
std::size_t block_count(const VectorExtent& extent, int member) noexcept;

/// The elements that a vector, or the longest of its blocks, has.
std::size_t longest_block(const VectorExtent& extent) noexcept;

/// Whether the slice is the vector.
bool is_whole(const VectorExtent& extent) noexcept;

/// The bytes of so many elements, in whole cache lines: what a buffer takes in staging or scratch.
constexpr std::size_t padded_to_lines(std::size_t size_bytes) noexcept {
  return (size_bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

/// The set that suffices for runs in which a worker stages so much at most.
constexpr std::size_t staging_set_bytes_for(std::size_t most_bytes) noexcept {
  return (most_bytes + kSeparationBytes - 1) / kSeparationBytes * kSeparationBytes;
}

/// What workers may stage briefly: on a single node, where members may run ahead, and not in calls
/// with slices, of which the last one may be short.
std::size_t briefly_staged_bytes(const Shape& shape, const VectorExtent& extent,
                                 const BindingOptions& options) noexcept;

/// How the workers of a node stage: Program::stages_briefly, and Program::staging_set_bytes.
struct StagingSets {
  bool are_brief;
  std::size_t set_bytes;

  /// For runs in which a worker stages `most_bytes` at most, and `brief_bytes` may be brief.
  static constexpr StagingSets of(std::size_t most_bytes, std::size_t brief_bytes) noexcept {
    const bool are_brief = most_bytes > 0 && most_bytes <= brief_bytes;
    return {are_brief, are_brief ? brief_bytes : staging_set_bytes_for(most_bytes)};
  }
};

/// The elements of neighbouring blocks' slices lie apart by what is left of the blocks between:
/// adds, for each block, what is left of those before it. No elements if nothing is left of any.
void add_gaps(const Chunking& chunking, const VectorExtent& extent, std::vector<std::size_t>& gaps);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_PROGRAM_H_
