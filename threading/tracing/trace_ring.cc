#include "threading/tracing/trace_ring.h"

#include <algorithm>
#include <bit>

namespace hycoll {
namespace {

/// The first word of a record.
struct Head {
  /// Behind those of TraceEvent::Kind: what does not fit into the record that follows, or follows
  /// from the one before.
  static constexpr std::uint8_t kLongTimes = 100;
  static constexpr std::uint8_t kMoreOfRun = 101;
  static constexpr std::uint8_t kSiteOfRun = 102;

  std::uint8_t kind;
  std::uint8_t detail = 0;   // of a step its kind; of a run whether its worker has a member
  std::uint16_t number = 0;  // of a step its strand; of a run its worker's index
  std::uint32_t worker;
};

std::uint64_t packed(const Head& head) { return std::bit_cast<std::uint64_t>(head); }

Head head_of(TraceEvent::Kind kind, const hycoll_observed_run& run) {
  return {.kind = static_cast<std::uint8_t>(kind),
          .worker = static_cast<std::uint32_t>(run.worker)};
}

std::uint64_t packed_pair(std::uint64_t high, std::uint64_t low) {
  return high << 32 | (low & 0xffffffffu);
}
std::uint32_t high_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair >> 32); }
std::uint32_t low_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }

std::uint64_t packed_pointer(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}
const void* pointer_of(std::uint64_t word) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(word));
}
const char* text_of(std::uint64_t word) { return static_cast<const char*>(pointer_of(word)); }

constexpr std::uint64_t kMostShortTicks = 0xffffffffu;
/// Bytes of a step, beside its peer.
constexpr int kPeerBits = 24;

}  // namespace

TraceRing::TraceRing(std::size_t size_bytes)
    : capacity_(std::bit_floor(std::max<std::size_t>(size_bytes / sizeof(Record), 64))),
      records_(std::make_unique<SharedRecord[]>(capacity_)) {}

void TraceRing::put(const Record& record) noexcept {
  const std::uint64_t number = written_.load(std::memory_order_relaxed);
  begun_.store(number + 1, std::memory_order_relaxed);
  SharedRecord& place = records_[number & (capacity_ - 1)];
  // Pair with the acquiring loads in records(): whoever reads a word of this record finds that it
  // has been begun.
  for (std::size_t w = 0; w < record.size(); ++w) {
    place[w].store(record[w], std::memory_order_release);
  }
  // Pairs with the acquiring load in records().
  written_.store(number + 1, std::memory_order_release);
}

void TraceRing::run_begins(const hycoll_observed_run& run) noexcept {
  Head head = head_of(TraceEvent::Kind::run_begins, run);
  head.detail = run.has_member != 0 ? 1 : 0;
  head.number = static_cast<std::uint16_t>(run.index);
  put({packed(head), run.began, run.call, run.bytes});
  head.kind = Head::kMoreOfRun;
  put({packed(head), packed_pair(run.communicator, static_cast<std::uint32_t>(run.rank)),
       packed_pointer(run.collective), packed_pointer(run.algorithm)});
  if (run.call_site == nullptr) return;
  head.kind = Head::kSiteOfRun;
  put({packed(head), packed_pointer(run.call_site), 0, 0});
}

void TraceRing::run_ends(const hycoll_observed_run& run, bool failed) noexcept {
  const auto kind = failed ? TraceEvent::Kind::run_fails : TraceEvent::Kind::run_ends;
  put({packed(head_of(kind, run)), run.ended, 0, 0});
}

void TraceRing::step_ends(const hycoll_observed_run& run,
                          const hycoll_observed_step& step) noexcept {
  put_step(TraceEvent::Kind::step, run, step);
}

void TraceRing::message_ends(const hycoll_observed_run& run,
                             const hycoll_observed_step& step) noexcept {
  put_step(TraceEvent::Kind::message, run, step);
}

