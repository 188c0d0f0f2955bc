#ifndef HYCOLL_CORE_SCHEDULE_PART_CHECKS_H_
#define HYCOLL_CORE_SCHEDULE_PART_CHECKS_H_

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "core/schedule/schedule.h"

namespace hycoll {

/// What some of a schedule's nodes do in it, as a generator makes it that is asked for these nodes:
/// buffers, strands and flags in the same order, numbered anew. Requires nodes of the schedule.
Schedule restricted_to(const Schedule& schedule, NumberRange nodes);

/// Proves that what a generator makes for each of a schedule's nodes alone is what that node does
/// in the whole, tags included. Returns what is not.
std::optional<std::string> check_parts(const Schedule& whole,
                                       const std::function<Schedule(NumberRange nodes)>& generate);

/// Proves that what is made for each worker alone of a node, whose part this is, is what the worker
/// does in the part, flags included. Returns what is not.
std::optional<std::string> check_workers(
    const Schedule& part, const std::function<Schedule(NumberRange workers)>& generate);

/// The schedule of parts of the same one that follow each other. Requires at least one.
Schedule joined(std::span<const Schedule> parts);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_PART_CHECKS_H_
