#ifndef HYCOLL_TESTS_THREADING_ORDERS_MEMORY_MODEL_H_
#define HYCOLL_TESTS_THREADING_ORDERS_MEMORY_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace hycoll::orders {

inline constexpr std::size_t kMaximumThreads = 4;

/// Memory orders, as the compiler passes them on.
enum class Order : std::uint8_t { relaxed, consume, acquire, release, acq_rel, seq_cst };

constexpr bool acquires(Order order) noexcept {
  return order != Order::relaxed && order != Order::release;
}
constexpr bool releases(Order order) noexcept {
  return order == Order::release || order == Order::acq_rel || order == Order::seq_cst;
}

/// What a thread knows: of each location the newest message that it must not go back behind, and of
/// each thread how much of what it has done happens before.
struct View {
  std::vector<int> newest;  ///< By location; a message. Locations beyond: the initial one.
  std::array<std::uint32_t, kMaximumThreads> clock{};

  int newest_of(std::size_t location) const noexcept {
    return location < newest.size() ? newest[location] : 0;
  }
};

/// A value that has been written to a location.
struct Message {
  std::uint64_t value;
  View view;    ///< What who acquires it gets to know.
  bool is_rmw;  ///< Written by a read-modify-write: nothing comes between it and what that read.
  int thread;   ///< -1: there before the threads.
};

/// An atomic object: its messages, in the order of their making, and in modification order. Later
/// messages may come before earlier ones in the latter.
struct Location {
  std::size_t index;
  std::uintptr_t address;
  std::size_t size_bytes;
  std::vector<Message> messages;
  std::vector<int> modification_order;  ///< Messages.
  std::vector<std::size_t> positions;   ///< Of each message in modification order.

  int last() const noexcept { return modification_order.back(); }
};

/// The memory of one execution, by the rules of C++20 without load buffering: who reads a value,
/// and what it knows then. Which of the values that may be read is read, the caller decides.
///
/// Operational and view-based: writing appends a message, anywhere in modification order behind
/// what the thread knows; reading takes a message that is not older than that; acquiring takes over
/// the message's view. Sequentially consistent operations are ordered as they are executed, and
/// kept consistent with the coherence order by two more views ([atomics.order]).
class Memory {
 public:
  explicit Memory(std::size_t thread_count);

  /// Of this size at this address. Its first message is what memory holds now.
  Location& location(std::uintptr_t address, std::size_t size_bytes);

  /// The messages that an operation of this order may read, in modification order. For a
  /// read-modify-write those after which there is room, too: see may_follow().
  std::vector<int> readable(std::size_t thread, const Location& location, Order order) const;
  /// The same for the kernel, under its lock and after a fence of its own.
  std::vector<int> readable_by_kernel(std::size_t thread, const Location& location) const;
  /// Whether a read-modify-write may write directly behind this message.
  bool may_follow(const Location& location, int message) const noexcept;
  /// Where in modification order a write may go.
  std::vector<std::size_t> writable(std::size_t thread, const Location& location,
                                    Order order) const;

  std::uint64_t read(std::size_t thread, Location& location, int message, Order order);
  void write(std::size_t thread, Location& location, std::size_t position, std::uint64_t value,
             Order order);
  /// Reads the message, and writes directly behind it.
  void read_and_write(std::size_t thread, Location& location, int message, std::uint64_t value,
                      Order order);
  void fence(std::size_t thread, Order order);

  enum class Access : std::uint8_t { plain_read, plain_write, atomic_read, atomic_write };
  /// Says what an access to these bytes races with; "" if with nothing. `where` must outlive this.
  std::string access(std::size_t thread, std::uintptr_t address, std::size_t size_bytes,
                     Access access, const std::string& where);

  /// Nothing races with what has been done to these bytes so far.
  void forget_accesses(std::uintptr_t address, std::size_t size_bytes);

  /// Atomic objects that lay in these bytes are no more: what is there next begins with what memory
  /// holds then.
  void forget_objects(std::uintptr_t address, std::size_t size_bytes);

  /// Atomic objects that lie here get the values back that they have begun with.
  void restore_objects(std::uintptr_t begin, std::uintptr_t end) const;

  /// The kernel's lock of what sleeps on a word: whoever takes it knows what those before knew.
  void synchronise_with_kernel(std::size_t thread);

 private:
  struct Thread {
    View view;
    View acquired_by_fence;  // what an acquire fence adds: of messages read by relaxed loads
    View released_by_fence;  // what relaxed stores pass on since a release fence
  };
  struct Done {
    std::uintptr_t begin, end;
    std::size_t thread;
    std::uint32_t time;
    Access access;
    const std::string* where;
  };

  static constexpr std::uintptr_t kBlockBytes = 64;

  std::string access_in_block(std::vector<Done>& block, const Done& now) const;
  bool is_newer(const Location& location, int message, int other) const noexcept {
    return location.positions[static_cast<std::size_t>(message)] >
           location.positions[static_cast<std::size_t>(other)];
  }
  void raise(View& view, std::size_t location, int message) const;
  void join_newest(View& view, const View& other) const;
  void join(View& view, const View& other) const;
  int newer(const Location& location, int message, const View& view) const;
  std::vector<int> messages_from(const Location& location, int message) const;
  int lower_bound(std::size_t thread, const Location& location, Order order) const;
  void insert(std::size_t thread, Location& location, std::size_t position, std::uint64_t value,
              Order order, const View* read);

  std::vector<Thread> threads_;
  std::vector<std::unique_ptr<Location>> locations_;
  std::map<std::uintptr_t, Location*> by_address_;
  std::unordered_map<std::uintptr_t, std::vector<Done>> accesses_;  ///< By block.
  View fences_;      // what threads knew at their sequentially consistent fences so far
  View consistent_;  // what sequentially consistent operations have read and written so far
  View kernel_;
};

}  // namespace hycoll::orders

#endif  // HYCOLL_TESTS_THREADING_ORDERS_MEMORY_MODEL_H_
