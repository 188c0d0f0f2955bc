// The broadcast FIFO: every interleaving of small instances against a sequential reference, and
// threads and processes that write and read at once.

#include "threading/memory/broadcast_fifo.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/threading/fifo_model.h"
#include "threading/memory/shared_segment.h"

namespace hycoll {
namespace broadcast_fifo_test {

using tests::fifo_byte;
using tests::FifoBlock;

constexpr std::size_t kSlotBytes = 72;

/// A FIFO and the reference: all messages in the order of their reservations.
class BroadcastModel {
 public:
  /// `messages[p]` is how many messages participant p writes.
  BroadcastModel(std::vector<int> messages, std::size_t slot_count)
      : messages_(std::move(messages)),
        extent_{.slot_count = slot_count, .slot_bytes = kSlotBytes},
        block_(BroadcastFifo::block_bytes(participants(), extent_)),
        fifo_(block_.bytes(), participants(), extent_) {
    progress_.resize(messages_.size() * 3);
  }

  std::string save() const {
    std::string state = block_.save();
    for (const int number : progress_) state += static_cast<char>(number);
    for (const Sent& sent : order_) {
      state += static_cast<char>(sent.writer);
      state += static_cast<char>(sent.is_published);
    }
    return state;
  }
  void restore(const std::string& state) {
    const std::size_t size = block_.bytes().size();
    block_.restore(state);
    for (std::size_t i = 0; i < progress_.size(); ++i) progress_[i] = state[size + i];
    order_.clear();
    for (std::size_t at = size + progress_.size(); at < state.size(); at += 2) {
      order_.push_back({.writer = state[at], .is_published = state[at + 1] != 0});
    }
  }

  int actions() const { return 3 * participants(); }
  bool perform(int action) {
    const int participant = action / 3;
    switch (action % 3) {
      case 0:
        return reserve(participant);
      case 1:
        return write(participant);
      default:
        return read(participant);
    }
  }

  void finish() const {
    for (int p = 0; p < participants(); ++p) {
      CHECK(written(p) == messages_[static_cast<std::size_t>(p)]);
      CHECK(next_of_others(p) == static_cast<int>(order_.size()));
    }
  }

  bool common_head_would_overwrite() const { return common_head_would_overwrite_; }

 private:
  struct Sent {
    int writer;
    bool is_published;
  };

  int participants() const { return static_cast<int>(messages_.size()); }
  int& written(int p) { return progress_[static_cast<std::size_t>(p) * 3]; }
  int written(int p) const { return progress_[static_cast<std::size_t>(p) * 3]; }
  int& reserved(int p) { return progress_[static_cast<std::size_t>(p) * 3 + 1]; }
  /// Messages before this one participant p has read, or written itself.
  int& position(int p) { return progress_[static_cast<std::size_t>(p) * 3 + 2]; }
  int position(int p) const { return progress_[static_cast<std::size_t>(p) * 3 + 2]; }

  int next_of_others(int p) const {
    int next = position(p);
    while (next < static_cast<int>(order_.size()) &&
           order_[static_cast<std::size_t>(next)].writer == p) {
      ++next;
    }
    return next;
  }

  bool is_read_by_all(int message) const {
    for (int p = 0; p < participants(); ++p) {
      if (p != order_[static_cast<std::size_t>(message)].writer && position(p) <= message) {
        return false;
      }
    }
    return true;
  }

  bool reserve(int p) {
    CHECK(fifo_.has_reserved(p) == (reserved(p) > written(p)));
    if (reserved(p) > written(p) || written(p) == messages_[static_cast<std::size_t>(p)]) {
      return false;
    }
    fifo_.reserve(p);
    ++reserved(p);
    order_.push_back({.writer = p, .is_published = false});
    return true;
  }

  bool write(int p) {
    if (written(p) == messages_[static_cast<std::size_t>(p)]) return false;
    const bool reserves = reserved(p) == written(p);
    if (reserves) {
      order_.push_back({.writer = p, .is_published = false});
      ++reserved(p);
    }
    int ticket = static_cast<int>(order_.size()) - 1;
    while (order_[static_cast<std::size_t>(ticket)].writer != p) --ticket;
    const int last = ticket - static_cast<int>(extent_.slot_count);
    const bool is_free =
        last < 0 || (order_[static_cast<std::size_t>(last)].is_published && is_read_by_all(last));
    look_at_common_head(ticket, is_free);
    const std::vector<std::byte> bytes = contents(p, written(p));
    CHECK(fifo_.try_write(p, connection_of(p), bytes) == is_free);
    if (!is_free) return reserves;
    order_[static_cast<std::size_t>(ticket)].is_published = true;
    ++written(p);
    return true;
  }

