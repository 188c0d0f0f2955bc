#include "numa/topology/hwloc_handle.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>

#include "core/base/errors.h"
#include "core/base/lifetime.h"

namespace hycoll::internal {
namespace {

TopologyHandle created() {
  hwloc_topology_t topology = nullptr;
  return TopologyHandle(hwloc_topology_init(&topology) == 0 ? topology : nullptr);
}

TopologyHandle initialised() {
  // hwloc loads its plugins for the first topology of a process, and with the last one they go:
  // milliseconds each time. This one keeps them.
  static const Immortal keeps_plugins(&created);
  TopologyHandle topology = created();
  if (!topology) {
    throw Error(
        ErrorKind::environment,
        with_errno("hwloc_topology_init failed: hwloc cannot be used; is the library that this "
                   "program was built with (2.x) the one that is loaded?"));
  }
  return topology;
}

/// hwloc updates some tables on their first use; afterwards the topology may be used by many
/// threads.
void prepare_for_concurrent_use(hwloc_topology_t topology) {
  if (hwloc_topology_refresh(topology) != 0) {
    throw Error(ErrorKind::environment, with_errno("hwloc_topology_refresh failed"));
  }
}

/// This machine as hwloc reads it from the system: some 70 files here, hundreds on large machines.
TopologyHandle load_this_machine() {
  TopologyHandle topology = initialised();
  // hwloc's x86 discovery moves the calling thread over every core, also over those of other
  // processes; Linux tells everything without it.
  const unsigned long flags =
      HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED | HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
  if (hwloc_topology_set_flags(topology.get(), flags) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(
        ErrorKind::environment,
        with_errno("hwloc cannot read this machine's topology; check that /sys and /proc are "
                   "mounted and that `lstopo` works here"));
  }
  prepare_for_concurrent_use(topology.get());
  return topology;
}

/// What decides which machine hwloc loads: its variables, and which processing units are online.
std::string machine_key() {
  std::string key = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::string_view(*variable).starts_with("HWLOC_")) key.append("\n").append(*variable);
  }
  return key;
}

/// The machine as last loaded. It stays for the process: communicators come and go, the machine
/// does not.
class KeptMachine {
 public:
  /// A copy, of the machine that the variables now ask for. May be called concurrently.
  TopologyHandle copy() {
    const std::lock_guard lock(mutex_);
    if (std::string key = machine_key(); machine_ == nullptr || key != key_) {
      machine_ = load_this_machine();
      key_ = std::move(key);
    }
    return duplicate(machine_.get());
  }

 private:
  std::mutex mutex_;
  std::string key_;
  TopologyHandle machine_;
};

}  // namespace

std::string with_errno(const std::string& reason) {
  const int code = errno;
  return fmt::format("{} ({})", reason, std::strerror(code));
}

Bitmap make_bitmap() {
  Bitmap bitmap(hwloc_bitmap_alloc());
  if (!bitmap) throw std::bad_alloc();
  return bitmap;
}

Bitmap to_bitmap(const AffinityMask& mask) {
  Bitmap bitmap = make_bitmap();
  for (int unit : mask.processing_units()) {
    if (hwloc_bitmap_set(bitmap.get(), static_cast<unsigned>(unit)) != 0) throw std::bad_alloc();
  }
  return bitmap;
}

AffinityMask to_mask(hwloc_const_bitmap_t bitmap) {
  AffinityMask mask;
  for (int unit = hwloc_bitmap_first(bitmap); unit >= 0; unit = hwloc_bitmap_next(bitmap, unit)) {
    mask.add(unit);
  }
  return mask;
}

TopologyHandle this_machine() {
  static Immortal<KeptMachine> machine;
  TopologyHandle copy = machine->copy();
  // A control group may have been given other processing units since. Described machines have none.
  if (hwloc_topology_is_thissystem(copy.get()) != 0 &&
      hwloc_topology_allow(copy.get(), nullptr, nullptr, HWLOC_ALLOW_FLAG_LOCAL_RESTRICTIONS) !=
          0) {
    throw Error(ErrorKind::environment, with_errno("hwloc_topology_allow failed"));
  }
  return copy;
}

TopologyHandle duplicate(hwloc_topology_t topology) {
  hwloc_topology_t copy = nullptr;
  if (hwloc_topology_dup(&copy, topology) != 0) {
    throw Error(ErrorKind::environment, with_errno("hwloc_topology_dup failed"));
  }
  return TopologyHandle(copy);
}

TopologyHandle load_synthetic(const std::string& description) {
  const auto has = [&](const char* text) { return description.find(text) != std::string::npos; };
  // hwloc wants the processing units named, and takes an empty description for a machine with one.
  const std::string complete = has("pu:") || has("PU:") ? description : description + " pu:1";
  const bool is_blank = description.find_first_not_of(' ') == std::string::npos;
  TopologyHandle topology = initialised();
  if (is_blank || hwloc_topology_set_synthetic(topology.get(), complete.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("description is \"{}\": hwloc does not understand it; expected levels from "
                    "the outside in with a count each, such as \"pack:2 numa:2 core:14 pu:1\"",
                    description));
  }
  prepare_for_concurrent_use(topology.get());
  return topology;
}

TopologyHandle load_xml_file(const std::string& path) {
  if (!std::ifstream(path)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("path is \"{}\": the file cannot be opened; expected an hwloc XML file as "
                    "written by `lstopo file.xml`",
                    path));
  }
  TopologyHandle topology = initialised();
  if (hwloc_topology_set_xml(topology.get(), path.c_str()) != 0 ||
      hwloc_topology_load(topology.get()) != 0) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format(
            "path is \"{}\": hwloc cannot read it as a topology; expected an hwloc XML file "
            "as written by `lstopo file.xml`",
            path));
  }
  prepare_for_concurrent_use(topology.get());
  return topology;
}

TopologyHandle restricted(TopologyHandle topology, const AffinityMask& mask) {
  const Bitmap set = to_bitmap(mask);
  if (hwloc_topology_restrict(topology.get(), set.get(), 0) != 0) {
    throw Error(ErrorKind::environment,
                with_errno(fmt::format("hwloc_topology_restrict to processing units {} failed",
                                       mask.to_string())));
  }
  prepare_for_concurrent_use(topology.get());
  return topology;
}

AffinityMask process_affinity(hwloc_topology_t topology) {
  const Bitmap set = make_bitmap();
  if (hwloc_get_cpubind(topology, set.get(), HWLOC_CPUBIND_PROCESS) != 0) return {};
  const Bitmap known = make_bitmap();
  if (hwloc_bitmap_and(known.get(), set.get(), hwloc_topology_get_topology_cpuset(topology)) != 0) {
    throw std::bad_alloc();
  }
  return to_mask(known.get());
}

}  // namespace hycoll::internal
