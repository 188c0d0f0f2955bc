#include "core/schedule/pairs.h"

#include <utility>

#include "core/base/collective_traits.h"
#include "core/schedule/packs.h"

namespace hycoll {
namespace {

/// Whether a buffer is a row or a column of a matrix of pairs.
bool is_of_pairs(const Schedule& schedule, const Buffer& buffer) {
  return is_of_member(buffer.role) && has_pairs(schedule.collective);
}

/// The pair in a cell of a row or column.
Pair pair_at(const Buffer& buffer, int cell) {
  return buffer.role == BufferRole::input ? Pair{.from = buffer.owner, .to = cell}
                                          : Pair{.from = cell, .to = buffer.owner};
}

}  // namespace

int chunk_of(const Shape& shape, const Pair& pair) {
  const int from_node = shape.node_of_member(pair.from);
  return tile_for(shape, from_node, pair.to).first + pair.from - shape.first_member(from_node);
}

Pair pair_of(const Shape& shape, int chunk) {
  const int to_node = shape.node_of_member(chunk / shape.member_count());
  const int to_members = shape.node(to_node).members;
  const int behind = chunk - shape.first_member(to_node) * shape.member_count();
  const int from_node = shape.node_of_member(behind / to_members);
  const int from_members = shape.node(from_node).members;
  const int in_tile = behind - shape.first_member(from_node) * to_members;
  return {.from = shape.first_member(from_node) + in_tile % from_members,
          .to = shape.first_member(to_node) + in_tile / from_members};
}

ChunkRange tile_of(const Shape& shape, int from_node, int to_node) {
  const int to_members = shape.node(to_node).members;
  return {.first = shape.first_member(to_node) * shape.member_count() +
                   shape.first_member(from_node) * to_members,
          .count = shape.node(from_node).members * to_members};
}

ChunkRange tile_for(const Shape& shape, int from_node, int to) {
  const int to_node = shape.node_of_member(to);
  const int from_members = shape.node(from_node).members;
  return {.first = tile_of(shape, from_node, to_node).first +
                   (to - shape.first_member(to_node)) * from_members,
          .count = from_members};
}

int cell_in(const Schedule& schedule, const Buffer& buffer, int chunk) {
  if (!is_of_pairs(schedule, buffer)) return chunk - buffer.first_chunk;
  const Pair pair = pair_of(schedule.shape, chunk);
  return buffer.role == BufferRole::input ? pair.to : pair.from;
}

int cell_in(const Schedule& schedule, const Span& span) {
  return cell_in(schedule, schedule.buffer_of(span), span.first_chunk);
}

int chunk_in(const Schedule& schedule, const Buffer& buffer, int cell) {
  if (!is_of_pairs(schedule, buffer)) return chunk_at(schedule, buffer.first_chunk + cell);
  return chunk_of(schedule.shape, pair_at(buffer, cell));
}

bool holds(const Schedule& schedule, const Buffer& buffer, const Span& span) {
  if (span.chunk_count < 1 || span.first_chunk < 0) return false;
  if (!is_of_pairs(schedule, buffer)) {
    return span.first_chunk >= buffer.first_chunk &&
           span.chunk_count <= buffer.chunk_count - (span.first_chunk - buffer.first_chunk);
  }
  if (span.chunk_count > schedule.chunk_count - span.first_chunk) return false;
  const int first = cell_in(schedule, buffer, span.first_chunk);
  for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
    if (first + chunk >= buffer.chunk_count ||
        chunk_in(schedule, buffer, first + chunk) != span.first_chunk + chunk) {
      return false;
    }
  }
  return true;
}

}  // namespace hycoll
