#include "core/verifier/structure.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "core/base/collective_traits.h"
#include "core/schedule/packs.h"
#include "core/schedule/schedule_text.h"

namespace hycoll::verifier {
namespace {

Problem check_strands(const Schedule& schedule) {
  const auto worker_count = static_cast<std::size_t>(schedule.shape.worker_count());
  std::vector<bool> has_strand(worker_count);
  for (std::size_t s = 0; s < schedule.strands.size(); ++s) {
    const int worker = schedule.strands[s].worker;
    if (!in_range(worker, worker_count)) {
      return fmt::format("strand {} names worker {} of {}", s, worker, worker_count);
    }
    has_strand[static_cast<std::size_t>(worker)] = true;
  }
  const auto missing = std::find(has_strand.begin(), has_strand.end(), false);
  if (missing == has_strand.end()) return {};
  return fmt::format("worker {} has no strand", missing - has_strand.begin());
}

int owner_count(const Shape& shape, BufferRole role) {
  switch (role) {
    case BufferRole::input:
    case BufferRole::output:
      return shape.member_count();
    case BufferRole::staging:
      return shape.node_count();
    case BufferRole::scratch:
    case BufferRole::lines:
    case BufferRole::stream:
      return shape.worker_count();
  }
  return 0;
}

/// Requires the input or output of a member.
Problem check_member_buffer(const Schedule& schedule, std::size_t id) {
  const Buffer& buffer = schedule.buffers[id];
  const auto chunks = buffer.role == BufferRole::input ? input_chunks : output_chunks;
  const ChunkRange expected = chunks(schedule.collective, schedule.shape, schedule.chunk_count,
                                     schedule.root, buffer.owner);
  if (ChunkRange{buffer.first_chunk, buffer.chunk_count} == expected) return {};
  return fmt::format(
      "buffer {}, the {} of member {}, has {} chunks from {} on, expected {} from {} on", id,
      name_of(buffer.role), buffer.owner, buffer.chunk_count, buffer.first_chunk, expected.count,
      expected.first);
}

/// Whether a buffer may lie where another one does.
bool is_place(const Schedule& schedule, std::size_t id, int first) {
  if (first < 0 || std::cmp_greater(first, id)) return false;
  const Buffer& buffer = schedule.buffers[id];
  const Buffer& place = schedule.buffers[static_cast<std::size_t>(first)];
  return buffer.role == BufferRole::scratch && place.role == BufferRole::scratch &&
         buffer.owner == place.owner && place.shares_with == first;
}

Problem check_buffer(const Schedule& schedule, std::size_t id) {
  const Buffer& buffer = schedule.buffers[id];
  const int owners = owner_count(schedule.shape, buffer.role);
  if (buffer.owner < 0 || buffer.owner >= owners) {
    return fmt::format("buffer {} names owner {} of {}", id, buffer.owner, owners);
  }
  const int chunks = is_pack(schedule, buffer) ? number_count(schedule) : schedule.chunk_count;
  if (buffer.first_chunk < 0 || buffer.chunk_count < 0 ||
      buffer.chunk_count > chunks - buffer.first_chunk) {
    return fmt::format("buffer {} has {} chunks from {} on, the partition has {}", id,
                       buffer.chunk_count, buffer.first_chunk, chunks);
  }
  if (buffer.shares_with != -1 && !is_place(schedule, id, buffer.shares_with)) {
    return fmt::format(
        "buffer {} lies where buffer {} does, which is no shared scratch of worker {}", id,
        buffer.shares_with, buffer.owner);
  }
  const int members = schedule.shape.member_count();
  const bool is_first = std::cmp_less(id, members);
  const bool is_second = !is_first && std::cmp_less(id, 2 * members);
  const bool is_in_order = is_first ? buffer.role == BufferRole::input &&
                                          std::cmp_equal(id, schedule.input(buffer.owner))
                           : is_second ? buffer.role == BufferRole::output &&
                                             std::cmp_equal(id, schedule.output(buffer.owner))
                                       : !is_of_member(buffer.role);
  if (!is_in_order) {
    return fmt::format(
        "buffer {} is out of order: expected the inputs of the {} members, then their outputs, "
        "then the others",
        id, members);
  }
  return is_of_member(buffer.role) ? check_member_buffer(schedule, id) : Problem();
}

/// The collective, and what it asks of root and partition.
Problem check_collective(const Schedule& schedule) {
  if (schedule.chunk_count < 1) {
    return fmt::format("the partition has {} chunks", schedule.chunk_count);
  }
  const int members = schedule.shape.member_count();
  if (schedule.root < 0 || schedule.root >= members) {
    return fmt::format("the root is member {} of {}", schedule.root, members);
  }
  if (schedule.root != 0 && !has_root(schedule.collective)) {
    return fmt::format("the root is member {}, but {} has none", schedule.root,
                       schedule.collective.name);
  }
  if (has_blocks(schedule.collective) && schedule.chunk_count % members != 0) {
    return fmt::format("the partition has {} chunks, which {} members cannot share equally",
                       schedule.chunk_count, members);
  }
  if (has_pairs(schedule.collective) && schedule.chunk_count / members != members) {
    return fmt::format("the partition has {} chunks, expected one for each pair of {} members",
                       schedule.chunk_count, members);
  }
  return {};
}

/// What is in packs, and that every number there is of one of them.
Problem check_packs(const Schedule& schedule) {
  if (schedule.packed.empty()) return {};
  if (!has_pairs(schedule.collective)) {
    return fmt::format("there are packs, but the chunks of {} are not equally long",
                       schedule.collective.name);
  }
  std::vector<int> begins;  // of the packs
  int next_number = schedule.chunk_count;
  for (const Buffer& buffer : schedule.buffers) {
    if (!is_pack(schedule, buffer)) continue;
    if (buffer.first_chunk != next_number) {
      return fmt::format("a pack has numbers from {} on, expected {}", buffer.first_chunk,
                         next_number);
    }
    begins.push_back(next_number);
    next_number += buffer.chunk_count;
  }
  if (next_number != number_count(schedule)) {
    return fmt::format("{} numbers are in packs, expected {}", next_number - schedule.chunk_count,
                       number_count(schedule) - schedule.chunk_count);
  }
  auto begin = begins.begin();
  int expected = schedule.chunk_count;
  for (const auto& [first_number, chunks] : schedule.packed) {
    if (first_number != expected) {
      return fmt::format("packed chunks have numbers from {} on, expected {}", first_number,
                         expected);
    }
    if (chunks.first < 0 || chunks.count < 1 ||
        chunks.count > schedule.chunk_count - chunks.first) {
      return fmt::format("a pack has {} chunks from {} on, the partition has {}", chunks.count,
                         chunks.first, schedule.chunk_count);
    }
    if (begin != begins.end() && *begin == first_number) ++begin;
    expected += chunks.count;
  }
  if (begin == begins.end()) return {};
  return fmt::format("a pack begins inside packed chunks, at number {}", *begin);
}

}  // namespace

Problem check_frame(const Schedule& schedule) {
  if (Problem problem = check_collective(schedule); !problem.empty()) return problem;
  if (Problem problem = check_strands(schedule); !problem.empty()) return problem;
  const int members = schedule.shape.member_count();
  if (std::cmp_less(schedule.buffers.size(), 2 * members)) {
    return fmt::format("{} buffers are too few for the inputs and outputs of {} members",
                       schedule.buffers.size(), members);
  }
  if (Problem problem = check_packs(schedule); !problem.empty()) return problem;
  for (std::size_t id = 0; id < schedule.buffers.size(); ++id) {
    if (Problem problem = check_buffer(schedule, id); !problem.empty()) return problem;
  }
  for (std::size_t id = 0; id < schedule.flags.size(); ++id) {
    const Flag& flag = schedule.flags[id];
    if (!in_range(flag.writer_strand, schedule.strands.size())) {
      return fmt::format("flag {} names writer strand {} of {}", id, flag.writer_strand,
                         schedule.strands.size());
    }
    const int worker = schedule.strands[static_cast<std::size_t>(flag.writer_strand)].worker;
    if (flag.node != schedule.shape.node_of_worker(worker)) {
      return fmt::format("flag {} is on node {}, its writer on node {}", id, flag.node,
                         schedule.shape.node_of_worker(worker));
    }
  }
  return {};
}

std::optional<Finding> check_structure(const Schedule& schedule) {
  if (Problem problem = check_frame(schedule); !problem.empty()) {
    return Finding{.strand = -1, .step = -1, .what = std::move(problem)};
  }
  if (auto finding = check_spans(schedule)) return finding;
  if (auto finding = check_steps(schedule)) return finding;
  return check_streams(schedule);
}

}  // namespace hycoll::verifier
