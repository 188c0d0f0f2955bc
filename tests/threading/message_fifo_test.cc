// The point-to-point FIFO: every interleaving of small instances against a sequential reference,
// and threads and processes that write and take at once.

#include "threading/memory/message_fifo.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/threading/fifo_model.h"
#include "threading/memory/shared_segment.h"

namespace hycoll {
namespace message_fifo_test {

using tests::fifo_byte;
using tests::FifoBlock;

constexpr std::size_t kSlotBytes = 72;

/// A FIFO and the reference. A message's state is one character.
class MessageModel {
 public:
  /// `messages[p]` is how many messages participant p writes; whoever writes none takes.
  MessageModel(std::vector<int> messages, std::size_t slot_count)
      : messages_(std::move(messages)),
        extent_{.slot_count = slot_count, .slot_bytes = kSlotBytes},
        block_(MessageFifo::block_bytes(participants(), extent_)),
        fifo_(block_.bytes(), participants(), extent_),
        written_(messages_.size(), 0),
        reserved_(messages_.size(), 0),
        taken_(messages_.size(), -1) {}

  std::string save() const {
    std::string state = block_.save();
    for (const auto* numbers : {&written_, &reserved_, &taken_}) {
      for (const int number : *numbers) state += static_cast<char>(number);
    }
    for (const Sent& sent : order_) {
      state += static_cast<char>(sent.writer);
      state += static_cast<char>(sent.stage);
    }
    return state;
  }
  void restore(const std::string& state) {
    std::size_t at = block_.bytes().size();
    block_.restore(state);
    for (auto* numbers : {&written_, &reserved_, &taken_}) {
      for (int& number : *numbers) number = static_cast<signed char>(state[at++]);
    }
    order_.clear();
    for (; at < state.size(); at += 2) {
      order_.push_back({.writer = state[at], .stage = static_cast<Stage>(state[at + 1])});
    }
  }

  int actions() const { return 3 * participants(); }
  bool perform(int action) {
    const auto p = static_cast<std::size_t>(action / 3);
    switch (action % 3) {
      case 0:
        return reserve(p);
      case 1:
        return messages_[p] > 0 ? write(p) : take(p);
      default:
        return messages_[p] == 0 && release(p);
    }
  }

  void finish() const {
    CHECK(written_ == messages_);
    for (const Sent& sent : order_) CHECK(sent.stage == Stage::released);
  }

 private:
  enum class Stage : char { reserved, published, taken, released };
  struct Sent {
    int writer;
    Stage stage;
  };

  int participants() const { return static_cast<int>(messages_.size()); }

  bool reserve(std::size_t p) {
    if (reserved_[p] > written_[p] || written_[p] == messages_[p]) return false;
    fifo_.reserve(static_cast<int>(p));
    ++reserved_[p];
    order_.push_back({.writer = static_cast<int>(p), .stage = Stage::reserved});
    return true;
  }

  bool write(std::size_t p) {
    if (written_[p] == messages_[p]) return false;
    const bool reserves = reserve(p);
    std::size_t ticket = 0;
    while (order_[ticket].writer != static_cast<int>(p) || order_[ticket].stage != Stage::reserved)
      ++ticket;
    const bool is_free =
        ticket < extent_.slot_count || order_[ticket - extent_.slot_count].stage == Stage::released;
    const std::byte content = fifo_byte(p, static_cast<std::size_t>(written_[p]), 0);
    CHECK(fifo_.try_write(static_cast<int>(p), p, {&content, 1}) == is_free);
    if (!is_free) return reserves;
    order_[ticket].stage = Stage::published;
    ++written_[p];
    return true;
  }

  bool take(std::size_t p) {
    if (taken_[p] >= 0) return false;
    std::size_t next = 0;
    while (next < order_.size() && order_[next].stage >= Stage::taken) ++next;
    const bool is_there = next < order_.size() && order_[next].stage == Stage::published;
    const auto message = fifo_.try_take(static_cast<int>(p));
    CHECK(message.has_value() == is_there);
    if (!message) return false;
    std::size_t index = 0;
    for (std::size_t before = 0; before < next; ++before) {
      index += order_[before].writer == order_[next].writer;
    }
    CHECK(message->writer == order_[next].writer);
    CHECK(message->bytes.size() == 1);
    CHECK(message->bytes[0] == fifo_byte(message->connection, index, 0));
    order_[next].stage = Stage::taken;
    taken_[p] = static_cast<int>(next);
    return true;
  }

  bool release(std::size_t p) {
    if (taken_[p] < 0) return false;
    fifo_.release(static_cast<int>(p));
    order_[static_cast<std::size_t>(taken_[p])].stage = Stage::released;
    taken_[p] = -1;
    return true;
  }

