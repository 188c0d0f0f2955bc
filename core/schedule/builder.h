#ifndef HYCOLL_CORE_SCHEDULE_BUILDER_H_
#define HYCOLL_CORE_SCHEDULE_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/outstanding.h"
#include "core/schedule/schedule.h"
#include "core/schedule/step_reader.h"
#include "core/schedule/table.h"

namespace hycoll {

/// What the builder's handles stand for: indices into the schedule's arrays.
using BufferId = int;
using FlagId = int;
using StrandId = int;

inline Span span_of(BufferId buffer, ChunkRange chunks) {
  return {.buffer = buffer, .first_chunk = chunks.first, .chunk_count = chunks.count};
}

/// Builds a schedule step by step and infers the dependencies: a step depends on the earlier
/// asynchronous steps of its strand whose spans conflict with its own (read after write, write
/// after read, write after write), a signal on all of them, for it announces them. Tags are
/// numbered per (lane, from, to) in the order of the calls, so a generator adds the sends and the
/// receives of one pair of nodes and lane in the same order.
/// synchroniser.h infers the flags, too, for whoever has the steps of all strands in an order.
///
/// Builds the part of the nodes that are asked for. Buffers, strands and flags of other nodes are
/// kElsewhere, and steps on their strands are left out: a generator that goes over all nodes is
/// right, one that goes over nodes() takes time in proportion to what it builds. Whoever asks for
/// them with a reader is shown the steps, and nothing is kept but, until the schedule is finished,
/// the asynchronous ones, on which others may depend, if the reader wants to know (PartRequest).
///
/// Not thread-safe. Breaking a requirement is a bug of the generator and fails an assertion.
class ScheduleBuilder {
 public:
  /// `root` is the member that a reduce delivers to, or a broadcast begins at. A collective with
  /// blocks needs a chunk count that the members divide.
  ScheduleBuilder(const CollectiveTraits& collective, std::string algorithm, Shape shape,
                  int chunk_count, int root = 0, const PartRequest& request = {});
  ScheduleBuilder(Collective collective, std::string algorithm, Shape shape, int chunk_count,
                  int root = 0, const PartRequest& request = {})
      : ScheduleBuilder(traits_of(collective), std::move(algorithm), std::move(shape), chunk_count,
                        root, request) {}

  /// What has been built so far.
  const Schedule& schedule() const noexcept { return schedule_; }
  const Shape& shape() const noexcept { return schedule_.shape; }
  /// What is built: its nodes, their members and workers.
  const ShapePart& part() const noexcept { return schedule_.part; }
  NumberRange nodes() const noexcept { return schedule_.part.nodes; }
  NumberRange members() const noexcept { return schedule_.part.members; }
  int chunk_count() const noexcept { return schedule_.chunk_count; }
  int root() const noexcept { return schedule_.root; }
  ChunkRange all_chunks() const noexcept { return {0, schedule_.chunk_count}; }

  /// The chunks of a member's buffers; see core/schedule/schedule.h.
  ChunkRange input_chunks(int member) const;
  ChunkRange output_chunks(int member) const;

  /// The buffers of a member.
  BufferId input(int member) const { return schedule_.input(member); }
  BufferId output(int member) const { return schedule_.output(member); }
  /// Requires a buffer of this part.
  BufferRole role_of(BufferId buffer) const {
    return schedule_.buffers[static_cast<std::size_t>(buffer)].role;
  }
  /// The same.
  int owner_of(BufferId buffer) const {
    return schedule_.buffers[static_cast<std::size_t>(buffer)].owner;
  }

  BufferId add_staging(int node, ChunkRange chunks);
  BufferId add_scratch(int worker, ChunkRange chunks);
  /// Scratch in a place that others may share.
  BufferId add_shared_scratch(int worker, ChunkRange chunks);
  /// Scratch where `first` lies, which add_shared_scratch() has made: a step that writes one of
  /// them waits for those that use the others.
  BufferId add_scratch_over(BufferId first, ChunkRange chunks);
  /// A pack (packs.h) of some ranges of chunks, in this order. Requires a collective with pairs.
  /// Throws Error (unsupported) if there are more numbers than an int can be.
  BufferId add_pack(int worker, std::span<const ChunkRange> ranges);
  /// Neighbouring cells of a pack.
  Span in_pack(BufferId pack, ChunkRange cells) const;
  BufferId add_lines(int worker, ChunkRange chunks);
  BufferId add_stream(int worker, ChunkRange chunks);

