#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <vector>

#include "threading/execution/task_arena.h"

namespace hycoll {
namespace {

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

}  // namespace

struct TaskArena::Implementation {
  tbb::task_arena arena;
};

int TaskArena::maximum_helpers() { return tbb::info::default_concurrency() - 1; }

TaskArena::TaskArena(const Topology& /*topology*/, int helper_count, int numa_domain)
    : implementation_(new Implementation{.arena = make_arena(helper_count, numa_domain)}) {}

TaskArena::~TaskArena() = default;

void TaskArena::run(std::size_t part_count, const std::function<void(std::size_t)>& part) const {
  const auto isolated = [&](std::size_t index) {
    tbb::this_task_arena::isolate([&] { part(index); });
  };
  implementation_->arena.execute([&] { tbb::parallel_for(std::size_t{0}, part_count, isolated); });
}

}  // namespace hycoll
