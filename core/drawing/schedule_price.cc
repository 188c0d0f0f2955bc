#include "core/drawing/schedule_price.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "core/schedule/walk.h"

namespace hycoll {
namespace {

using verifier::Index;
using verifier::Matches;

constexpr double kUnknown = -1;
constexpr int kNobody = -1;
constexpr double kBytesPerUs = 1000;  // of 1 GB/s

/// When a strand may go on.
struct Turn {
  double time;
  int strand;
  friend bool operator>(const Turn& a, const Turn& b) {
    return std::pair(a.time, a.strand) > std::pair(b.time, b.strand);
  }
};

/// A node's network card: when either direction is free again.
struct Card {
  double sends_at = 0;
  double receives_at = 0;
};

/// Issues every step as soon as all that it waits for has completed and its worker is free, in the
/// order of time, so that cards and workers serve first who comes first.
class PricedRun {
 public:
  PricedRun(const Schedule& schedule, double size_bytes, const MachinePrices& prices,
            const LaneScale& scale)
      : schedule_(schedule),
        index_(schedule),
        prices_(prices),
        scale_(scale),
        chunk_bytes_(size_bytes / schedule.chunk_count),
        card_bytes_per_us_(prices.bandwidth_gb_per_s * kBytesPerUs / scale.lanes_per_lane),
        cards_(static_cast<std::size_t>(schedule.shape.node_count())),
        worker_free_(static_cast<std::size_t>(schedule.shape.worker_count()), 0),
        received_(worker_free_.size(), 0),
        next_step_(schedule.strands.size(), 0),
        next_blocked_(schedule.strands.size(), kNobody),
        first_blocked_(static_cast<std::size_t>(index_.step_count()), kNobody),
        completion_(first_blocked_.size(), kUnknown),
        posted_(first_blocked_.size(), kUnknown),
        arrival_(first_blocked_.size(), kUnknown) {
    HYCOLL_ASSERT(schedule.is_whole(), "a part does not know when its peers send");
    const auto unmatched = verifier::check_messages(index_, matches_);
    HYCOLL_ASSERT(!unmatched, "only a verified schedule has a price");
  }

  double run() {
    for (int strand = 0; std::cmp_less(strand, schedule_.strands.size()); ++strand) {
      turns_.push({0, strand});
    }
    while (!turns_.empty()) {
      const Turn turn = turns_.top();
      turns_.pop();
      advance(turn);
    }
    return end_;
  }

 private:
  static std::size_t at(int number) { return static_cast<std::size_t>(number); }

  /// Issues the strand's next step if it is time; otherwise the strand waits for that time, or for
  /// the step that it depends on.
  void advance(const Turn& turn) {
    const Strand& strand = schedule_.strands[at(turn.strand)];
    const int place = next_step_[at(turn.strand)];
    if (std::cmp_equal(place, strand.steps.size())) return;
    const Step& step = strand.steps[at(place)];
    double time = std::max(turn.time, worker_free_[at(strand.worker)]);
    const int blocker = await(turn.strand, step, time);
    if (blocker != kNobody) {
      next_blocked_[at(turn.strand)] = std::exchange(first_blocked_[at(blocker)], turn.strand);
      return;
    }
    if (time > turn.time) {
      turns_.push({time, turn.strand});
      return;
    }
    ++next_step_[at(turn.strand)];
    const double free = time + busy_us(step) * lanes_of_worker(strand.worker);
    worker_free_[at(strand.worker)] = free;
    issue(index_.number(turn.strand, place), step, time, free);
    turns_.push({free, turn.strand});
  }

  /// A step that has to complete first, or nobody: then `time` is when all have, at least.
  int await(int strand, const Step& step, double& time) const {
    const auto blocks = [&](int id, double latency_us) {
      if (completion_[at(id)] == kUnknown) return true;
      time = std::max(time, completion_[at(id)] + latency_us);
      return false;
    };
    for (const int earlier : schedule_.dependencies_of(step)) {
      const int id = index_.number(strand, earlier);
      if (blocks(id, 0)) return id;
    }
    if (step.kind == StepKind::wait) {
      const int signal = index_.awaited_signal(step);
      return blocks(signal, prices_.wait_us) ? signal : kNobody;
    }
    for (const Span& source : schedule_.sources(step)) {
      if (!index_.is_awaited(source)) continue;
      const int first = index_.cell(source);
      for (int cell = first; cell < first + source.chunk_count; ++cell) {
        const int writer = index_.awaited_writer[at(cell)];
        if (blocks(writer, prices_.wait_us)) return writer;
      }
    }
    return kNobody;
  }

