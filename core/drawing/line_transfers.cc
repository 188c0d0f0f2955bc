#include "core/drawing/line_transfers.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/drawing/statistics_timeline.h"
#include "core/schedule/pairs.h"

namespace hycoll {
namespace {

constexpr std::size_t kLineBytes = 64;
/// Of a line that carries its own signal.
constexpr std::size_t kPayloadBytes = 56;

/// How many boundaries a line crosses, in the order of Boundary: none within a shared cache.
int crossed_by(Proximity proximity) {
  return std::max(0, static_cast<int>(proximity) - static_cast<int>(Proximity::cache));
}

/// Lines of a buffer, as apart intervals.
class LineSet {
 public:
  /// Adds [begin, end); returns how many of them are new.
  std::size_t add(std::size_t begin, std::size_t end) {
    std::size_t added = end - begin;
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin() && std::prev(next)->second >= begin) --next;
    while (next != ends_.end() && next->first <= end) {
      const std::size_t first = std::max(begin, next->first);
      const std::size_t last = std::min(end, next->second);
      if (first < last) added -= last - first;
      begin = std::min(begin, next->first);
      end = std::max(end, next->second);
      next = ends_.erase(next);
    }
    ends_.emplace(begin, end);
    return added;
  }

 private:
  std::map<std::size_t, std::size_t> ends_;  // by begin
};

/// What a step reads or writes that is another worker's.
struct Transfer {
  int from = -1;  ///< Worker.
  int to = -1;
  std::size_t lines = 0;  ///< None if the worker has them already.
  std::size_t bytes = 0;
  Proximity proximity = Proximity::cache;
  int available_by = -1;  ///< The step that makes it available; -1: before the reader is ready.
  int place = -1;         ///< The same for what others read, too; by buffer, then flag.
  bool is_read = true;
};

/// All of a schedule, by the number of the step that makes them.
class Transfers {
 public:
  Transfers(const ScheduleWalk& walk, const Partition& partition, std::size_t element_bytes,
            std::span<const WorkerPlace> places)
      : walk_(walk),
        partition_(partition),
        element_bytes_(element_bytes),
        places_(places),
        of_step_(static_cast<std::size_t>(walk.index.step_count())),
        staging_writer_(walk.index.schedule.buffers.size(), -1) {
    for (const int id : walk.order) add_step(id);
  }

  std::span<const Transfer> of(int id) const { return of_step_[static_cast<std::size_t>(id)]; }

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (const std::vector<Transfer>& transfers : of_step_) {
      for (const Transfer& transfer : transfers) visit(transfer);
    }
  }

  const WorkerPlace& place_of(int worker) const {
    const Shape& shape = schedule().shape;
    return places_[static_cast<std::size_t>(worker -
                                            shape.first_worker(shape.node_of_worker(worker)))];
  }

 private:
  const Schedule& schedule() const { return walk_.index.schedule; }

  int worker_of(int id) const {
    const int strand = walk_.index.place[static_cast<std::size_t>(id)].strand;
    return schedule().strands[static_cast<std::size_t>(strand)].worker;
  }

  void add_step(int id) {
    const Step& step = walk_.index.step(id);
    if (step.kind == StepKind::wait) return add_wait(id, step);
    if (is_asynchronous(step.kind)) return;
    for (const Span& span : schedule().sources(step)) add_operand(id, span, true);
    for (const Span& span : schedule().destinations(step)) {
      int& writer = staging_writer_[static_cast<std::size_t>(span.buffer)];
      if (writer < 0) writer = worker_of(id);
      add_operand(id, span, false);
    }
  }

  void add_wait(int id, const Step& step) {
    const int signal = walk_.index.awaited_signal(step);
    add(id, {.from = worker_of(signal),
             .to = worker_of(id),
             .lines = 1,
             .bytes = kLineBytes,
             .available_by = signal,
             .place = static_cast<int>(schedule().buffers.size()) + step.flag});
  }

  void add_operand(int id, const Span& span, bool is_read) {
    const bool has_signals = walk_.index.is_awaited(span);
    const std::size_t data =
        partition_.range(span.first_chunk, span.chunk_count).size() * element_bytes_;
    const std::size_t lines = has_signals ? signalled_lines(data) : plain_lines(id, span, is_read);
    const int other = home_of(span);
    add(id, {.from = is_read ? other : worker_of(id),
             .to = is_read ? worker_of(id) : other,
             .lines = lines,
             .bytes = has_signals ? lines * kLineBytes : data,
             .available_by = is_read && has_signals ? last_writer(span) : -1,
             .place = span.buffer,
             .is_read = is_read});
  }

