#include "collectives/job/build_identity.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "core/base/version.h"
#include "threading/memory/message_ring.h"
#include "threading/memory/node_memory.h"
#include "threading/memory/process_watch.h"
#include "threading/memory/shared_segment.h"

namespace hycoll {
namespace {

#define HYCOLL_AS_TEXT(number) #number
#define HYCOLL_VERSION_AS_TEXT(major, minor, patch) \
  "version " HYCOLL_AS_TEXT(major) "." HYCOLL_AS_TEXT(minor) "." HYCOLL_AS_TEXT(patch)
constexpr const char* kVersion =
    HYCOLL_VERSION_AS_TEXT(HYCOLL_VERSION_MAJOR, HYCOLL_VERSION_MINOR, HYCOLL_VERSION_PATCH);

}  // namespace

std::string build_identity() {
  std::uint64_t digest = 0xcbf29ce484222325u;  // FNV-1a
  for (const std::size_t size :
       {sizeof(Post), sizeof(Line), sizeof(PackedSignature), kCallSets,
        static_cast<std::size_t>(kFlagsPerWorker), kMaximumLinesBytes, kMaximumCompactLinesBytes,
        kMaximumShortStagingBytes,
        NodeMemory::extent_of(NodeMemory::Section::compact, 0, 1, 2, 0).size_bytes,
        NodeMemory::block_bytes(1, 0), NodeMemory::block_bytes(3, 65'536), MessageRing::kBytes,
        MessageRing::kMostBytes, ProcessWatch::size_bytes(1), sizeof(SharedSegment::Handle)}) {
    digest = (digest ^ size) * 0x100000001b3u;
  }
  return fmt::format("{}, memory layout {:016x}", kVersion, digest);
}

}  // namespace hycoll