void TraceRing::put_step(TraceEvent::Kind kind, const hycoll_observed_run& run,
                         const hycoll_observed_step& step) noexcept {
  Head head = head_of(kind, run);
  head.detail = static_cast<std::uint8_t>(step.kind);
  head.number = static_cast<std::uint16_t>(step.strand);
  const std::uint64_t waiting = step.began_working - step.began_waiting;
  const std::uint64_t working = step.ended - step.began_working;
  const std::uint64_t bytes_and_peer =
      step.bytes << kPeerBits | (static_cast<std::uint64_t>(step.peer) & ((1u << kPeerBits) - 1));
  if (waiting > kMostShortTicks || working > kMostShortTicks) [[unlikely]] {
    Head times = head;
    times.kind = Head::kLongTimes;
    put({packed(times), waiting, working, 0});
  }
  put({packed(head), step.ended, bytes_and_peer,
       packed_pair(std::min(waiting, kMostShortTicks), std::min(working, kMostShortTicks))});
}

std::vector<TraceRing::Record> TraceRing::records() const {
  const std::uint64_t end = written_.load(std::memory_order_acquire);
  const std::uint64_t begin = end > capacity_ ? end - capacity_ : 0;
  std::vector<Record> copies;
  copies.reserve(static_cast<std::size_t>(end - begin));
  for (std::uint64_t number = begin; number < end; ++number) {
    const SharedRecord& place = records_[number & (capacity_ - 1)];
    Record& copy = copies.emplace_back();
    for (std::size_t w = 0; w < copy.size(); ++w)
      copy[w] = place[w].load(std::memory_order_acquire);
  }
  const std::uint64_t begun = begun_.load(std::memory_order_relaxed);
  const std::uint64_t first_whole = begun > capacity_ ? begun - capacity_ : 0;
  if (first_whole > begin) {
    const auto torn = static_cast<std::ptrdiff_t>(std::min(first_whole, end) - begin);
    copies.erase(copies.begin(), copies.begin() + torn);
  }
  return copies;
}

std::uint64_t TraceRing::lost_count() const noexcept {
  const std::uint64_t written = written_.load(std::memory_order_relaxed);
  return written > capacity_ ? written - capacity_ : 0;
}

std::vector<TraceEvent> TraceRing::events() const {
  std::vector<TraceEvent> events;
  const std::vector<Record> all = records();
  for (std::size_t r = 0; r < all.size(); ++r) {
    const Record& record = all[r];
    const auto head = std::bit_cast<Head>(record[0]);
    // The second half of something whose first one is gone.
    if (head.kind >= Head::kLongTimes) continue;
    TraceEvent event{.kind = static_cast<TraceEvent::Kind>(head.kind),
                     .worker = head.worker,
                     .ticks = record[1],
                     .run = {},
                     .step = {}};
    if (event.kind == TraceEvent::Kind::run_begins) {
      if (r + 1 == all.size()) break;
      const Record& more = all[++r];
      event.run = {.call = record[2],
                   .bytes = record[3],
                   .communicator = high_of(more[1]),
                   .rank = static_cast<std::int32_t>(low_of(more[1])),
                   .index = head.number,
                   .has_member = head.detail != 0,
                   .collective = text_of(more[2]),
                   .algorithm = text_of(more[3])};
      const bool has_site =
          r + 1 < all.size() && std::bit_cast<Head>(all[r + 1][0]).kind == Head::kSiteOfRun;
      if (has_site) event.run.call_site = pointer_of(all[++r][1]);
    } else if (event.kind == TraceEvent::Kind::step || event.kind == TraceEvent::Kind::message) {
      constexpr int kUnused = 32 - kPeerBits;
      const auto peer = static_cast<std::int32_t>(low_of(record[2]) << kUnused) >> kUnused;
      event.step = {.kind = head.detail,
                    .strand = static_cast<std::uint8_t>(head.number),
                    .peer = peer,
                    .bytes = record[2] >> kPeerBits,
                    .waiting_ticks = high_of(record[3]),
                    .working_ticks = low_of(record[3])};
      if (r > 0 && std::bit_cast<Head>(all[r - 1][0]).kind == Head::kLongTimes) {
        event.step.waiting_ticks = all[r - 1][1];
        event.step.working_ticks = all[r - 1][2];
      }
    }
    events.push_back(event);
  }
  return events;
}

}  // namespace hycoll