  static std::size_t signalled_lines(std::size_t data) {
    return std::max<std::size_t>((data + kPayloadBytes - 1) / kPayloadBytes, 1);
  }

  /// Of a member's buffer, which begins with a line, those that the worker does not have yet.
  std::size_t plain_lines(int id, const Span& span, bool is_read) {
    const Buffer& buffer = schedule().buffer_of(span);
    const ElementRange elements = partition_.range(span.first_chunk, span.chunk_count);
    if (!is_of_member(buffer.role)) {
      return (elements.size() * element_bytes_ + kLineBytes - 1) / kLineBytes;
    }
    if (elements.size() == 0) return 0;
    const std::size_t begin = begin_in(buffer, span, elements) * element_bytes_;
    const std::size_t end = begin + elements.size() * element_bytes_;
    return had_[{worker_of(id), span.buffer, is_read}].add(begin / kLineBytes,
                                                           (end + kLineBytes - 1) / kLineBytes);
  }

  /// Where a span begins in a member's buffer, in elements.
  std::size_t begin_in(const Buffer& buffer, const Span& span, const ElementRange& elements) {
    if (!has_pairs(schedule().collective)) {
      return elements.begin - partition_.range(buffer.first_chunk, 1).begin;
    }
    const std::size_t block = elements.size() / static_cast<std::size_t>(span.chunk_count);
    return block * static_cast<std::size_t>(cell_in(schedule(), span));
  }

  int last_writer(const Span& span) const {
    const int last = walk_.index.cell(span) + span.chunk_count - 1;
    return walk_.index.awaited_writer[static_cast<std::size_t>(last)];
  }

  /// The worker whose memory a buffer is.
  int home_of(const Span& span) const {
    const Buffer& buffer = schedule().buffer_of(span);
    if (is_of_member(buffer.role)) return schedule().shape.worker_of_member(buffer.owner);
    if (buffer.role != BufferRole::staging) return buffer.owner;
    return staging_writer_[static_cast<std::size_t>(span.buffer)];
  }

  void add(int id, Transfer transfer) {
    if (transfer.from == transfer.to) return;
    const WorkerPlace& from = place_of(transfer.from);
    const WorkerPlace& to = place_of(transfer.to);
    transfer.proximity = from.cache == to.cache       ? Proximity::cache
                         : from.package != to.package ? Proximity::machine
                         : from.domain != to.domain   ? Proximity::package
                                                      : Proximity::domain;
    of_step_[static_cast<std::size_t>(id)].push_back(transfer);
  }

  const ScheduleWalk& walk_;
  const Partition& partition_;
  std::size_t element_bytes_;
  std::span<const WorkerPlace> places_;
  std::vector<std::vector<Transfer>> of_step_;
  std::vector<int> staging_writer_;                    // by buffer
  std::map<std::tuple<int, int, bool>, LineSet> had_;  // by worker, buffer, whether it was read
};

/// When the last step ends if a transfer takes so long, and steps take nothing else.
class Chain {
 public:
  Chain(const ScheduleWalk& walk, const Transfers& transfers, const TransferTimes& times)
      : walk_(walk),
        transfers_(transfers),
        times_(times),
        strands_(walk.index.schedule.strands.size()),
        end_(static_cast<std::size_t>(walk.index.step_count()), 0) {}

  double length() {
    double length = 0;
    for (const int id : walk_.order) length = std::max(length, add(id));
    return length;
  }

 private:
  struct StrandState {
    double ready = 0;
    double batch_begin = 0;  ///< When the row of waits began, or the last other step ended.
    double batch_gap = 0;    ///< Of what has been read since.
  };

  double add(int id) {
    const Step& step = walk_.index.step(id);
    const int strand = walk_.index.place[static_cast<std::size_t>(id)].strand;
    StrandState& state = strands_[static_cast<std::size_t>(strand)];
    double ready = state.ready;
    for (const int earlier : walk_.index.schedule.dependencies_of(step)) {
      ready = std::max(ready, completion(walk_.index.number(strand, earlier)));
    }
    if (step.kind != StepKind::wait || ready > state.ready) {
      state.batch_begin = ready;
      state.batch_gap = 0;
    }
    if (step.kind == StepKind::wait)
      ready = std::max(ready, end_of(walk_.index.awaited_signal(step)));
    for (const Transfer& transfer : transfers_.of(id)) {
      if (transfer.lines == 0) continue;
      ready = std::max(ready, arrival(state, transfer));
    }
    end_[static_cast<std::size_t>(id)] = ready;
    state.ready = ready;
    if (step.kind != StepKind::wait) {
      state.batch_begin = ready;
      state.batch_gap = 0;
    }
    return ready;
  }

