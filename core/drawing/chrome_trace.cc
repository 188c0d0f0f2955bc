#include "core/drawing/chrome_trace.h"

#include <fmt/format.h>

#include <iterator>

#include "core/base/at.h"

namespace hycoll {
namespace {

class Trace {
 public:
  Trace(const PricedSchedule& schedule, const WalkRecord& record)
      : schedule_(schedule), record_(record), drawn_nodes_(nodes_with_room()) {}

  std::string write() && {
    const auto steps = schedule_.steps();
    for (std::size_t id = 0; id < steps.size(); ++id) add_step(id, steps[id]);
    return fmt::format("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", events_);
  }

 private:
  int node_of(const PricedStep& step) const {
    return schedule_.node_of_worker(schedule_.worker_of(step));
  }

  /// So many first nodes have few enough steps.
  int nodes_with_room() const {
    std::vector<std::size_t> steps_of_node;
    for (const PricedStep& step : schedule_.steps()) {
      const auto node = at(node_of(step));
      if (node >= steps_of_node.size()) steps_of_node.resize(node + 1);
      ++steps_of_node[node];
    }
    std::size_t events = 0;
    int nodes = 0;
    for (const std::size_t steps : steps_of_node) {
      events += 2 * steps;
      if (nodes > 0 && events > kMostTraceEvents) break;
      ++nodes;
    }
    return nodes;
  }

  void add_step(std::size_t id, const PricedStep& step) {
    const int node = node_of(step);
    if (node >= drawn_nodes_) return;
    const int worker = schedule_.worker_of(step);
    name_worker(node, worker);
    const double busy_us = record_.free[id] - record_.issued[id];
    if (busy_us > 0) {
      add("{{\"ph\":\"X\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":{:.4f},\"dur\":{:.4f},"
          "\"args\":{{\"step\":{}}}}}",
          name_of(step.kind), node, worker, record_.issued[id], busy_us, id);
    }
    if (step.kind != StepKind::send) return;
    const PricedStep& receive = schedule_.steps()[at(step.partner)];
    const int to_node = node_of(receive);
    if (to_node >= drawn_nodes_) return;
    for (const bool begins : {true, false}) {
      add("{{\"ph\":\"{}\",\"cat\":\"message\",\"name\":\"from node {}\",\"id\":{},\"pid\":{},"
          "\"tid\":{},\"ts\":{:.4f}}}",
          begins ? 'b' : 'e', node, id, to_node, schedule_.worker_of(receive),
          begins ? record_.issued[id] : record_.completed[at(step.partner)]);
    }
  }

  void name_worker(int node, int worker) {
    if (worker == last_worker_) return;
    last_worker_ = worker;
    add("{{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":{0},\"args\":{{\"name\":\"node {0}\"}}}}",
        node);
    add("{{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":"
        "\"worker {}\"}}}}",
        node, worker, worker);
  }

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    if (!events_.empty()) events_ += ",\n";
    fmt::format_to(std::back_inserter(events_), format, std::forward<Values>(values)...);
  }

  const PricedSchedule& schedule_;
  const WalkRecord& record_;
  int drawn_nodes_;
  int last_worker_ = -1;
  std::string events_;
};

}  // namespace

std::string chrome_trace(const PricedSchedule& schedule, const WalkRecord& record) {
  return Trace(schedule, record).write();
}

}  // namespace hycoll