  bool read(int p) {
    const int next = next_of_others(p);
    const bool is_there = next < static_cast<int>(order_.size()) &&
                          order_[static_cast<std::size_t>(next)].is_published;
    const auto message = fifo_.front(p);
    CHECK(message.has_value() == is_there);
    if (!message) return false;
    const int writer = order_[static_cast<std::size_t>(next)].writer;
    int index = 0;
    for (int before = 0; before < next; ++before) {
      index += order_[static_cast<std::size_t>(before)].writer == writer;
    }
    const std::vector<std::byte> expected = contents(writer, index);
    CHECK(message->writer == writer);
    CHECK(message->connection == connection_of(writer));
    CHECK(std::ranges::equal(message->bytes, expected));
    fifo_.release(p);
    position(p) = next + 1;
    return true;
  }

  /// The paper's rule: a writer may proceed when its ticket is less than the slots ahead of the
  /// number of messages that have been read by all.
  void look_at_common_head(int ticket, bool is_free) {
    int head = 0;
    for (int message = 0; message < static_cast<int>(order_.size()); ++message) {
      head += order_[static_cast<std::size_t>(message)].is_published && is_read_by_all(message);
    }
    const bool admits = ticket - head < static_cast<int>(extent_.slot_count);
    common_head_would_overwrite_ = common_head_would_overwrite_ || (admits && !is_free);
  }

  static std::uint64_t connection_of(int p) { return 100 + static_cast<std::uint64_t>(p); }
  static std::vector<std::byte> contents(int p, int index) {
    std::vector<std::byte> bytes(static_cast<std::size_t>(5 * index + p));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = fifo_byte(connection_of(p), static_cast<std::size_t>(index), i);
    }
    return bytes;
  }

  std::vector<int> messages_;
  FifoExtent extent_;
  FifoBlock block_;
  BroadcastFifo fifo_;
  std::vector<int> progress_;
  std::vector<Sent> order_;
  bool common_head_would_overwrite_ = false;
};

TEST_CASE("every interleaving gives all readers all messages in the order of the reservations") {
  const std::vector<std::vector<int>> instances = {{4},       {3, 0},    {3, 3},
                                                   {2, 2, 0}, {2, 2, 1}, {1, 1, 1, 1}};
  for (const std::vector<int>& messages : instances) {
    for (const std::size_t slot_count : {1, 2, 3}) {
      CAPTURE(messages.size());
      CAPTURE(slot_count);
      BroadcastModel model(messages, slot_count);
      CHECK(tests::visit_all(model) > messages.size());
    }
  }
}

TEST_CASE("with several writers a common head would admit writers to slots that are being read") {
  BroadcastModel several({2, 2, 0}, 2);
  tests::visit_all(several);
  CHECK(several.common_head_would_overwrite());
  BroadcastModel one({4, 0, 0}, 2);
  tests::visit_all(one);
  CHECK_FALSE(one.common_head_would_overwrite());
}

/// One participant's part: writes `count` messages on each of two connections, in an order of its
/// own, and reads all that the others write; the number of what was wrong.
class Participant {
 public:
  Participant(BroadcastFifo& fifo, int number, int participants, std::size_t count)
      : fifo_(fifo),
        number_(number),
        count_(count),
        to_read_(2 * count * static_cast<std::size_t>(participants - 1)),
        next_(2 * static_cast<std::size_t>(participants)),
        random_(static_cast<std::uint64_t>(number)) {}

  int run() {
    Waiter waiter(WaitPolicy::oversubscribed());
    while (written_[0] + written_[1] < 2 * count_ || to_read_ > 0) {
      const bool has_written = write();
      if (read() || has_written) {
        waiter.reset();
      } else if (waiter.turn()) {
        waiter.give_way();
      }
    }
    wrong_ += fifo_.front(number_).has_value();
    return wrong_;
  }

 private:
  bool write() {
    if (written_[0] + written_[1] == 2 * count_) return false;
    if (chosen_ < 0) {
      chosen_ = static_cast<int>(random_() % 2);
      if (written_[static_cast<std::size_t>(chosen_)] == count_) chosen_ = 1 - chosen_;
    }
    std::size_t& index = written_[static_cast<std::size_t>(chosen_)];
    const std::uint64_t connection =
        2 * static_cast<std::uint64_t>(number_) + static_cast<std::uint64_t>(chosen_);
    std::vector<std::byte> bytes(size_of(connection, index));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = fifo_byte(connection, index, i);
    if (!fifo_.try_write(number_, connection, bytes)) return false;
    ++index;
    chosen_ = -1;
    return true;
  }