  /// What is read at once follows by a gap for each line, and so do the readers of one line.
  double arrival(StrandState& state, const Transfer& transfer) {
    const std::size_t proximity = index_of(transfer.proximity);
    const double gap = times_.gap[proximity];
    const double gaps = gap * static_cast<double>(transfer.lines - 1);
    const double begin = transfer.available_by < 0
                             ? state.batch_begin
                             : std::max(state.batch_begin, end_of(transfer.available_by));
    const double behind_own = state.batch_gap + gaps;
    state.batch_gap = behind_own + gap;
    if (!transfer.is_read) return state.batch_begin + behind_own;
    const double behind_others = gap * readers_[transfer.place]++ + gaps;
    return begin + times_.latency[proximity] + std::max(behind_own, behind_others);
  }

  double end_of(int id) const { return end_[static_cast<std::size_t>(id)]; }

  /// Also of messages, which have been issued at both ends.
  double completion(int id) const {
    const Step& step = walk_.index.step(id);
    const int partner = walk_.matches.partner[static_cast<std::size_t>(id)];
    if (step.kind == StepKind::recv) return std::max(end_of(id), end_of(partner));
    if (step.kind != StepKind::native) return end_of(id);
    const auto nodes = static_cast<std::size_t>(walk_.index.schedule.shape.node_count());
    double time = 0;
    for (const int call : std::span(walk_.matches.native_steps)
                              .subspan(static_cast<std::size_t>(partner) * nodes, nodes)) {
      time = std::max(time, end_of(call));
    }
    return time;
  }

  const ScheduleWalk& walk_;
  const Transfers& transfers_;
  const TransferTimes& times_;
  std::vector<StrandState> strands_;
  std::vector<double> end_;  // by step
  std::map<int, int> readers_;
};

/// The longest chain of transfers that cross at least so many boundaries.
std::size_t chain_of(const ScheduleWalk& walk, const Transfers& transfers, int least_crossed) {
  TransferTimes times{};
  for (std::size_t p = 0; p < kProximityCount; ++p) {
    if (crossed_by(static_cast<Proximity>(p)) >= least_crossed) times.latency[p] = 1;
  }
  return static_cast<std::size_t>(Chain(walk, transfers, times).length());
}

int part_of(const WorkerPlace& place, Boundary boundary) {
  switch (boundary) {
    case Boundary::cache:
      return place.cache;
    case Boundary::domain:
      return place.domain;
    case Boundary::package:
      return place.package;
  }
  return 0;
}

/// The most that enters or leaves one part of the machine of one node.
std::size_t most_bytes(const Transfers& transfers, const Shape& shape, Boundary boundary) {
  struct Traffic {
    std::size_t in = 0;
    std::size_t out = 0;
  };
  std::map<std::pair<int, int>, Traffic> traffic;  // by node and part
  transfers.for_each([&](const Transfer& transfer) {
    if (crossed_by(transfer.proximity) <= static_cast<int>(boundary)) return;
    const int node = shape.node_of_worker(transfer.from);
    traffic[{node, part_of(transfers.place_of(transfer.from), boundary)}].out += transfer.bytes;
    traffic[{node, part_of(transfers.place_of(transfer.to), boundary)}].in += transfer.bytes;
  });
  std::size_t most = 0;
  for (const auto& [part, bytes] : traffic) most = std::max({most, bytes.in, bytes.out});
  return most;
}

}  // namespace

LineTransfers count_line_transfers(const Schedule& schedule, const Partition& partition,
                                   std::size_t element_bytes, std::span<const WorkerPlace> places,
                                   const TransferTimes& times) {
  HYCOLL_ASSERT(schedule.is_whole(), "a part does not know what its peers do");
  const ScheduleWalk walk(schedule);
  const Transfers transfers(walk, partition, element_bytes, places);
  LineTransfers result;
  transfers.for_each([&](const Transfer& transfer) {
    result.count += transfer.lines;
    for (int crossed = 0; crossed < crossed_by(transfer.proximity); ++crossed) {
      result.crossings[static_cast<std::size_t>(crossed)] += transfer.lines;
    }
  });
  result.critical = chain_of(walk, transfers, 0);
  for (int b = 0; b < kBoundaryCount; ++b) {
    const auto index = static_cast<std::size_t>(b);
    result.critical_crossings[index] = chain_of(walk, transfers, b + 1);
    result.bytes[index] = most_bytes(transfers, schedule.shape, static_cast<Boundary>(b));
  }
  result.nanoseconds = Chain(walk, transfers, times).length();
  return result;
}

}  // namespace hycoll
