// What threads of a node that is alone choose when they know how far they are from one another.

#include <doctest/doctest.h>

#include <cstddef>
#include <string_view>

#include "collectives/selection/selection.h"

namespace hycoll {
namespace selection_threads_test {

constexpr std::size_t kKib = 1024;
constexpr std::size_t kMib = 1024 * kKib;

SelectedPlan choose(Collective collective, int members, std::size_t size_bytes, Nearness nearness) {
  return select({.collective = collective,
                 .nodes = {{.node = {.members = members, .workers = members}, .count = 1}},
                 .size_bytes = size_bytes,
                 .nearness = nearness,
                 .streaming_threshold_bytes = 32 * kMib});
}

std::string_view name(Collective collective, std::size_t size_bytes, Nearness nearness) {
  return choose(collective, 2, size_bytes, nearness).algorithm;
}

TEST_CASE("threads that are near read others' blocks, those that are far write theirs") {
  for (const std::size_t size_bytes : {4 * kKib, 16 * kKib, 256 * kKib}) {
    CAPTURE(size_bytes);
    CHECK(name(Collective::allgather, size_bytes, Nearness::unknown) == "multi-leader-ring");
    CHECK(name(Collective::allgather, size_bytes, Nearness::near) == "direct-get");
    CHECK(name(Collective::allgather, size_bytes, Nearness::far) == "direct-put");
    CHECK(name(Collective::alltoall, size_bytes, Nearness::unknown) == "onmpml");
    CHECK(name(Collective::alltoall, size_bytes, Nearness::near) == "onmpml");
    CHECK(name(Collective::alltoall, size_bytes, Nearness::far) == "direct-put");
  }
}

TEST_CASE("who is near writes blocks that the others' own caches do not hold") {
  CHECK(name(Collective::allgather, 512 * kKib, Nearness::near) == "multi-leader-ring");
  CHECK(name(Collective::allgather, 8 * kMib, Nearness::near) == "multi-leader-ring");
  CHECK(name(Collective::allgather, 8 * kMib, Nearness::far) == "direct-put");
  CHECK(name(Collective::alltoall, 4 * kMib, Nearness::near) == "onmpml");
}

TEST_CASE("many threads do what was measured with many") {
  for (const Nearness nearness : {Nearness::near, Nearness::far}) {
    CHECK(choose(Collective::allgather, 4, 64 * kKib, nearness).algorithm == "multi-leader-ring");
  }
  CHECK(choose(Collective::alltoall, 4, 64 * kKib, Nearness::far).algorithm == "direct-put");
}

TEST_CASE("buffers that no cache holds are written past the caches, wherever the threads are") {
  for (const Nearness nearness : {Nearness::near, Nearness::far}) {
    CHECK(name(Collective::allgather, 16 * kMib, nearness) == "multi-leader-ring");
    CHECK(name(Collective::alltoall, 16 * kMib, nearness) == "direct-put");
  }
}

TEST_CASE("short vectors go through lines, wherever the threads are") {
  for (const Nearness nearness : {Nearness::unknown, Nearness::near, Nearness::far}) {
    CHECK(name(Collective::allgather, 16, nearness) == "lines-circulant");
    CHECK(name(Collective::alltoall, 16, nearness) == "lines");
    CHECK(name(Collective::broadcast, 16, nearness) == "lines-binomial");
    CHECK(name(Collective::scatter, 16, nearness) == "lines-binomial");
  }
}

TEST_CASE("a root that is far from the others writes alone") {
  for (const Collective collective : {Collective::broadcast, Collective::scatter}) {
    for (const int members : {2, 3, 8}) {
      CAPTURE(members);
      CHECK(choose(collective, members, 64 * kKib, Nearness::near).lanes == members);
      CHECK(choose(collective, members, 64 * kKib, Nearness::far).lanes == 1);
    }
  }
  CHECK(choose(Collective::gather, 4, 64 * kKib, Nearness::far).lanes == 4);
}

}  // namespace selection_threads_test
}  // namespace hycoll
