#ifndef HYCOLL_TESTS_COLLECTIVES_ELEMENTS_REDUCTION_TRIAL_H_
#define HYCOLL_TESTS_COLLECTIVES_ELEMENTS_REDUCTION_TRIAL_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/kernels/reducer.h"
#include "tests/collectives/elements/reduction_subjects.h"

/// Reducers against a subject's own arithmetic, with operands in one another's place.
namespace hycoll::testing {

/// Which source the destinations are the same memory as; -1 for none.
struct Arrangement {
  int source_count;
  int destination_count;
  int first_destination_is_source;
  int second_destination_is_source;
};

/// Every way to lay out up to 5 sources and 3 destinations with at most two of them the same.
std::vector<Arrangement> all_arrangements();

/// Counts around the blocks of 8 KiB that foreign reducers fold.
std::vector<std::size_t> counts_around_a_block(std::size_t element_bytes);

/// Reduces distinct data once and returns what is wrong: a result, a byte beside a buffer, or a
/// source that is nobody's destination and was changed. Empty if nothing is.
std::string try_reducer(const ReductionSubject& subject, ReductionOp op, const Reducer& reducer,
                        const Arrangement& arrangement, std::size_t count);

/// Fails the test case at the first arrangement and count for which something is wrong.
void check_arrangements(const ReductionSubject& subject, ReductionOp op, const Reducer& reducer,
                        const std::vector<Arrangement>& arrangements,
                        const std::vector<std::size_t>& counts);

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_COLLECTIVES_ELEMENTS_REDUCTION_TRIAL_H_
