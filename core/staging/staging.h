#ifndef HYCOLL_CORE_STAGING_STAGING_H_
#define HYCOLL_CORE_STAGING_STAGING_H_

#include <optional>

#include "core/schedule/processes.h"
#include "core/schedule/schedule.h"
#include "core/schedule/step_reader.h"
#include "core/staging/synchroniser.h"

namespace hycoll {

/// An equivalent schedule for workers that cannot reach each other's buffers: the same shape with
/// Visibility::staged, and with these processes (Shape::with_processes).
///
/// `direct` is a correct schedule with direct visibility, or a part of one, made by a
/// ScheduleBuilder. Every value
/// that a worker would read from, or write to, the buffers of a member of another process passes
/// through staging instead:
/// - a chunk of an input that a worker of another process reads is first copied to staging by its
///   owner;
/// - a value that a worker of another process needs is written to staging by the step that computes
///   or receives it, once for all who need it, and also to those outputs of the own process where
///   it belongs;
/// - a result that another process computed is copied out by the owner of the output.
/// What a worker needs of the members of its own process it reads in their buffers, and nothing is
/// staged that no other process needs. Lines stay as they are. The steps keep their order in every
/// strand, and the order of a reduction's operands; the flags are made anew, so that a worker waits
/// for exactly the chunks that it uses. For the DPML allreduce these are the four phases of the
/// paper: copy in, reduce by leaders, exchange, copy out (M. Bayatpour et al., SC'17, section 4.1).
///
/// A pure function, of each node by itself. A schedule, or a part, that touches no buffers of other
/// processes only changes its visibility.
Schedule staged(const Schedule& direct, const Processes& processes = {});

/// The same of a part, although only other nodes may touch buffers of other processes: where one
/// node is staged all are, so that all can work on slices of the vector.
Schedule staged_throughout(const Schedule& direct, const Processes& processes);

/// Whether some worker would touch buffers of another process's member.
bool crosses_processes(const Schedule& direct, const Processes& processes);

/// The same of the part of one node, whose steps a generator shows when it is asked: nobody keeps
/// them.
bool crosses_processes(const StepReplay& direct, const Processes& processes);

struct StagedPart {
  WatchedSchedule made;
  bool crosses_processes;  ///< As crosses_processes() says of the direct part.
};

/// Of staged_throughout() what some workers of a node do, from the node's direct part, whose steps
/// a generator shows each time that it is asked: what is left of the others' the watch decides
/// (WatchedSchedule). The workers' strands are the same as in the whole, step by step. Takes time
/// in proportion to the node's steps, and memory in proportion to the workers' own steps, the
/// chunks of the node's outputs and staging and, squared, its strands. Empty if the steps cannot be
/// executed in the order in which they are shown.
std::optional<StagedPart> staged_for(const StepReplay& direct, const Processes& processes,
                                     NumberRange workers, StepWatch& watch);

}  // namespace hycoll

#endif  // HYCOLL_CORE_STAGING_STAGING_H_
