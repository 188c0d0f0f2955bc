#include "tools/measure/line_gap.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

#include "core/base/cache_lines.h"
#include "numa/placement/binding.h"

namespace hycoll::measure {
namespace {

using Clock = std::chrono::steady_clock;
using Number = std::uint32_t;

constexpr std::size_t kFlags = 256;

struct alignas(kSeparationBytes) Flag {
  std::atomic<Number> number{0};
};

/// What the two pass to and fro, batch by batch.
struct Board {
  std::array<Flag, kFlags> flags;
  Flag raised;  ///< The batch whose flags are.
  Flag read;    ///< The batch whose flags have been read.
  std::atomic<bool> given_up{false};
};

/// False if somebody has given up, or it is too late.
bool wait_for(Board& board, const Flag& flag, Number number, Clock::time_point deadline) {
  // Pairs with the release stores of the other side.
  while (flag.number.load(std::memory_order_acquire) < number) {
    // Nothing else is passed by it.
    if (board.given_up.load(std::memory_order_relaxed)) return false;
    if (Clock::now() > deadline) {
      board.given_up.store(true, std::memory_order_relaxed);
      return false;
    }
  }
  return true;
}

void raise_flags(Board& board, Number batches, Clock::time_point deadline) {
  for (Number batch = 1; batch <= batches; ++batch) {
    if (!wait_for(board, board.read, batch - 1, deadline)) return;
    // Pair with the reader's loads.
    for (Flag& flag : board.flags) flag.number.store(batch, std::memory_order_release);
    board.raised.number.store(batch, std::memory_order_release);
  }
}

std::vector<double> read_flags(Board& board, Number batches, Clock::time_point deadline) {
  std::vector<double> gaps_ns;
  for (Number batch = 1; batch <= batches; ++batch) {
    if (!wait_for(board, board.raised, batch, deadline)) return {};
    const auto start = Clock::now();
    for (const Flag& flag : board.flags) {
      while (flag.number.load(std::memory_order_acquire) < batch) continue;  // pairs as above
    }
    const std::chrono::duration<double, std::nano> time = Clock::now() - start;
    gaps_ns.push_back(time.count() / kFlags);
    board.read.number.store(batch, std::memory_order_release);
  }
  return gaps_ns;
}

}  // namespace

std::vector<double> line_gap_ns(const Topology& topology, const Core& reader, const Core& writer,
                                int batches, std::chrono::nanoseconds patience) {
  const auto deadline = Clock::now() + patience;
  const auto count = static_cast<Number>(batches);
  Board board;
  std::vector<double> gaps_ns;
  std::array<std::exception_ptr, 2> failures;
  const auto start = [&](const Core& core, std::exception_ptr& failure, auto side) {
    return std::thread([&, side] {
      try {
        bind_this_thread(topology, core);
        side();
      } catch (...) {
        failure = std::current_exception();
        board.given_up.store(true, std::memory_order_relaxed);  // for the other side's looks
      }
    });
  };
  std::thread writing = start(writer, failures[0], [&] { raise_flags(board, count, deadline); });
  std::thread reading =
      start(reader, failures[1], [&] { gaps_ns = read_flags(board, count, deadline); });
  writing.join();
  reading.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return gaps_ns;
}

}  // namespace hycoll::measure