  std::vector<int> messages_;
  FifoExtent extent_;
  FifoBlock block_;
  MessageFifo fifo_;
  std::vector<int> written_;
  std::vector<int> reserved_;
  std::vector<int> taken_;  // by taker: a message, or -1
  std::vector<Sent> order_;
};

TEST_CASE("every interleaving gives every message to one reader, in the order of reservations") {
  const std::vector<std::vector<int>> instances = {{3, 0}, {2, 2, 0}, {3, 0, 0}, {2, 1, 0, 0}};
  for (const std::vector<int>& messages : instances) {
    for (const std::size_t slot_count : {1, 2, 3}) {
      MessageModel model(messages, slot_count);
      CHECK(tests::visit_all(model) > messages.size());
    }
  }
}

constexpr std::size_t kMessages = 100;  // of each writer

std::size_t size_of_message(std::uint64_t connection, std::size_t index) {
  return sizeof(std::uint64_t) + (11 * connection + 3 * index) % (kSlotBytes - 7);
}

void write_all(MessageFifo& fifo, int writer) {
  const auto connection = static_cast<std::uint64_t>(writer);
  for (std::size_t index = 0; index < kMessages; ++index) {
    std::vector<std::byte> bytes(size_of_message(connection, index));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = fifo_byte(connection, index, i);
    const std::uint64_t number = index;
    std::memcpy(bytes.data(), &number, sizeof(number));
    fifo.write(writer, connection, bytes, WaitPolicy::oversubscribed());
  }
}

struct Taken {
  std::vector<std::vector<std::size_t>> indices;  ///< By connection, as they came.
  std::size_t wrong = 0;
};

Taken take_some(MessageFifo& fifo, int reader, int writers, std::size_t count) {
  Taken taken{.indices = std::vector<std::vector<std::size_t>>(static_cast<std::size_t>(writers))};
  for (std::size_t message_number = 0; message_number < count; ++message_number) {
    const FifoMessage message = fifo.take(reader, WaitPolicy::oversubscribed());
    std::uint64_t index = 0;
    std::memcpy(&index, message.bytes.data(), sizeof(index));
    taken.wrong += message.bytes.size() != size_of_message(message.connection, index);
    for (std::size_t i = sizeof(index); i < message.bytes.size(); ++i) {
      taken.wrong += message.bytes[i] != fifo_byte(message.connection, index, i);
    }
    taken.indices[message.connection].push_back(index);
    fifo.release(reader);
  }
  return taken;
}

TEST_CASE("threads take every message once, those of a writer in their order") {
  for (const int writers : {1, 2, 3}) {
    for (const int readers : {1, 2}) {
      for (const std::size_t slot_count : {1, 3, 16}) {
        const FifoExtent extent{.slot_count = slot_count, .slot_bytes = kSlotBytes};
        FifoBlock block(MessageFifo::block_bytes(writers + readers, extent));
        MessageFifo fifo(block.bytes(), writers + readers, extent);
        const std::size_t total = kMessages * static_cast<std::size_t>(writers);
        std::vector<Taken> taken(static_cast<std::size_t>(readers));
        std::vector<std::thread> threads;
        for (int writer = 0; writer < writers; ++writer) {
          threads.emplace_back([&, writer] { write_all(fifo, writer); });
        }
        for (int reader = 0; reader < readers; ++reader) {
          const std::size_t share = reader == 0 ? total - total / 2 * (readers > 1) : total / 2;
          threads.emplace_back([&, reader, share] {
            taken[static_cast<std::size_t>(reader)] =
                take_some(fifo, writers + reader, writers, share);
          });
        }
        for (std::thread& thread : threads) thread.join();
        for (std::size_t writer = 0; writer < static_cast<std::size_t>(writers); ++writer) {
          std::vector<int> times(kMessages, 0);
          for (const Taken& reader : taken) {
            CHECK(reader.wrong == 0);
            CHECK(std::ranges::is_sorted(reader.indices[writer]));
            for (const std::size_t index : reader.indices[writer]) ++times[index];
          }
          CHECK(std::ranges::all_of(times, [](int number) { return number == 1; }));
        }
      }
    }
  }
}

TEST_CASE("processes share a FIFO in a segment") {
  const FifoExtent extent{.slot_count = 4, .slot_bytes = kSlotBytes};
  const std::size_t size_bytes = MessageFifo::block_bytes(3, extent);
  SharedSegment created(SharedSegment::Kind::anonymous, size_bytes);
  created.reserve(0, size_bytes);
  std::vector<pid_t> children;
  for (int writer = 0; writer < 2; ++writer) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    SharedSegment attached(created.handle());
    MessageFifo fifo(attached.bytes(), 3, extent);
    write_all(fifo, writer);
    _exit(0);
  }
  MessageFifo fifo(created.bytes(), 3, extent);
  const Taken taken = take_some(fifo, 2, 2, 2 * kMessages);
  CHECK(taken.wrong == 0);
  for (const auto& indices : taken.indices) {
    CHECK(indices.size() == kMessages);
    CHECK(std::ranges::is_sorted(indices));
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
  }
}

}  // namespace message_fifo_test
}  // namespace hycoll
