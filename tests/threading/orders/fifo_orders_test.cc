#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "tests/threading/orders/check_orders.h"
#include "threading/memory/broadcast_fifo.h"

namespace hycoll {
namespace fifo_orders_test {

using orders::await;
using orders::check_orders;
using orders::Program;
using orders::require;

constexpr int kParticipants = 3;
alignas(kSeparationBytes) std::array<std::byte, 4096> block;

BroadcastFifo fifo_with(std::size_t slot_count) {
  return {block, kParticipants, {.slot_count = slot_count, .slot_bytes = sizeof(std::uint64_t)}};
}

void write(BroadcastFifo fifo, int participant, std::uint64_t connection) {
  const std::uint64_t number = 10 + connection;
  await([&] {
    return fifo.try_write(participant, connection, std::as_bytes(std::span(&number, 1)));
  });
}

/// Returns the connection.
std::uint64_t read(BroadcastFifo fifo, int participant) {
  const auto message = await([&] { return fifo.front(participant); });
  std::uint64_t number = 0;
  std::memcpy(&number, message->bytes.data(), message->bytes.size());
  require(number == 10 + message->connection, "a message is whole");
  fifo.release(participant);
  return message->connection;
}

TEST_CASE("the broadcast FIFO: a slot is written again when all have read it") {
  const auto setup = [] {
    block.fill(std::byte{0});
    const auto read_both = [](int participant) {
      for (const std::uint64_t connection : {0, 1})
        require(read(fifo_with(1), participant) == connection, "messages come in order");
    };
    return Program{{[] { write(fifo_with(1), 0, 0), write(fifo_with(1), 0, 1); },
                    [=] { read_both(1); }, [=] { read_both(2); }}};
  };
  check_orders(
      setup,
      {"FifoSlots::look_at: load, acquire", "FifoSlots::release: fetch_sub, acq_rel, its acquire",
       "FifoSlots::release: fetch_sub, acq_rel, its release", "FifoSlots::release: store, release",
       "FifoSlots::try_write: load, acquire", "FifoSlots::try_write: store, release"});
}

TEST_CASE("the broadcast FIFO: two who write both get the other one's message") {
  const auto setup = [] {
    block.fill(std::byte{0});
    const auto play = [](int participant) {
      const BroadcastFifo fifo(block, 2, {.slot_count = 2, .slot_bytes = sizeof(std::uint64_t)});
      write(fifo, participant, static_cast<std::uint64_t>(participant));
      require(read(fifo, participant) == 1 - static_cast<std::uint64_t>(participant),
              "it is the other one's");
    };
    return Program{{[=] { play(0); }, [=] { play(1); }}};
  };
  // A slot has one reader here, and is not written again.
  check_orders(setup, {"FifoSlots::look_at: load, acquire", "FifoSlots::try_write: store, release"},
               {"FifoSlots::release: fetch_sub, acq_rel, its acquire",
                "FifoSlots::release: fetch_sub, acq_rel, its release",
                "FifoSlots::release: store, release", "FifoSlots::try_write: load, acquire"});
}

}  // namespace fifo_orders_test
}  // namespace hycoll
