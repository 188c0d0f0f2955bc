#ifndef HYCOLL_TESTS_CORE_VERIFIER_MUTANTS_H_
#define HYCOLL_TESTS_CORE_VERIFIER_MUTANTS_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll::testing {

/// A step with what it refers to, for changing schedules at will.
struct EditableStep {
  Step step;
  std::vector<Span> destinations;
  std::vector<Span> sources;
  std::vector<int> dependencies;
};

struct EditableSchedule {
  explicit EditableSchedule(const Schedule& schedule);
  Schedule pack() const;

  EditableStep& at(int strand, int step) {
    return strands[static_cast<std::size_t>(strand)][static_cast<std::size_t>(step)];
  }
  /// Removes a step, and whatever depends on it forgets it.
  void remove(int strand, int step);
  /// Exchanges a step with its successor, and leaves dependencies with the steps that have them.
  /// Requires that the successor does not depend on the step.
  void exchange_with_next(int strand, int step);

  Schedule frame;
  std::vector<std::vector<EditableStep>> strands;
};

/// A way to break a schedule in one place.
enum class Mutation {
  drop_step,           ///< Any step; a signal's later signals and waits keep their values.
  drop_message,        ///< A send or native with all its partners.
  drop_signal,         ///< A signal; who waited for it waits for the one before, or not at all.
  drop_dependency,     ///< One dependency.
  exchange_with_next,  ///< A step and its successor.
  wrong_peer,          ///< Of a send or recv.
  wrong_peers,         ///< A send goes to another node, and that node receives it.
  wrong_lane,          ///< Of a send, recv or native.
  wrong_tag,           ///< Of a send, recv or native.
  exchange_tags,       ///< Of two sends with the same lane and peer.
  shift_span,          ///< One span, by a chunk.
  shift_step,          ///< All spans of a step, by a chunk.
  shift_message,       ///< A send and its recv, by a chunk.
  other_buffer,        ///< One span, in another buffer of the same node.
  reduce_twice,        ///< One source of a reduce occurs twice.
  drop_source,         ///< One source of a reduce.
  drop_destination,    ///< One destination of a reduce or copy.
  exchange_sources,    ///< Two neighbouring sources of a reduce.
  repeat_step,         ///< A reduce or copy is done twice in a row.
  wait_for_earlier,    ///< A wait's value is smaller by one.
  wait_for_later,      ///< A wait's value is greater by one.
  write_input,         ///< A step writes the input of a member instead.
  awaited_as_staging,  ///< Lines or a stream are ordinary memory.
  add_source,          ///< A reduce has another buffer as its last source, too.
  other_root,          ///< A reduce is said to deliver to another member.
  other_collective,    ///< The schedule is said to perform another collective, with such outputs.
  far_tag,             ///< A send or native and all its partners get a tag that is too large.
  repeat_dependency,   ///< One dependency occurs twice.
  copy_as_reduce,      ///< A copy is a reduce with one source.
};
inline constexpr int kMutationCount = 29;

std::string_view name_of(Mutation mutation) noexcept;

struct Mutant {
  Mutation mutation;
  int strand;  ///< The place of the change; -1 for none in particular.
  int step;
  int variant;  ///< Tells mutants of one mutation and place apart.
  Schedule schedule;
};

/// All mutants of a correct schedule.
std::vector<Mutant> mutants_of(const Schedule& schedule);

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_CORE_VERIFIER_MUTANTS_H_