  double bytes_of(const Span& span) const { return chunk_bytes_ * span.chunk_count; }

  double lanes_of_worker(int worker) const {
    const int node = schedule_.shape.node_of_worker(worker);
    return node + 1 == schedule_.shape.node_count() ? scale_.last_node_lanes : 1;
  }

  /// How long the step keeps its worker.
  double busy_us(const Step& step) const {
    const auto destinations = static_cast<double>(step.destination_count);
    switch (step.kind) {
      case StepKind::send:
        return prices_.message_us;
      case StepKind::reduce:
      case StepKind::copy: {
        const double bytes = bytes_of(schedule_.destinations(step).front());
        const double reduced = bytes * (step.source_count - 1);
        const double copied =
            bytes * (step.kind == StepKind::copy ? destinations : destinations - 1);
        double lines_us = 0;
        for (const Span& source : schedule_.sources(step)) {
          if (index_.is_awaited(source)) lines_us += prices_.gap_us;
        }
        return lines_us + reduced / (prices_.reduce_gb_per_s * kBytesPerUs) +
               copied / (prices_.copy_gb_per_s * kBytesPerUs);
      }
      case StepKind::wait:
        return prices_.gap_us;
      case StepKind::recv:
      case StepKind::native:
      case StepKind::signal:
        return 0;
    }
    return 0;
  }

  void issue(int id, const Step& step, double time, double free) {
    if (step.kind == StepKind::send) {
      const int receive = matches_.partner[at(id)];
      arrival_[at(receive)] = transfer(step, receive, time);
      complete(id, std::max(free, cards_[at(node_of(id))].sends_at));
      if (posted_[at(receive)] != kUnknown) complete_receive(receive);
    } else if (step.kind == StepKind::recv) {
      posted_[at(id)] = free;
      if (arrival_[at(id)] != kUnknown) complete_receive(id);
    } else {
      complete(id, free);
    }
  }

  /// Takes a message that is sent at this time over both cards, and to the receiving worker.
  /// Returns when it is there.
  double transfer(const Step& send, int receive, double time) {
    const double card_us = bytes_of(schedule_.sources(send).front()) / card_bytes_per_us_;
    Card& from = cards_[at(node_of(matches_.partner[at(receive)]))];
    const double begin = std::max(time, from.sends_at);
    from.sends_at = begin + card_us;
    Card& to = cards_[at(send.peer_node)];
    to.receives_at = std::max(begin + prices_.alpha_us, to.receives_at) + card_us;
    const int worker = schedule_.strands[at(index_.place[at(receive)].strand)].worker;
    double& received = received_[at(worker)];
    const double takes_us = prices_.message_us * lanes_of_worker(worker);
    received = std::max(to.receives_at + takes_us - prices_.message_us, received + takes_us);
    return received;
  }

  void complete_receive(int id) { complete(id, std::max(arrival_[at(id)], posted_[at(id)])); }

  int node_of(int id) const { return index_.strand_node[at(index_.place[at(id)].strand)]; }

  void complete(int id, double time) {
    completion_[at(id)] = time;
    end_ = std::max(end_, time);
    int strand = std::exchange(first_blocked_[at(id)], kNobody);
    while (strand != kNobody) {
      turns_.push({time, strand});
      strand = next_blocked_[at(strand)];
    }
  }

  const Schedule& schedule_;
  Index index_;
  Matches matches_;
  const MachinePrices& prices_;
  const LaneScale& scale_;
  double chunk_bytes_;
  double card_bytes_per_us_;
  std::vector<Card> cards_;          // by node
  std::vector<double> worker_free_;  // by worker: when it may issue a step of any strand
  std::vector<double> received_;     // by worker: when it has taken in its last message
  std::vector<int> next_step_;       // by strand
  std::vector<int> next_blocked_;    // by strand: the next one that waits for the same step
  std::vector<int> first_blocked_;   // by step: the first strand that waits for it
  std::vector<double> completion_;   // by step
  std::vector<double> posted_;       // by receive: when it was issued
  std::vector<double> arrival_;      // by receive: when its message is there
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  double end_ = 0;
};

}  // namespace

double price_us(const Schedule& schedule, double size_bytes, const MachinePrices& prices,
                const LaneScale& scale) {
  return PricedRun(schedule, size_bytes, prices, scale).run();
}

bool has_price(const Schedule& schedule) {
  return std::ranges::none_of(schedule.strands, [](const Strand& strand) {
    return std::ranges::any_of(strand.steps,
                               [](const Step& step) { return step.kind == StepKind::native; });
  });
}

}  // namespace hycoll
