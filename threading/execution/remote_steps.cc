#include "threading/execution/remote_steps.h"

#include <algorithm>

#include "core/kernels/kernels.h"

namespace hycoll {
namespace {

/// What is read before it is combined fits into a core's cache; but a system call is worth a few
/// pages.
constexpr std::size_t kBlocksBytes = 256 * 1024;
constexpr std::size_t kSmallestBlockBytes = 32 * 1024;

std::size_t far_count(std::span<const OperandPlace> places) {
  return static_cast<std::size_t>(std::ranges::count(places, nullptr, &OperandPlace::here));
}

/// Visits the numbers of those that are far, from behind the one that is here: processes who all
/// began with the first would wait for one another in the kernel.
template <class Visit>
void visit_far(std::span<const OperandPlace> places, const Visit& visit) {
  const auto is_here = [](const OperandPlace& place) { return place.here != nullptr; };
  const auto own = static_cast<std::size_t>(std::ranges::find_if(places, is_here) - places.begin());
  const std::size_t first = own < places.size() ? own + 1 : 0;
  for (std::size_t turn = 0; turn < places.size(); ++turn) {
    const std::size_t i = (first + turn) % places.size();
    if (places[i].here == nullptr) visit(i);
  }
}

}  // namespace

void RemoteSteps::reserve(std::size_t count, std::size_t block_bytes) {
  if (buffer_.size() < count * block_bytes) buffer_.resize(count * block_bytes);
}

std::span<void* const> RemoteSteps::near_parts(std::span<const OperandPlace> destinations,
                                               std::size_t begin_bytes) {
  destinations_.clear();
  for (const OperandPlace& place : destinations) {
    if (place.here != nullptr) destinations_.push_back(place.here + begin_bytes);
  }
  if (destinations_.empty()) destinations_.push_back(buffer_.data());
  return destinations_;
}

void RemoteSteps::write_far(const AddressSpace& addresses,
                            std::span<const OperandPlace> destinations, std::size_t begin_bytes,
                            const void* from, std::size_t size_bytes) {
  visit_far(destinations, [&](std::size_t i) {
    const OperandPlace& place = destinations[i];
    addresses.write(place.worker, place.announced, place.offset_bytes + begin_bytes, from,
                    size_bytes);
  });
}

void RemoteSteps::reduce(const AddressSpace& addresses, std::span<const OperandPlace> destinations,
                         std::span<const OperandPlace> sources, std::size_t count,
                         std::size_t element_bytes, const Combine& combine) {
  const std::size_t block_count = far_count(sources) + 1;
  const std::size_t block_elements = std::max<std::size_t>(
      1, std::max(kBlocksBytes / block_count, kSmallestBlockBytes) / element_bytes);
  const std::size_t block_bytes = block_elements * element_bytes;
  reserve(block_count, block_bytes);
  for (std::size_t first = 0; first < count; first += block_elements) {
    const std::size_t elements = std::min(block_elements, count - first);
    const std::size_t begin_bytes = first * element_bytes;
    const std::span<void* const> near = near_parts(destinations, begin_bytes);
    sources_.clear();
    for (const OperandPlace& place : sources) {
      sources_.push_back(place.here != nullptr ? place.here + begin_bytes : nullptr);
    }
    std::byte* room = buffer_.data() + block_bytes;  // behind that for the result
    visit_far(sources, [&](std::size_t i) {
      const OperandPlace& place = sources[i];
      addresses.read(place.worker, place.announced, place.offset_bytes + begin_bytes, room,
                     elements * element_bytes);
      sources_[i] = room;
      room += block_bytes;
    });
    combine(near, sources_, elements);
    write_far(addresses, destinations, begin_bytes, near.front(), elements * element_bytes);
  }
}

void RemoteSteps::copy(const AddressSpace& addresses, std::span<const OperandPlace> destinations,
                       const OperandPlace& source, std::size_t size_bytes) {
  // From here to one other process, or from there to here, the kernel copies at once whatever there
  // is. What goes to several processes, or through this one, is written from a cache.
  const bool is_direct = source.here != nullptr
                             ? far_count(destinations) == 1
                             : destinations.size() == 1 && destinations.front().here != nullptr;
  const std::size_t block_bytes = is_direct ? size_bytes : kBlocksBytes;
  if (!is_direct) reserve(1, block_bytes);
  for (std::size_t begin = 0; begin < size_bytes; begin += block_bytes) {
    const std::size_t bytes = std::min(block_bytes, size_bytes - begin);
    std::span<void* const> near = near_parts(destinations, begin);
    const void* from = source.here + begin;
    if (source.here == nullptr) {
      addresses.read(source.worker, source.announced, source.offset_bytes + begin, near.front(),
                     bytes);
      from = near.front();
      near = near.subspan(1);
    } else if (near.front() == buffer_.data()) {
      near = {};
    }
    if (!near.empty()) copy_kernel(near, from, bytes, Stores::cached);
    write_far(addresses, destinations, begin, from, bytes);
  }
}

}  // namespace hycoll