  /// The staging, scratch and lines buffers of another schedule, in their order. Requires that
  /// there are no such buffers yet.
  void repeat_buffers(const Schedule& schedule);

  /// The worker's first strand, which every worker has, or a further one.
  StrandId main_strand(int worker) const {
    const NumberRange workers = part().workers;
    return workers.holds(worker) ? worker - workers.first : kElsewhere;
  }
  StrandId add_strand(int worker);
  int strand_count() const noexcept { return static_cast<int>(schedule_.strands.size()); }
  /// Requires a strand of this part.
  int worker_of(StrandId strand) const {
    return schedule_.strands[static_cast<std::size_t>(strand)].worker;
  }

  /// A flag that only `writer` signals.
  FlagId add_flag(StrandId writer);

  void send(StrandId strand, int lane, int to_node, Span source);
  void recv(StrandId strand, int lane, int from_node, Span destination);
  void native_allreduce(StrandId strand, int lane, Span destination, Span source);
  void reduce(StrandId strand, std::span<const Span> destinations, std::span<const Span> sources);
  void reduce(StrandId strand, std::initializer_list<Span> destinations,
              std::initializer_list<Span> sources);
  void copy(StrandId strand, std::span<const Span> destinations, Span source);
  void copy(StrandId strand, Span destination, Span source);
  /// Collects the sources in one destination, one after the other. Requires a collective with
  /// pairs.
  void collect(StrandId strand, Span destination, std::span<const Span> sources);

  /// Appends a send, recv, native, reduce or copy of another schedule on the same nodes, with its
  /// lane, peer and tag, but other spans.
  void repeat(StrandId strand, const Step& step, std::span<const Span> destinations,
              std::span<const Span> sources);

  /// Raises the flag by one. The strand must be the flag's writer.
  void signal(StrandId strand, FlagId flag);
  /// The same, but of the asynchronous steps the signal announces only those that touch a span.
  void signal(StrandId strand, FlagId flag, std::span<const Span> announced);

  /// Waits until everything that has been signalled on the flag so far in the order of these calls
  /// is there.
  void wait(StrandId strand, FlagId flag);
  /// Waits for the flag's first `value` signals.
  void wait(StrandId strand, FlagId flag, int value);

  /// Hands the schedule over; the builder is empty afterwards.
  Schedule finish() &&;

 private:
  BufferId add_buffer(BufferRole role, int owner, ChunkRange numbers);
  BufferId add_workers_buffer(BufferRole role, int worker, ChunkRange chunks);
  Step next_signal(StrandId strand, FlagId flag);
  void add_step(StrandId strand, Step&& step, std::span<const Span> destinations,
                std::span<const Span> sources);
  void append(StrandId strand, const Step& step);
  /// Whether the step has been shown to a reader, who wants to know dependencies, and need not be
  /// kept.
  bool is_shown(StrandId strand, const Step& step, std::span<const Span> destinations,
                std::span<const Span> sources);
  void infer_dependencies(StrandId strand, Step& step, std::span<const Span> destinations,
                          std::span<const Span> sources);
  /// Adds the steps in conflicting_, in their order, to those that the next step depends on.
  /// Returns how many they are.
  int add_dependencies();
  MemoryAccess access_of(const Span& span, bool writes) const;
  /// Calls visit(access) for each operand of a step.
  template <class Visit>
  void for_each_access(const Step& step, const Visit& visit) const;
  /// What tells the messages of a lane from one of the nodes here from those of others.
  std::uint64_t key_of(int lane, StrandId strand, int peer_node) const;

  Schedule schedule_;
  StepReader* reader_;                         // null: steps are kept
  bool ignores_dependencies_;                  // nobody wants to know them
  std::vector<OutstandingSteps> outstanding_;  // per strand
  std::vector<int> signalled_;                 // per flag
  CountTable sent_;
  CountTable received_;
  CountTable native_;
  std::vector<int> conflicting_;  // with the step at hand
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_BUILDER_H_
