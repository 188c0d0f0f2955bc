#include "core/drawing/schedule_price.h"

#include <algorithm>
#include <utility>

#include "core/base/at.h"
#include "core/base/errors.h"
#include "core/drawing/call_prices.h"
#include "core/schedule/index.h"
#include "core/schedule/walk.h"

namespace hycoll {
namespace {

using verifier::Index;

StepWork work_of(const Schedule& schedule, const Step& step) {
  StepWork work;
  switch (step.kind) {
    case StepKind::send:
      work.sends = 1;
      work.sent = schedule.sources(step).front().chunk_count;
      break;
    case StepKind::recv:
      work.receives = 1;
      work.received = schedule.destinations(step).front().chunk_count;
      break;
    case StepKind::reduce:
    case StepKind::copy: {
      const double chunks = schedule.destinations(step).front().chunk_count;
      const bool reduces = step.kind == StepKind::reduce;
      work.reduced = reduces ? chunks * (step.source_count - 1) : 0;
      work.copied = chunks * (step.destination_count - (reduces ? 1 : 0));
      work.looks = static_cast<double>(std::ranges::count_if(
          schedule.sources(step),
          [&](const Span& source) { return carries_signals(schedule.buffer_of(source).role); }));
      break;
    }
    case StepKind::wait:
      work.looks = 1;
      break;
    case StepKind::native:
    case StepKind::signal:
      break;
  }
  return work;
}

}  // namespace

StepWork& StepWork::operator+=(const StepWork& other) noexcept {
  looks += other.looks;
  reduced += other.reduced;
  copied += other.copied;
  sends += other.sends;
  sent += other.sent;
  receives += other.receives;
  received += other.received;
  return *this;
}

PricedSchedule::PricedSchedule(const Schedule& schedule)
    : chunk_count_(vector_chunk_count(schedule)),
      node_count_(schedule.shape.node_count()),
      lane_count_(schedule.shape.lane_count()) {
  HYCOLL_ASSERT(schedule.is_whole(), "a part does not know when its peers send");
  const Index index(schedule);
  verifier::Matches matches;
  const auto unmatched = verifier::check_messages(index, matches);
  HYCOLL_ASSERT(!unmatched, "only a verified schedule has a price");
  first_step_ = index.first_step;
  for (int worker = 0; worker < schedule.shape.worker_count(); ++worker) {
    node_.push_back(schedule.shape.node_of_worker(worker));
  }
  steps_.reserve(at(index.step_count()));
  for (int s = 0; std::cmp_less(s, schedule.strands.size()); ++s) {
    worker_.push_back(schedule.strands[at(s)].worker);
    for (const Step& step : schedule.strands[at(s)].steps) {
      add_awaits(index, s, step);
      const int partner = step.kind == StepKind::send ? matches.partner[steps_.size()] : kNoStep;
      steps_.push_back({step.kind, s, step.lane, partner, awaits_.size(), work_of(schedule, step)});
    }
  }
}

void PricedSchedule::add_awaits(const Index& index, int strand, const Step& step) {
  const Schedule& schedule = index.schedule;
  for (const int earlier : schedule.dependencies_of(step)) {
    awaits_.push_back({index.number(strand, earlier), false});
  }
  if (step.kind == StepKind::wait) {
    awaits_.push_back({index.awaited_signal(step), true});
    return;
  }
  for (const Span& source : schedule.sources(step)) {
    if (!index.is_awaited(source)) continue;
    const int first = index.cell(source);
    for (int cell = first; cell < first + source.chunk_count; ++cell) {
      const int writer = index.awaited_writer[at(cell)];
      if (cell == first || awaits_.back().step != writer) awaits_.push_back({writer, true});
    }
  }
}

LeastTime::LeastTime(const Schedule& part) : chunk_count_(vector_chunk_count(part)) {
  const NumberRange nodes = part.part.nodes;
  const NumberRange workers = part.part.workers;
  const auto is_last = [&](int node) { return node + 1 == part.shape.node_count(); };
  for (int node = nodes.first; node < nodes.first + nodes.count; ++node) {
    nodes_.push_back({{}, is_last(node)});
  }
  for (int worker = workers.first; worker < workers.first + workers.count; ++worker) {
    workers_.push_back({{}, is_last(part.shape.node_of_worker(worker))});
  }
  for (const Strand& strand : part.strands) {
    const int node = part.shape.node_of_worker(strand.worker);
    for (const Step& step : strand.steps) {
      const StepWork work = work_of(part, step);
      workers_[at(strand.worker - workers.first)].work += work;
      nodes_[at(node - nodes.first)].work += work;
      ++step_count_;
    }
  }
  keep_distinct(workers_);
  keep_distinct(nodes_);
}

void LeastTime::keep_distinct(std::vector<Load>& loads) {
  std::vector<Load> distinct;
  for (const Load& load : loads) {
    if (std::ranges::find(distinct, load) == distinct.end()) distinct.push_back(load);
  }
  loads = std::move(distinct);
}

double LeastTime::time_us(double size_bytes, const MachinePrices& prices,
                          const LaneScale& scale) const {
  const CallPrices call(size_bytes, chunk_count_, prices, scale);
  double most = 0;
  for (const Load& worker : workers_) {
    const double busy_us =
        std::max(call.busy_us(worker.work), worker.work.receives * prices.message_us);
    most = std::max(most, busy_us * lanes_of_worker(worker.is_last_node, scale));
  }
  for (const Load& node : nodes_) {
    most = std::max(most, call.moved_bytes(node.work) * call.memory_us);
    if (node.work.sends + node.work.receives == 0) continue;
    const double chunks = std::max(node.work.sent, node.work.received);
    most = std::max(most, prices.alpha_us + chunks * call.chunk_bytes * call.card_us);
  }
  return most;
}

double price_us(const Schedule& schedule, double size_bytes, const MachinePrices& prices,
                const LaneScale& scale) {
  return PricedSchedule(schedule).time_us(size_bytes, prices, scale);
}

bool has_price(const Schedule& schedule) {
  return std::ranges::none_of(schedule.strands, [](const Strand& strand) {
    return std::ranges::any_of(strand.steps,
                               [](const Step& step) { return step.kind == StepKind::native; });
  });
}

}  // namespace hycoll
