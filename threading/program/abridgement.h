#ifndef HYCOLL_THREADING_PROGRAM_ABRIDGEMENT_H_
#define HYCOLL_THREADING_PROGRAM_ABRIDGEMENT_H_

#include <cstddef>

#include "core/schedule/processes.h"
#include "core/schedule/schedule.h"
#include "threading/program/program.h"

namespace hycoll {

/// A node's schedule with all steps of the workers that are wanted, and of the others' only those
/// that the wanted programs depend on: where flags and staging lie, who touches whose members'
/// buffers, who may run ahead. bind_schedule() and ScheduleBinding make the same programs of the
/// wanted workers from it, whatever the length, if they are told what the schedule itself needs
/// (BindingOptions::needs): it is good for nothing else. Where the workers of a node are processes,
/// each keeps so little of a schedule, and binds no more.
///
/// Requires a schedule of one node, the node's part, or workers that are all wanted.
Schedule abridged_for(Schedule schedule, WorkerRange workers);

/// No process of a node keeps more than that of the node's part.
std::size_t most_abridged_bytes(const Schedule& part, const Processes& processes);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_ABRIDGEMENT_H_
