#ifndef HYCOLL_THREADING_PROGRAM_SCHEDULE_FORM_H_
#define HYCOLL_THREADING_PROGRAM_SCHEDULE_FORM_H_

#include <vector>

#include "core/base/partition.h"
#include "core/schedule/schedule.h"
#include "threading/program/program.h"
#include "threading/program/program_needs.h"
#include "threading/program/program_recipe.h"

namespace hycoll {

/// What the instructions of a schedule's programs depend on, of the vector that it is bound to,
/// besides which chunks are empty.
struct FormKind {
  bool has_gaps = false;  ///< Between the slices of neighbouring blocks.
  bool stages_briefly = false;
  friend bool operator==(const FormKind&, const FormKind&) = default;
};

/// The programs of one node's workers, or of those that are wanted, without all that depends on
/// lengths: sizes, places and stores of instructions, and the memory that a run needs. The recipes,
/// one for each program, say where that comes from. Nobody executes a form.
struct ScheduleForm {
  std::vector<Program> programs;
  std::vector<ProgramRecipe> recipes;
};

/// The schedule is whole, or the node's part; `needs` are those of all nodes. Of the partition only
/// matters which chunks are empty, of the options peers and workers. What the executor has is not
/// looked at: see require_within_limits().
ScheduleForm form_of(const Schedule& schedule, int node, const ProgramNeeds& needs,
                     const Partition& partition, const FormKind& kind,
                     const BindingOptions& options);

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_SCHEDULE_FORM_H_
