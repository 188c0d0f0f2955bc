#ifndef HYCOLL_CORE_SCHEDULE_SCHEDULE_H_
#define HYCOLL_CORE_SCHEDULE_SCHEDULE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/collective_traits.h"
#include "core/schedule/shape.h"
#include "core/schedule/shape_part.h"

namespace hycoll {

/// What a buffer is for, and who its owner is.
enum class BufferRole : std::uint8_t {
  input,    ///< The input of member `owner`. Only read.
  output,   ///< The output of member `owner`. In place, a chunk that is in the member's input too
            ///< is the same memory in both.
  staging,  ///< Memory of node `owner` that all its workers may touch. The executor keeps it with
            ///< the worker that writes it first, has two sets and alternates between them from run
            ///< to run: nothing that a run leaves in it is there in the next one.
  scratch,  ///< Memory of worker `owner` alone.
  lines,    ///< Memory written by worker `owner` and read by its whole node, whose every cache line
          ///< carries the number of the call, so that data and signal travel in one transfer. Each
          ///< chunk is written at most once a run, by a copy or a reduce; a step that reads it
          ///< waits for that write by itself. The executor has two sets and alternates between them
          ///< from run to run.
  stream,  ///< What worker `owner` passes through its node's broadcast FIFO to the workers of all
           ///< other members. Written and read by copies, each chunk at most once a run by each;
           ///< all others read all that is written, in the same pieces and the same order. A step
           ///< that reads it waits for that write by itself. The FIFO has a bounded number of
           ///< slots, in which the streams of a node mix in an order that the run decides: so a
           ///< write may wait for everybody to read, whoever reads a stream waits for nothing else
           ///< meanwhile, and nobody writes before all members of the node have entered the run
           ///< (decision 19).
};

/// Whether a step that reads such a buffer waits for the write of what it reads.
constexpr bool carries_signals(BufferRole role) noexcept {
  return role == BufferRole::lines || role == BufferRole::stream;
}

/// Whether a buffer is the input or the output of a member.
constexpr bool is_of_member(BufferRole role) noexcept {
  return role == BufferRole::input || role == BufferRole::output;
}

/// Neighbouring chunks of the partition.
struct ChunkRange {
  int first = 0;
  int count = 0;
  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

/// Neighbouring chunks that lie in a pack (packs.h), under numbers of their own.
struct PackedChunks {
  int first_number;
  ChunkRange chunks;
  friend bool operator==(const PackedChunks&, const PackedChunks&) = default;
};

/// A place for the chunks [first_chunk, first_chunk + chunk_count) of the schedule's partition. A
/// row or a column of pairs has other chunks, as many as members: pairs.h tells which, and
/// first_chunk is 0. So has a pack: packs.h tells which, and first_chunk is the first of its
/// numbers.
struct Buffer {
  BufferRole role;
  int owner;
  int first_chunk;
  int chunk_count;
  /// Scratch in a place that it shares with others of its worker, as large as the largest of them:
  /// the first of these, itself for that one. What one of them holds is lost when another one is
  /// written. One strand at a time uses the place. -1: it has a place of its own.
  int shares_with = -1;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

/// Whether the place of a buffer, which has this number, is that of one before.
constexpr bool lies_over_another(const Buffer& buffer, std::size_t number) noexcept {
  return buffer.shares_with >= 0 && std::cmp_less(buffer.shares_with, number);
}

/// Neighbouring chunks of one buffer. The chunk numbers are those of the partition: copying and
/// reducing work on the same chunks everywhere, so a span also says which elements it holds.
struct Span {
  int buffer;
  int first_chunk;
  int chunk_count;
  friend bool operator==(const Span&, const Span&) = default;
};

enum class StepKind : std::uint8_t {
  send,    ///< Sends its one source to `peer_node` over `lane`. Asynchronous.
  recv,    ///< Receives its one destination from `peer_node` over `lane`. Asynchronous.
  reduce,  ///< destinations = source_0 op source_1 op ..., in this order, folded from the left.
  copy,    ///< destinations = the one source. With pairs one destination may be collected from
           ///< several sources, one after the other, none of which carries signals.
  signal,  ///< Raises `flag` to `value`.
  wait,    ///< Waits until `flag` has reached `value`.
  native,  ///< The MPI library's own allreduce over `lane`, from its one source into its one
           ///< destination. Asynchronous, but see natives_may_block(). Every node has it exactly
           ///< once per (lane, tag), for the same chunks.
};

std::string_view name_of(StepKind kind) noexcept;

/// Whether a step of this kind completes later than it is issued.
constexpr bool is_asynchronous(StepKind kind) noexcept {
  return kind == StepKind::send || kind == StepKind::recv || kind == StepKind::native;
}

/// One step. What it does not use is -1 or 0.
struct Step {
  StepKind kind;
  int lane = -1;
  int peer_node = -1;
  int tag = -1;  ///< Used once per (lane, sending node, receiving node), so nothing relies on the
                 ///< order of messages.
  int flag = -1;
  int value = 0;
  int first_span = 0;  ///< Into Schedule::spans: the destinations, then the sources.
  int destination_count = 0;
  int source_count = 0;
  int first_dependency = 0;  ///< Into Schedule::dependencies.
  int dependency_count = 0;
  friend bool operator==(const Step&, const Step&) = default;
};

/// Whether a step is a copy of several sources.
constexpr bool collects(const Step& step) noexcept {
  return step.kind == StepKind::copy && step.source_count > 1;
}

/// The part of a copy's destination that comes from one of its several sources, after `done` chunks
/// from those before.
constexpr Span collected_part(const Span& destination, int done, const Span& source) noexcept {
  return {destination.buffer, destination.first_chunk + done, source.chunk_count};
}

/// The tags that every transport has for one schedule: 0..kMostTags - 1. MPI promises 32,767, of
/// which neighbouring calls take four sets in turn.
inline constexpr int kMostTags = 32'767 / 4;

/// Steps that one worker issues in order. An asynchronous step may still be under way when later
/// steps are issued; a step is issued when everything in its dependencies has completed. A worker
/// with several strands (one per lane, or per segment of a pipeline) advances them in turn; between
/// strands, of one worker or of several, there are only flags and lines.
struct Strand {
  int worker;
  std::vector<Step> steps;
  friend bool operator==(const Strand&, const Strand&) = default;
};

/// A counter that starts each run at 0, raised by the one strand `writer_strand` only and read by
/// its node.
struct Flag {
  int node;
  int writer_strand;
  friend bool operator==(const Flag&, const Flag&) = default;
};

/// Stands for a buffer, strand or flag of a node whose steps a schedule does not have.
inline constexpr int kElsewhere = -2;

/// Everything that the workers do in one run of a collective on one shape, or what those of some of
/// its nodes do: plain, immutable data that knows no element type, operator, address or
/// communicator. Nodes and workers, members, lanes and tags have the same numbers in every part;
/// buffers, flags and strands those of the part. The parts of all nodes make the whole.
///
/// Rules of use that every schedule keeps, and that verify() proves: a member's buffers are touched
/// by others only between the moments when its owner enters and leaves; a synchronising collective
/// lets nobody leave before everybody on the node has entered.
struct Schedule {
  CollectiveTraits collective;
  std::string algorithm;
  Shape shape;
  int chunk_count;  ///< Of the partition that an executor binds to it. For collectives with blocks
                    ///< a multiple of the members, whose blocks follow each other in rank order;
                    ///< for those with pairs one for each (pairs.h).
  int root = 0;     ///< Of a collective that has one: a member. 0 otherwise.
  ShapePart part;   ///< The nodes whose steps these are.
  std::vector<Buffer> buffers;  ///< First the inputs of the part's members, then their outputs:
                                ///< they hold input_chunks() and output_chunks(), perhaps none.
  std::vector<Flag> flags;
  std::vector<Strand> strands;
  std::vector<Span> spans;
  std::vector<PackedChunks> packed;  ///< By their numbers, which follow each other.
  std::vector<int> dependencies;     ///< Step indices within the strand of the step that has them.

