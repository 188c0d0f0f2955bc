#include "numa/topology/openmp_runtime.h"

#include <cstddef>
#include <vector>

// OpenMP 4.5, section 3.2; null where the program has no OpenMP runtime.
extern "C" {
[[gnu::weak]] int omp_get_num_places(void);
[[gnu::weak]] int omp_get_place_num_procs(int place);
[[gnu::weak]] void omp_get_place_proc_ids(int place, int* ids);
[[gnu::weak]] int omp_get_proc_bind(void);  // omp_proc_bind_t; 0: omp_proc_bind_false
[[gnu::weak]] int omp_get_level(void);
[[gnu::weak]] int omp_get_team_size(int level);
}

namespace hycoll {

AffinityMask openmp_places() {
  AffinityMask mask;
  if (omp_get_num_places == nullptr || omp_get_place_num_procs == nullptr ||
      omp_get_place_proc_ids == nullptr) {
    return mask;
  }
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> units(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, units.data());
    for (int unit : units) mask.add(unit);
  }
  return mask;
}

bool openmp_binds_this_thread() {
  return omp_get_proc_bind != nullptr && omp_get_level != nullptr && omp_get_level() > 0 &&
         omp_get_proc_bind() != 0;
}

int openmp_region_threads() {
  if (omp_get_level == nullptr || omp_get_team_size == nullptr || omp_get_level() == 0) return 0;
  int threads = 1;
  for (int level = 1; level <= omp_get_level(); ++level) threads *= omp_get_team_size(level);
  return threads;
}

}  // namespace hycoll
