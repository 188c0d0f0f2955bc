// Lines: all-to-all of short blocks inside a node, in one cache-line transfer.
//
// Idea: every member copies the block for each other one into lines, where data and signal travel
// together, and its own one into its output; then it reads the lines that are for it.
//
// Source: the message counters of Blue Gene/P (A. Mamidala et al., 2009, section 5) brought into
// the data.
// Steps: one transfer. Who has read lines of all others knows that all have entered.
// Serves: one node of two or three members with one lane, for a worker has no lines for more than
// two others.
//
// Example, 2 members: member 0 writes block (0, 1) to lines, copies (0, 0), and reads (1, 0) from
// the lines of member 1.

#include <utility>
#include <vector>

#include "collectives/algorithms/alltoall/alltoall.h"
#include "collectives/algorithms/building_blocks/lines_phases.h"
#include "core/schedule/pairs.h"

namespace hycoll {

Schedule generate_lines_alltoall(std::string name, const Shape& shape,
                                 const GeneratorParameters& parameters) {
  const int count = shape.member_count();
  ScheduleBuilder builder(Collective::alltoall, std::move(name), shape, count * count,
                          parameters.root, parameters.nodes);
  LinesPhases phases(builder, 0, Entry::silent);
  const auto block = [&](int from, int to) {
    return ChunkRange{.first = chunk_of(shape, {.from = from, .to = to}), .count = 1};
  };
  std::vector<Span> lines;  // from each member, for each other one
  for (int from = 0; from < count; ++from) {
    for (int to = 0; to < count; ++to) {
      const Span input = span_of(builder.input(from), block(from, to));
      lines.push_back(from == to ? input : phases.publish(from, input));
    }
  }
  for (int to = 0; to < count; ++to) {
    for (int from = 0; from < count; ++from) {
      builder.copy(phases.strand(to), span_of(builder.output(to), block(from, to)),
                   lines[static_cast<std::size_t>(from * count + to)]);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
