#ifndef HYCOLL_NUMA_TOPOLOGY_HWLOC_HANDLE_H_
#define HYCOLL_NUMA_TOPOLOGY_HWLOC_HANDLE_H_

#include <hwloc.h>

#include <memory>
#include <string>
#include <type_traits>

#include "numa/topology/affinity_mask.h"

/// What numa/*.cc share about hwloc. Private to this folder: no other header includes hwloc.
namespace hycoll::internal {

struct BitmapDeleter {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, BitmapDeleter>;

struct TopologyDeleter {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, TopologyDeleter>;

/// An empty bitmap, or one with the mask's bits. Throws std::bad_alloc.
Bitmap make_bitmap();
Bitmap to_bitmap(const AffinityMask& mask);

/// Requires: `bitmap` is finite.
AffinityMask to_mask(hwloc_const_bitmap_t bitmap);

/// The topology of this machine, disallowed cores and domains included; environment error if hwloc
/// fails. hwloc's own variables (HWLOC_XMLFILE, HWLOC_SYNTHETIC) may replace the machine by a
/// described one. The machine is read once; what is allowed there is read each time.
TopologyHandle this_machine();

/// The loaded topology of a description (without a level pu: one per core) or of an XML file;
/// invalid_argument error if hwloc refuses it.
TopologyHandle load_synthetic(const std::string& description);
TopologyHandle load_xml_file(const std::string& path);

/// A copy. Environment error if hwloc fails.
TopologyHandle duplicate(hwloc_topology_t topology);

/// The topology with only `mask`'s processing units. Requires: some of them are in `topology`.
/// Environment error if hwloc fails.
TopologyHandle restricted(TopologyHandle topology, const AffinityMask& mask);

/// The processing units in which some thread of this process may run, or std::bad_alloc; the empty
/// mask if the operating system does not tell.
AffinityMask process_affinity(hwloc_topology_t topology);

/// "reason (errno text)" for the last failed call.
std::string with_errno(const std::string& reason);

}  // namespace hycoll::internal

#endif  // HYCOLL_NUMA_TOPOLOGY_HWLOC_HANDLE_H_
