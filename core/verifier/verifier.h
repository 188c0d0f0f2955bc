#ifndef HYCOLL_CORE_VERIFIER_VERIFIER_H_
#define HYCOLL_CORE_VERIFIER_VERIFIER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/schedule/cells.h"
#include "core/schedule/schedule.h"

namespace hycoll {

/// The checks, in the order in which they run.
enum class Check : std::uint8_t {
  structure,  ///< Every index, span, dependency and flag is legal, and workers touch only what they
              ///< may.
  messages,   ///< Every send has one receive and vice versa; native calls agree on all nodes.
  deadlock,   ///< Everything ends, although a send completes only when it is received, and
              ///< although workers block in native calls where they may.
  races,      ///< Conflicting accesses on a node are ordered, those of the caller between two runs
              ///< included; no member's worker leaves before those of all members on its node have
              ///< entered.
  result,     ///< Every output holds what the collective promises: an expression in which exactly
              ///< the members that contribute to it occur, each once; for an allreduce the same
              ///< one on all members.
};

std::string_view name_of(Check check) noexcept;

/// What a schedule needs at run time. Chunks count the partition's chunks.
struct Resources {
  std::size_t message_count = 0;            ///< Sends of all nodes.
  std::size_t node_message_count = 0;       ///< Sends of the node that has most.
  std::size_t node_sent_chunk_count = 0;    ///< Chunks that the node with most of them sends.
  std::size_t node_memory_chunk_count = 0;  ///< Staging, scratch and one set of lines of the node
                                            ///< that has most.
  double node_memory_vectors = 0;           ///< The same as a multiple of the vector.
  std::size_t strand_in_flight = 0;         ///< Asynchronous steps under way at once in one strand.
};

/// What verify() found out.
struct Verdict {
  bool correct = false;
  /// Meaningful only when not correct: the first check that failed, under which aliasing, and a
  /// sentence that names algorithm, shape, check, worker, strand, step and what is wrong.
  Check failed_check = Check::structure;
  Aliasing failed_aliasing = Aliasing::distinct;
  std::string failure;

  std::size_t step_count = 0;
  /// Whether the operands of every output element stand in rank order, as an operator that does not
  /// commute needs. Meaningful only when correct.
  bool rank_ordered = false;
  /// A digest of the trees, that is, the order and the parentheses of the operands, in which the
  /// outputs are computed. Two schedules of one collective on the same members have the same digest
  /// if and only if every output element has the same tree in both (but for collisions of 64 bits),
  /// whatever the chunks, lanes, workers and, of a reduce, the roots. 0 if not all chunks have one
  /// tree: those of one member for scan and exscan, of all members for the other collectives; if a
  /// tree is unknown because it has a native call in it; or if it depends on the aliasing.
  /// Meaningful only when correct.
  std::uint64_t tree_digest = 0;
  Resources resources;  ///< Meaningful only when correct.
};

/// Proves that a schedule performs its collective, whatever the timing, the element type, the
/// operator (associative and commutative) and the partition, or finds the first reason why not.
/// Accepts any schedule, however broken. A pure function: calls may run concurrently.
///
/// The model. A worker starts, its strands issue their steps in order, and it ends when all of them
/// have ended. A reduce, copy, signal or wait completes before the next step of its strand is
/// issued; a send, recv or native has completed when a step that depends on it is issued, or when
/// the strand has ended. Where natives_may_block(), nothing follows a native in its strand before
/// it has completed, in blocking calls, and deadlocks are looked for in these. Between the strands
/// of a node there are only flags and lines; that a message was received orders nothing else (which
/// forgoes orders that exist, and so errs on the safe side). A step that reads lines waits for
/// their writer: the steps after it come after what preceded the writer, and after the writer
/// itself if this wrote nothing but what was read.
///
/// A schedule is run again and again on the same buffers: run k + 1 of a worker starts when its run
/// k has ended, and in between the caller writes input(m) and reads and writes output(m) of the
/// members that the worker owns.
Verdict verify(const Schedule& schedule, Aliasing aliasing);

/// The same under both aliasings, for less than twice the time.
Verdict verify(const Schedule& schedule);

}  // namespace hycoll

#endif  // HYCOLL_CORE_VERIFIER_VERIFIER_H_
