#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBER_SHARES_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBER_SHARES_H_

#include <functional>
#include <vector>

#include "core/schedule/builder.h"
#include "core/schedule/number_range.h"

namespace hycoll {

/// Of the members of a node one of so many shares, as equal as can be.
NumberRange share_of_members(const Shape& shape, int node, int share_count, int share);

/// The lanes of a node in the order of the workers that lead them.
std::vector<int> lanes_by_worker(const Shape& shape, int node);

/// What is done inside one node when all members have entered: calls append(leader's strand,
/// member) for each member of each leader's share, where with a lane for each member that is the
/// leader's own. All leave when all leaders are done, with what `finish` appends to a strand of
/// each member's worker then.
using AppendForMember = std::function<void(StrandId strand, int member)>;
void append_for_members(ScheduleBuilder& builder, const AppendForMember& append,
                        const AppendForMember& finish = {});

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_MEMBER_SHARES_H_
