#ifndef HYCOLL_CORE_SCHEDULE_CELLS_H_
#define HYCOLL_CORE_SCHEDULE_CELLS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll {

/// How a member's two buffers lie in memory.
enum class Aliasing : std::uint8_t {
  distinct,  ///< input(m) and output(m) do not overlap.
  in_place,  ///< The chunks that input(m) and output(m) have both are the same memory, for every
             ///< member: the shorter one lies inside the longer one. A row and a column of
             ///< pairs are distinct all the same.
};

std::string_view name_of(Aliasing aliasing) noexcept;

/// How often memory that alternates from run to run is there.
enum class Sets : std::uint8_t { one, two };

/// Whether there are two sets of a buffer, which alternate from run to run.
constexpr bool alternates(BufferRole role) noexcept {
  return role == BufferRole::lines || role == BufferRole::staging;
}

/// Of each buffer the chunks that its place has room for: those of the largest buffer there.
std::vector<int> place_sizes(const Schedule& schedule);

/// Where the chunks of the buffers lie in memory, whose cells hold a chunk each.
struct Cells {
  std::vector<int> first;  ///< Of each buffer; those of its further chunks follow. Of two sets, the
                           ///< second one lies behind the first one.
  int count = 0;
};

/// Places the buffers of a schedule that has those that it must have.
Cells place_cells(const Schedule& schedule, Aliasing aliasing, Sets sets);

}  // namespace hycoll

#endif  // HYCOLL_CORE_SCHEDULE_CELLS_H_
