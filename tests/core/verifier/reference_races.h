#ifndef HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_RACES_H_
#define HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_RACES_H_

#include "core/verifier/verifier.h"

namespace hycoll::testing {

/// Whether two accesses may collide, or a member may leave before another of its node has entered.
/// Requires a schedule without deadlock.
bool fails_races_by_reference(const Schedule& schedule, Aliasing aliasing);

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_CORE_VERIFIER_REFERENCE_RACES_H_
