#include "threading/task_kernels.h"

#include <tbb/blocked_range.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

namespace hycoll {
namespace {

/// Work per task: large enough to hide its cost, small enough to balance between cores.
constexpr std::size_t kTaskBytes = 128 * 1024;

tbb::task_arena make_arena(int helper_count, int numa_domain) {
  if (numa_domain < 0) return tbb::task_arena(helper_count + 1);
  tbb::task_arena::constraints constraints;
  constraints.set_max_concurrency(helper_count + 1);
  // TBB knows the domains by the same indices, if it was built with hwloc support; otherwise by
  // none.
  const std::vector<tbb::numa_node_id> known = tbb::info::numa_nodes();
  if (std::find(known.begin(), known.end(), numa_domain) != known.end()) {
    constraints.set_numa_id(numa_domain);
  }
  return tbb::task_arena(constraints);
}

/// The addresses `offset` bytes further on.
template <class Pointer>
std::vector<Pointer> advanced(std::span<const Pointer> addresses, std::size_t offset) {
  using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>, const std::byte,
                                  std::byte>;
  std::vector<Pointer> result;
  result.reserve(addresses.size());
  for (const Pointer address : addresses) result.push_back(static_cast<Byte*>(address) + offset);
  return result;
}

}  // namespace

struct TaskKernels::Arena {
  mutable tbb::task_arena arena;

  /// Calls body(begin, end) for parts of [0, count) of about kTaskBytes, cut at cache lines.
  template <class Body>
  void split(std::size_t count, std::size_t element_bytes, const Body& body) const {
    const std::size_t part = std::max<std::size_t>(1, kTaskBytes / element_bytes);
    const std::size_t parts = (count + part - 1) / part;
    arena.execute([&] {
      tbb::parallel_for(tbb::blocked_range<std::size_t>(0, parts, 1),
                        [&](const tbb::blocked_range<std::size_t>& range) {
                          body(range.begin() * part, std::min(range.end() * part, count));
                        });
    });
  }
};

int TaskKernels::maximum_helpers() { return tbb::info::default_concurrency() - 1; }

TaskKernels::TaskKernels(int helper_count, int numa_domain)
    : arena_(new Arena{.arena = make_arena(helper_count, numa_domain)}) {}

TaskKernels::~TaskKernels() = default;

void TaskKernels::reduce(const Reducer& reducer, std::span<void* const> destinations,
                         std::span<const void* const> sources, std::size_t count,
                         std::size_t element_bytes, Stores stores) const {
  arena_->split(count, element_bytes, [&](std::size_t begin, std::size_t end) {
    const auto task_destinations = advanced(destinations, begin * element_bytes);
    const auto task_sources = advanced(sources, begin * element_bytes);
    reducer(task_destinations, task_sources, end - begin, stores);
  });
}

void TaskKernels::copy(std::span<void* const> destinations, const void* source,
                       std::size_t size_bytes, Stores stores) const {
  arena_->split(size_bytes, 1, [&](std::size_t begin, std::size_t end) {
    const auto task_destinations = advanced(destinations, begin);
    copy_kernel(task_destinations, static_cast<const std::byte*>(source) + begin, end - begin,
                stores);
  });
}

}  // namespace hycoll
