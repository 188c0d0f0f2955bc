#ifndef HYCOLL_CORE_SCHEDULE_SCHEDULE_TEXT_H_
#define HYCOLL_CORE_SCHEDULE_SCHEDULE_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "core/schedule/schedule.h"

namespace hycoll {

std::string_view name_of(BufferRole role) noexcept;
std::string_view name_of(Visibility visibility) noexcept;

/// The shape in one line: "3 nodes x 2 members, 2 lanes, direct"; nodes that differ are listed one
/// by one as members/workers, where one without members is an aggregator.
std::string to_text(const Shape& shape);

/// The collective and the algorithm: "allreduce 'ring'", "reduce to member 2 'binomial'". Accepts
/// any schedule.
std::string describe_call(const Schedule& schedule);

/// A buffer by its role and owner: "input(3)" and "output(3)" of member 3; "staging(0)#7" of node
/// 0, "scratch(2)#8" and "lines(2)#9" of worker 2, with the buffer's number. Requires a buffer that
/// exists.
std::string describe_buffer(const Schedule& schedule, int buffer);

/// What a step does, in one line without its number; chunks as [first, end). Requires a schedule
/// that passes the verifier's structure check, as do the functions below.
std::string describe_step(const Schedule& schedule, const Step& step);

/// A schedule, or a part of one, as a listing for people: the shape, then worker by worker and
/// strand by strand each step with its number and the steps that it depends on. `node` restricts it
/// to one node.
std::string to_text(const Schedule& schedule, std::optional<int> node = std::nullopt);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_SCHEDULE_TEXT_H_
