#include "tests/support/collective_reference.h"

#include <numeric>

#include "core/base/collective_traits.h"

namespace hycoll::tests {

std::size_t CollectiveReference::block_size(int member) const {
  return block_counts.empty() ? count : block_counts[static_cast<std::size_t>(member)];
}

std::size_t CollectiveReference::block_begin(int member) const {
  if (block_counts.empty()) return static_cast<std::size_t>(member) * count;
  return std::accumulate(block_counts.begin(), block_counts.begin() + member, std::size_t{0});
}

bool CollectiveReference::is_gathered() const {
  return collective == Collective::allgather || collective == Collective::gather;
}

std::size_t CollectiveReference::vector_size() const {
  return has_blocks(collective) ? block_begin(member_count) : count;
}

std::size_t CollectiveReference::input_size(int member) const {
  return is_gathered() ? block_size(member) : vector_size();
}

std::size_t CollectiveReference::output_size(int member) const {
  switch (collective) {
    case Collective::reduce:
      return member == root ? count : 0;
    case Collective::exscan:
      return member > 0 ? count : 0;
    case Collective::broadcast:
      return member != root ? count : 0;
    case Collective::reduce_scatter:
    case Collective::scatter:
      return block_size(member);
    case Collective::allgather:
    case Collective::alltoall:
      return vector_size();
    case Collective::gather:
      return member == root ? vector_size() : 0;
    case Collective::allreduce:
    case Collective::scan:
      break;
  }
  return count;
}

std::size_t CollectiveReference::input_begin(int member) const {
  return is_gathered() ? block_begin(member) : 0;
}

std::size_t CollectiveReference::output_begin(int member) const {
  const bool is_block =
      collective == Collective::reduce_scatter || collective == Collective::scatter;
  return is_block ? block_begin(member) : 0;
}

std::int64_t CollectiveReference::expected(int member, int call, std::size_t index) const {
  if (collective == Collective::broadcast) return element(root, call, index);
  if (collective == Collective::scatter) return element(root, call, output_begin(member) + index);
  if (is_gathered()) {
    int from = 0;
    for (; index >= block_size(from); ++from) index -= block_size(from);
    return element(from, call, index);
  }
  if (collective == Collective::alltoall) {
    return element(static_cast<int>(index / count), call, block_begin(member) + index % count);
  }
  int last = member_count - 1;
  if (collective == Collective::scan) last = member;
  if (collective == Collective::exscan) last = member - 1;
  return sum_of_elements(last + 1, call, output_begin(member) + index);
}

}  // namespace hycoll::tests
