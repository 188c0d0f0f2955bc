#include "threading/memory/message_ring.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "core/base/cache_lines.h"

namespace hycoll::tests {
namespace message_ring_test {

struct alignas(kCacheLineBytes) Memory {
  std::byte bytes[MessageRing::kBytes] = {};
};

/// Of a length and content that both sides know.
std::vector<std::byte> message(int number, std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i < size_bytes; ++i) {
    bytes[i] = static_cast<std::byte>(static_cast<std::size_t>(number) * 13 + i);
  }
  return bytes;
}

bool is_equal(const MessageRing::Message& message, int tag, std::span<const std::byte> bytes) {
  return message.tag == tag && std::vector(message.bytes.begin(), message.bytes.end()) ==
                                   std::vector(bytes.begin(), bytes.end());
}

TEST_CASE("messages of all lengths arrive in their order, from thread to thread") {
  Memory memory;
  constexpr int kMessages = 20'000;
  // Most of them short, some of each length.
  const auto draw_size = [](std::minstd_rand& random) {
    const auto draw = random();
    return draw % 4 == 0 ? draw % (MessageRing::kMostBytes + 1) : draw % 80;
  };
  std::thread writer([&] {
    std::minstd_rand random(5);
    MessageRing ring(memory.bytes);
    for (int i = 0; i < kMessages; ++i) {
      const auto bytes = message(i, draw_size(random));
      while (!ring.try_write(i % 7 - 3, bytes)) std::this_thread::yield();
    }
  });
  MessageRing ring(memory.bytes);
  std::minstd_rand random(5);
  int wrong = 0;
  for (int i = 0; i < kMessages; ++i) {
    std::optional<MessageRing::Message> next;
    while (!(next = ring.front())) std::this_thread::yield();
    if (!is_equal(*next, i % 7 - 3, message(i, draw_size(random)))) ++wrong;
    ring.pop();
  }
  writer.join();
  CHECK(wrong == 0);
  CHECK(!ring.front());
}

TEST_CASE("what there is no room for is refused as a whole, until something has been read") {
  for (const std::size_t size_bytes : {std::size_t{0}, std::size_t{52}, std::size_t{53},
                                       std::size_t{1000}, MessageRing::kMostBytes}) {
    CAPTURE(size_bytes);
    Memory memory;
    MessageRing writer(memory.bytes);
    MessageRing reader(memory.bytes);
    int written = 0;
    int read = 0;
    for (int round = 0; round < 20; ++round) {
      while (writer.try_write(written, message(written, size_bytes))) ++written;
      // More than a single one, and no more than fits.
      CHECK(written - read >= 2);
      CHECK(static_cast<std::size_t>(written - read) * size_bytes <= MessageRing::kBytes);
      // Half of them, or all.
      const int until = round % 2 == 0 ? (read + written) / 2 : written;
      for (; read < until; ++read) {
        const auto next = reader.front();
        REQUIRE(next);
        REQUIRE(is_equal(*next, read, message(read, size_bytes)));
        reader.pop();
      }
    }
    CHECK(!reader.front());
  }
}

TEST_CASE("a message stays until it is popped, and nothing is taken for one") {
  Memory memory;
  MessageRing writer(memory.bytes);
  MessageRing reader(memory.bytes);
  CHECK(!reader.front());
  // Bytes that look like the numbers of messages to come.
  const std::vector<std::byte> ones(MessageRing::kMostBytes, std::byte{1});
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(writer.try_write(1, ones));
    REQUIRE(is_equal(*reader.front(), 1, ones));
    REQUIRE(is_equal(*reader.front(), 1, ones));
    reader.pop();
    REQUIRE(!reader.front());
  }
}

}  // namespace message_ring_test
}  // namespace hycoll::tests