  bool is_whole() const { return part.nodes.count == shape.node_count(); }

  /// The indices of a member's buffers; kElsewhere if the member is not of this part.
  int input(int member) const {
    return part.members.holds(member) ? member - part.members.first : kElsewhere;
  }
  int output(int member) const {
    return part.members.holds(member) ? part.members.count + input(member) : kElsewhere;
  }
  const Buffer& buffer_of(const Span& span) const {
    return buffers[static_cast<std::size_t>(span.buffer)];
  }

  std::span<const Span> destinations(const Step& step) const {
    return std::span(spans).subspan(static_cast<std::size_t>(step.first_span),
                                    static_cast<std::size_t>(step.destination_count));
  }
  std::span<const Span> sources(const Step& step) const {
    return std::span(spans).subspan(
        static_cast<std::size_t>(step.first_span + step.destination_count),
        static_cast<std::size_t>(step.source_count));
  }
  std::span<const int> dependencies_of(const Step& step) const {
    return std::span(dependencies)
        .subspan(static_cast<std::size_t>(step.first_dependency),
                 static_cast<std::size_t>(step.dependency_count));
  }
  std::size_t step_count() const;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// The chunks that a member's input, or its output, has in a collective on `chunk_count` chunks:
/// all of them, those of the member's block, which are equally many for each, or none. Of a row or
/// column of pairs this tells how many, from 0 on, and not which (pairs.h).
ChunkRange input_chunks(const CollectiveTraits& collective, const Shape& shape, int chunk_count,
                        int root, int member);
ChunkRange output_chunks(const CollectiveTraits& collective, const Shape& shape, int chunk_count,
                         int root, int member);

/// The block in which a chunk lies: of the member with that number, or, of a collective with pairs,
/// the chunk itself. Requires a collective with blocks.
int block_of(const Schedule& schedule, int chunk);

/// The chunks that make up the vector whose size calls are spoken of by: all of them, or, with
/// pairs, those of one member's row.
int vector_chunk_count(const Schedule& schedule);

/// Whether a blocking call may block in each of the schedule's natives, until all nodes are there:
/// every worker that issues one, on any node, has nothing else to do meanwhile, for all of its
/// steps are in one strand. For all nodes or none, because blocking and nonblocking collectives of
/// MPI do not match: of a part this says what its own nodes can do.
bool natives_may_block(const Schedule& schedule);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_SCHEDULE_H_
