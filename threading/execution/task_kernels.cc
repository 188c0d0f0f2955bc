#include "threading/execution/task_kernels.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace hycoll {
namespace {

/// Work per task: large enough to hide its cost, small enough to balance between cores.
constexpr std::size_t kTaskBytes = 128 * 1024;

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

/// Calls body(begin, end) for parts of [0, count) of about kTaskBytes, cut at cache lines.
template <class Body>
void split(const TaskArena& arena, std::size_t count, std::size_t element_bytes, const Body& body) {
  const std::size_t part = std::max<std::size_t>(1, kTaskBytes / element_bytes);
  arena.run((count + part - 1) / part,
            [&](std::size_t index) { body(index * part, std::min((index + 1) * part, count)); });
}

}  // namespace

void TaskKernels::reduce(const Reducer& reducer, std::span<void* const> destinations,
                         std::span<const void* const> sources, std::size_t count,
                         std::size_t element_bytes, Stores stores) const {
  if (!reducer.runs_anywhere()) return reducer(destinations, sources, count, stores);
  split(arena_, count, element_bytes, [&](std::size_t begin, std::size_t end) {
    const auto task_destinations = advanced(destinations, begin * element_bytes);
    const auto task_sources = advanced(sources, begin * element_bytes);
    reducer(task_destinations, task_sources, end - begin, stores);
  });
}

void TaskKernels::copy(std::span<void* const> destinations, const void* source,
                       std::size_t size_bytes, Stores stores) const {
  split(arena_, size_bytes, 1, [&](std::size_t begin, std::size_t end) {
    const auto task_destinations = advanced(destinations, begin);
    copy_kernel(task_destinations, static_cast<const std::byte*>(source) + begin, end - begin,
                stores);
  });
}

}  // namespace hycoll