  bool read() {
    const auto message = fifo_.front(number_);
    if (!message) return false;
    const std::uint64_t connection = message->connection;
    if (connection >= next_.size() || message->writer == number_ ||
        static_cast<int>(connection / 2) != message->writer) {
      ++wrong_;
    } else {
      std::size_t& index = next_[connection];
      wrong_ += message->bytes.size() != size_of(connection, index);
      for (std::size_t i = 0; i < message->bytes.size(); ++i) {
        wrong_ += message->bytes[i] != fifo_byte(connection, index, i);
      }
      ++index;
    }
    fifo_.release(number_);
    --to_read_;
    return true;
  }

  static std::size_t size_of(std::uint64_t connection, std::size_t index) {
    return (17 * connection + 5 * index) % (kSlotBytes + 1);
  }

  BroadcastFifo& fifo_;
  int number_;
  std::size_t count_;
  std::size_t to_read_;
  std::vector<std::size_t> next_;  // by connection
  std::mt19937_64 random_;
  std::size_t written_[2] = {0, 0};
  int chosen_ = -1;
  int wrong_ = 0;
};

TEST_CASE("threads that write and read at once lose nothing and mix nothing up") {
  for (const int participants : {1, 2, 3, 4}) {
    for (const std::size_t slot_count : {1, 2, 5, 16}) {
      // A full FIFO is handed from core to core with every message.
      const std::size_t count = slot_count < 5 ? 30 : 200;
      const FifoExtent extent{.slot_count = slot_count, .slot_bytes = kSlotBytes};
      FifoBlock block(BroadcastFifo::block_bytes(participants, extent));
      BroadcastFifo fifo(block.bytes(), participants, extent);
      std::atomic<int> wrong{0};
      std::vector<std::thread> threads;
      for (int p = 0; p < participants; ++p) {
        threads.emplace_back([&, p] { wrong += Participant(fifo, p, participants, count).run(); });
      }
      for (std::thread& thread : threads) thread.join();
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("a long vector is cut into messages of the slots' size") {
  const FifoExtent extent{.slot_count = 3, .slot_bytes = kSlotBytes};
  for (const std::size_t size : {0, 1, 71, 72, 73, 1000}) {
    FifoBlock block(BroadcastFifo::block_bytes(3, extent));
    BroadcastFifo fifo(block.bytes(), 3, extent);
    std::vector<std::byte> vector(size);
    for (std::size_t i = 0; i < size; ++i) vector[i] = fifo_byte(7, 0, i);
    std::vector<std::thread> readers;
    std::vector<std::vector<std::byte>> received(2);
    std::vector<std::size_t> messages(2);
    for (int p = 1; p < 3; ++p) {
      readers.emplace_back([&, p] {
        const auto reader = static_cast<std::size_t>(p - 1);
        do {
          const FifoMessage message = fifo.read(p, WaitPolicy::oversubscribed());
          received[reader].insert(received[reader].end(), message.bytes.begin(),
                                  message.bytes.end());
          ++messages[reader];
          fifo.release(p);
        } while (received[reader].size() < size);
      });
    }
    fifo.write(0, 7, vector, WaitPolicy::oversubscribed());
    for (std::thread& reader : readers) reader.join();
    for (std::size_t reader = 0; reader < 2; ++reader) {
      CHECK(received[reader] == vector);
      CHECK(messages[reader] == std::max<std::size_t>(1, (size + kSlotBytes - 1) / kSlotBytes));
    }
  }
}

TEST_CASE("processes share a FIFO in a segment") {
  constexpr int kProcesses = 3;
  const FifoExtent extent{.slot_count = 4, .slot_bytes = kSlotBytes};
  const std::size_t size_bytes = BroadcastFifo::block_bytes(kProcesses, extent);
  SharedSegment created(SharedSegment::Kind::anonymous, size_bytes);
  created.reserve(0, size_bytes);
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    SharedSegment attached(created.handle());
    BroadcastFifo fifo(attached.bytes(), kProcesses, extent);
    _exit(Participant(fifo, p, kProcesses, 100).run() == 0 ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
}

}  // namespace broadcast_fifo_test
}  // namespace hycoll
