#ifndef HYCOLL_THREADING_PROGRAM_ABRIDGEMENT_H_
#define HYCOLL_THREADING_PROGRAM_ABRIDGEMENT_H_

#include <cstddef>
#include <optional>

#include "core/schedule/processes.h"
#include "core/schedule/schedule.h"
#include "core/schedule/step_reader.h"
#include "threading/program/program.h"
#include "threading/program/program_needs.h"

namespace hycoll {

/// A node's schedule with all steps of the workers that are wanted, and of the others' only those
/// that the wanted programs depend on: where flags and staging lie, who touches whose members'
/// buffers, who may run ahead. ScheduleBinding makes the same programs of the wanted workers
/// from it, whatever the length, if they are told what the schedule itself needs
/// (BindingOptions::needs): it is good for nothing else. Where the workers of a node are processes,
/// each keeps so little of a schedule, and binds no more.
///
/// Requires a schedule of one node, the node's part, or workers that are all wanted.
Schedule abridged_for(Schedule schedule, WorkerRange workers);

/// What is kept of a node's staged schedule, and what is known of all of it.
struct AbridgedPart {
  Schedule schedule;
  ProgramNeeds needs = {};     ///< The whole part's.
  std::size_t most_bytes = 0;  ///< No process of the node keeps more.
  std::size_t step_count = 0;  ///< Of all workers.
  bool has_natives = false;
  bool crosses_processes = false;  ///< Its workers touch buffers of others' processes if direct.
};

/// The same of the staged schedule (staged_throughout()) of a node whose direct part is shown,
/// which nobody makes whole: with memory as staged_for() has it. Empty where that is.
std::optional<AbridgedPart> abridged_staging(const StepReplay& direct, const Processes& processes,
                                             WorkerRange workers);

/// What a node's part needs of the executor, and how much of it is kept.
struct PartNeeds {
  ProgramNeeds needs = {};
  std::size_t most_bytes = 0;  ///< No process of the node keeps more.

  /// What both need.
  void add(const PartNeeds& other);
};

/// Of a part whose steps are shown, which nobody makes for that; null: the node is one process. The
/// order of the steps of different strands does not matter.
PartNeeds part_needs(const StepReplay& part, const Processes* processes);
PartNeeds part_needs(const Schedule& part, const Processes* processes);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_ABRIDGEMENT_H_
