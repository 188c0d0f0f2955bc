#include "threading/memory/node_memory.h"

#include <algorithm>
#include <thread>

#include "threading/memory/broadcast_fifo.h"

namespace hycoll {
namespace {

/// A failure of a call in one word: the call's number above the worker's.
constexpr int kWorkerBits = 16;
constexpr std::uint64_t failure_of(CallNumber call, int worker) noexcept {
  return call << kWorkerBits | static_cast<std::uint64_t>(worker);
}
constexpr CallNumber failed_call(std::uint64_t failure) noexcept { return failure >> kWorkerBits; }
constexpr int failing_worker(std::uint64_t failure) noexcept {
  return static_cast<int>(failure & ((1u << kWorkerBits) - 1));
}

/// Holds a lock that is held for moments, and hardly ever wanted by two.
class SpinGuard {
 public:
  explicit SpinGuard(std::atomic<bool>& locked) noexcept : locked_(locked) {
    // Pairs with the releasing store below.
    while (locked_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  ~SpinGuard() { locked_.store(false, std::memory_order_release); }
  SpinGuard(const SpinGuard&) = delete;
  SpinGuard& operator=(const SpinGuard&) = delete;

 private:
  std::atomic<bool>& locked_;
};

}  // namespace

NodeMemory::NodeMemory(int worker_count, std::size_t further_bytes)
    : worker_count_(worker_count),
      further_bytes_(further_bytes),
      further_area_bytes_(further_area_bytes(further_bytes)),
      own_block_(static_cast<std::byte*>(::operator new(block_bytes(worker_count, further_bytes),
                                                        std::align_val_t(kSeparationBytes)))),
      block_(own_block_.get()),
      further_areas_(block_ + area_begin(Section::rest, 0, worker_count, further_bytes)) {
  for (int worker = 0; worker < worker_count; ++worker) {
    construct_worker(worker, Section::compact);
    construct_worker(worker, Section::rest);
  }
  std::ranges::fill(fifo(), std::byte{0});
}

NodeMemory::NodeMemory(std::span<std::byte> block, int worker_count, std::size_t further_bytes,
                       const AddressSpace* addresses)
    : worker_count_(worker_count),
      further_bytes_(further_bytes),
      further_area_bytes_(further_area_bytes(further_bytes)),
      block_(block.data()),
      further_areas_(block_ + area_begin(Section::rest, 0, worker_count, further_bytes)),
      addresses_(addresses) {
  HYCOLL_ASSERT(block.size() >= block_bytes(worker_count, further_bytes), "the block holds all");
}

void NodeMemory::Free::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, std::align_val_t(kSeparationBytes));
}

std::size_t NodeMemory::further_area_bytes(std::size_t further_bytes) noexcept {
  return spread(sizeof(FurtherCells) + further_bytes);
}

std::size_t NodeMemory::area_begin(Section section, int worker, int worker_count,
                                   std::size_t further_bytes) noexcept {
  const auto w = static_cast<std::size_t>(worker);
  const auto compact_areas = [](std::size_t count) {
    return sizeof(NodeCells) + count * compact_area_bytes();
  };
  return section == Section::compact
             ? compact_areas(w)
             : in_pages(compact_areas(static_cast<std::size_t>(worker_count))) +
                   w * further_area_bytes(further_bytes);
}

NodeMemory::Extent NodeMemory::fifo_extent(int worker_count, std::size_t further_bytes) noexcept {
  return {.offset_bytes = area_begin(Section::rest, worker_count, worker_count, further_bytes),
          .size_bytes = BroadcastFifo::block_bytes(worker_count)};
}

std::size_t NodeMemory::block_bytes(int worker_count, std::size_t further_bytes) noexcept {
  const Extent fifo = fifo_extent(worker_count, further_bytes);
  return fifo.offset_bytes + fifo.size_bytes;
}

NodeMemory::Extent NodeMemory::extent_of(Section section, int first, int count, int worker_count,
                                         std::size_t further_bytes) {
  const auto begin_of = [&](int worker) {
    return area_begin(section, worker, worker_count, further_bytes);
  };
  // What is nobody's own lies with the last worker: it is next to its area.
  const bool is_last = first + count == worker_count;
  const std::size_t begin = section == Section::compact && first == 0 ? 0 : begin_of(first);
  const std::size_t end = !is_last ? begin_of(first + count)
                          : section == Section::compact
                              ? area_begin(Section::rest, 0, worker_count, further_bytes)
                              : block_bytes(worker_count, further_bytes);
  return {.offset_bytes = begin, .size_bytes = end - begin};
}

void NodeMemory::construct_worker(int worker, Section section) {
  if (section == Section::rest) {
    new (further_area_begin(worker)) FurtherCells;
    return;
  }
  if (worker == 0) new (block_) NodeCells;
  new (compact_area_begin(worker)) WorkerCells;
}

void NodeMemory::fail(int worker, CallNumber call, const Error& error) noexcept {
  std::atomic<std::uint64_t>& latest = node_cells().failures[call % kCallSets];
  std::uint64_t known = latest.load(std::memory_order_relaxed);
  if (failed_call(known) >= call) return;
  FailureRecord& record = cells(worker).failures[call % kCallSets];
  record.kind.store(static_cast<int>(error.kind()), std::memory_order_relaxed);
  record.text.write(error.what());
  // Pairs with the acquiring load in throw_if_failed.
  while (failed_call(known) < call &&
         !latest.compare_exchange_weak(known, failure_of(call, worker), std::memory_order_release,
                                       std::memory_order_relaxed)) {
  }
  // It grows, since all members have entered the call. Pairs with the acquiring load in
  // last_failed_call().
  node_cells().last_failed_call.store(call, std::memory_order_release);
}

void NodeMemory::throw_if_failed(CallNumber call) const {
  // Pairs with the releasing exchange in fail().
  const std::uint64_t failure =
      node_cells().failures[call % kCallSets].load(std::memory_order_acquire);
  if (failed_call(failure) != call) return;
  const FailureRecord& record = cells(failing_worker(failure)).failures[call % kCallSets];
  throw Error(static_cast<ErrorKind>(record.kind.load(std::memory_order_relaxed)),
              record.text.read());
}

bool NodeMemory::may_warn(std::chrono::milliseconds interval) noexcept {
  using std::chrono::nanoseconds;
  const auto since_boot = std::chrono::steady_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<nanoseconds>(since_boot).count();
  // Orders nothing but itself: one of those that have waited equally long is to speak.
  std::atomic<std::int64_t>& last = node_cells().last_warning_ns;
  std::int64_t told = last.load(std::memory_order_relaxed);
  if (told != 0 && now - told < nanoseconds(interval).count() / 2) return false;
  return last.compare_exchange_strong(told, now, std::memory_order_relaxed);
}

bool NodeMemory::have_left(CallNumber call, int worker_count, std::uint32_t digest) const noexcept {
  for (int worker = 0; worker < worker_count; ++worker) {
    const WorkerCells& its = cells(worker);
    // Pair with the releasing stores in leave() and WorkerExecutor::start().
    if (its.left.value.load(std::memory_order_acquire) >= call) continue;
    const CallNumber entered = its.post.call.load(std::memory_order_acquire);
    if (entered > call || (entered == call && its.post.digest(call) != digest)) continue;
    return false;
  }
  return true;
}

bool NodeMemory::agree(CallNumber call, int worker_count) const noexcept {
  for (int worker = 1; worker < worker_count; ++worker) {
    if (cells(worker).post.digest(call) != cells(0).post.digest(call)) return false;
  }
  return true;
}

void NodeMemory::record_operator_failure(int slot, int rank, CallNumber call, const Error& error) {
  OperatorFailure& failure = cells(slot).operator_failure;
  const SpinGuard guard(failure.locked);
  if (failed_call_of(failure.mark) == call) return;
  failure.mark = (call << 24) | static_cast<std::uint64_t>(rank);
  failure.text.write(error.what());
}

std::optional<std::string> NodeMemory::operator_failure(int slot, std::uint64_t mark) const {
  const OperatorFailure& failure = cells(slot).operator_failure;
  const SpinGuard guard(failure.locked);
  return failure.mark == mark ? std::optional(failure.text.read()) : std::nullopt;
}

}  // namespace hycoll
