#ifndef HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_H_
#define HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_H_

#include <optional>

#include "core/verifier/verifier.h"

namespace hycoll::testing {

/// The first check after the structure that a schedule fails, or nothing if it is correct.
///
/// The verifier's model (verifier.h) as directly as it can be written down: all events of all runs
/// as nodes of a graph, all pairs of accesses, values as text. It shares no code with the verifier
/// and is quadratic and slow. Requires a schedule that passes the verifier's structure check.
std::optional<Check> failed_check_by_reference(const Schedule& schedule, Aliasing aliasing);

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_H_
