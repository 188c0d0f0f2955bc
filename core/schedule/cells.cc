#include "core/schedule/cells.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "core/base/collective_traits.h"

namespace hycoll {
namespace {

/// Places a member's two buffers over one another, each chunk where it is in the vector.
void place_over(const Buffer& input, const Buffer& output, int& input_cell, int& output_cell,
                int& cell_count) {
  const int first = std::min(input.first_chunk, output.first_chunk);
  const int end =
      std::max(input.first_chunk + input.chunk_count, output.first_chunk + output.chunk_count);
  input_cell = cell_count + input.first_chunk - first;
  output_cell = cell_count + output.first_chunk - first;
  cell_count += end - first;
}

}  // namespace

std::vector<int> place_sizes(const Schedule& schedule) {
  std::vector<int> sizes;
  for (const Buffer& buffer : schedule.buffers) {
    sizes.push_back(buffer.chunk_count);
    if (buffer.shares_with < 0) continue;
    int& place = sizes[static_cast<std::size_t>(buffer.shares_with)];
    place = std::max(place, buffer.chunk_count);
  }
  for (std::size_t id = 0; id < sizes.size(); ++id) {
    const int first = schedule.buffers[id].shares_with;
    if (first >= 0) sizes[id] = sizes[static_cast<std::size_t>(first)];
  }
  return sizes;
}

std::string_view name_of(Aliasing aliasing) noexcept {
  constexpr std::array<std::string_view, 2> names = {"distinct", "in-place"};
  return names[static_cast<std::size_t>(aliasing)];
}

Cells place_cells(const Schedule& schedule, Aliasing aliasing, Sets sets) {
  Cells cells;
  cells.first.assign(schedule.buffers.size(), 0);
  const auto place = [&](std::size_t id, bool has_two_sets) {
    cells.first[id] = cells.count;
    cells.count += (has_two_sets ? 2 : 1) * schedule.buffers[id].chunk_count;
  };
  for (const int member : schedule.part.members) {
    const auto input = static_cast<std::size_t>(schedule.input(member));
    const auto output = static_cast<std::size_t>(schedule.output(member));
    const bool has_both =
        schedule.buffers[input].chunk_count > 0 && schedule.buffers[output].chunk_count > 0;
    if (aliasing == Aliasing::in_place && has_both && !has_pairs(schedule.collective)) {
      place_over(schedule.buffers[input], schedule.buffers[output], cells.first[input],
                 cells.first[output], cells.count);
    } else {
      place(input, false);
      place(output, false);
    }
  }
  const std::vector<int> sizes = place_sizes(schedule);
  for (std::size_t id = 0; id < schedule.buffers.size(); ++id) {
    const Buffer& buffer = schedule.buffers[id];
    if (is_of_member(buffer.role)) continue;
    if (lies_over_another(buffer, id)) {
      cells.first[id] = cells.first[static_cast<std::size_t>(buffer.shares_with)];
      continue;
    }
    place(id, sets == Sets::two && alternates(buffer.role));
    cells.count += sizes[id] - buffer.chunk_count;
  }
  return cells;
}

}  // namespace hycoll
