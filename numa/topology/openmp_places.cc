#include "numa/topology/openmp_places.h"

#include <cstddef>
#include <vector>

// OpenMP 4.5, section 3.2; null where the program has no OpenMP runtime.
extern "C" {
[[gnu::weak]] int omp_get_num_places(void);
[[gnu::weak]] int omp_get_place_num_procs(int place);
[[gnu::weak]] void omp_get_place_proc_ids(int place, int* ids);
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

}  // namespace hycoll
