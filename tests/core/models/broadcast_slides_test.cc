// The counts of the broadcast slides: those that they print for 8 and 10 processes, and others by
// hand.

#include "core/models/broadcast_slides.h"

#include <doctest/doctest.h>

namespace hycoll::models {
namespace broadcast_slides_test {

TEST_CASE("slide 9: 8 processes take 3 steps and 10 take 4") {
  CHECK(scatter_steps(1) == 0);
  CHECK(scatter_steps(8) == 3);
  CHECK(scatter_steps(10) == 4);
}

TEST_CASE("after the scatter a process has the chunks of its subtree") {
  const int among_10[] = {10, 1, 2, 1, 4, 1, 2, 1, 2, 1};
  for (int process = 0; process < 10; ++process) {
    CHECK(chunks_after_scatter(process, 10) == among_10[process]);
  }
  CHECK(chunks_after_scatter(8, 9) == 1);
}

TEST_CASE("the scatter sends a message to everybody but the root, 12 chunks among 8") {
  CHECK(scatter(8) == Transmissions{7, 12});  // 4, 2, 2 and four of one
  CHECK(scatter(1) == Transmissions{});
}

TEST_CASE("slides 10 and 13: 56 transmissions among 8, of which 12 can be saved") {
  CHECK(native_ring(8) == Transmissions{56, 56});
  CHECK(saved_messages(8) == 12);
  CHECK(tuned_ring(8) == Transmissions{44, 44});
}

TEST_CASE("slide 14: 75 transmissions among 10, where 15 are saved") {
  CHECK(native_ring(10).messages == 90);
  CHECK(saved_messages(10) == 15);
  CHECK(tuned_ring(10).messages == 75);
}

TEST_CASE("slide 28: with each process more at least one more message is saved") {
  for (int P = 2; P < 300; ++P) CHECK(saved_messages(P + 1) > saved_messages(P));
}

}  // namespace broadcast_slides_test
}  // namespace hycoll::models
