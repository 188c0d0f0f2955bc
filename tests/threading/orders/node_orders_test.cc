// What workers of a node do with each other's memory besides runs: mail, bells, handoffs, failures.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "core/base/errors.h"
#include "tests/threading/orders/check_orders.h"
#include "threading/memory/bell.h"
#include "threading/memory/handoff.h"
#include "threading/memory/message_ring.h"
#include "threading/memory/node_memory.h"
#include "threading/memory/separate.h"

namespace hycoll {
namespace node_orders_test {

using orders::await;
using orders::check_orders;
using orders::Program;
using orders::require;

/// Of the messages' bytes, which fill the ring soon.
constexpr std::size_t kLongBytes = MessageRing::kMostBytes;

struct Mail {
  alignas(kSeparationBytes) std::array<std::byte, MessageRing::kBytes> memory;
  std::optional<MessageRing> writer, reader;
  std::array<std::array<std::byte, kLongBytes>, 2> sent;
} mail;

void send(int tag, std::size_t size_bytes) {
  std::array<std::byte, kLongBytes>& bytes = mail.sent[static_cast<std::size_t>(tag % 2)];
  bytes[size_bytes - 1] = std::byte(tag);
  await([&] { return mail.writer->try_write(tag, std::span(bytes).first(size_bytes)); });
}

void receive(int tag, std::size_t size_bytes) {
  const auto message = await([] { return mail.reader->front(); });
  require(message->tag == tag && message->bytes.size() == size_bytes, "messages come in order");
  std::byte last{};
  std::memcpy(&last, &message->bytes[size_bytes - 1], 1);
  require(last == std::byte(tag), "a message is whole");
  mail.reader->pop();
}

void clear_mail() {
  mail.memory.fill(std::byte{0});
  mail.writer.emplace(mail.memory.data());
  mail.reader.emplace(mail.memory.data());
}

TEST_CASE("mail: messages are whole, short ones and long ones") {
  const auto setup = [] {
    clear_mail();
    return Program{{[] { send(1, 8), send(2, 100), send(3, 8); },
                    [] { receive(1, 8), receive(2, 100), receive(3, 8); }}};
  };
  check_orders(setup,
               {"MessageRing::front: load, acquire", "MessageRing::try_write: store, release"});
}

TEST_CASE("mail: nothing is written over what has not been read") {
  const auto setup = [] {
    clear_mail();
    // As many as there is room for. Of two that have been read the writer is told.
    for (const int tag : {1, 2, 3, 4, 5}) {
      mail.sent[1][kLongBytes - 1] = std::byte(tag);
      mail.writer->try_write(tag, mail.sent[1]);
    }
    return Program{
        {[] { send(6, kLongBytes); }, [] { receive(1, kLongBytes), receive(2, kLongBytes); }}};
  };
  // What the reader reads was there before.
  check_orders(setup, {"MessageRing::pop: store, release", "MessageRing::try_write: load, acquire"},
               {"MessageRing::front: load, acquire", "MessageRing::try_write: store, release"});
}

TEST_CASE("a bell wakes who sleeps: no ring between the look and the sleep is lost") {
  struct {
    alignas(Bell) std::array<std::byte, sizeof(Bell)> bell;
    std::atomic<int> written;
  } static shared;
  const auto setup = [] {
    Bell& bell = *new (&shared.bell) Bell;
    shared.written = 0;
    return Program{{[&bell] {
                      shared.written.store(1, std::memory_order_relaxed);
                      bell.ring();
                    },
                    [&bell] {
                      // As Waiter::sleep_at(), with a look after each call.
                      bell.listen();
                      std::uint32_t heard = bell.rings();
                      while (shared.written.load(std::memory_order_relaxed) == 0) {
                        bell.sleep(heard, std::chrono::seconds(1));
                        heard = bell.rings();
                      }
                      bell.stop_listening();
                    }}};
  };
  // wake() comes after the fence in ring(), which releases by itself.
  check_orders(
      setup,
      {"Bell::listen: fence, seq_cst", "Bell::ring: fence, seq_cst", "Bell::rings: load, acquire"},
      {"Bell::wake: fetch_add, release"});
}

TEST_CASE("a ball goes to and fro") {
  static HandoffBall ball;
  const auto setup = [] {
    reset(ball);
    const auto play = [](HandoffSide side) {
      measure_handoff(ball, side, {.batches = 0, .round_trips_per_batch = 2},
                      std::chrono::seconds(10));
    };
    return Program{{[=] { play(HandoffSide::first); }, [=] { play(HandoffSide::second); }}};
  };
  // Nothing but the ball itself is passed.
  check_orders(setup, {},
               {"measure_handoff: load, acquire", "measure_handoff: load, acquire (2)",
                "measure_handoff: store, release", "measure_handoff: store, release (2)"});
}

TEST_CASE("failed operators: the first text of a call is kept whole") {
  constexpr CallNumber kCall = 1;
  constexpr std::uint64_t kMark = kCall << 24;  // of rank 0
  static SeparateVector<std::byte> block(NodeMemory::block_bytes(1, 0));
  static NodeMemory memory(block, 1, 0, nullptr);
  const auto setup = [] {
    memory.construct_worker(0, NodeMemory::Section::compact);
    const auto record = [](const char* text) {
      memory.record_operator_failure(0, 0, kCall, Error(ErrorKind::user_operator, text));
    };
    return Program{{[=] { record("one"); }, [=] { record("two"); },
                    [] {
                      const auto text = memory.operator_failure(0, kMark);
                      require(!text || *text == "one" || *text == "two", "a text is whole");
                    }}};
  };
  check_orders(setup, {"NodeMemory::record_operator_failure: exchange, acquire",
                       "NodeMemory::record_operator_failure: store, release"});
}

}  // namespace node_orders_test
}  // namespace hycoll
