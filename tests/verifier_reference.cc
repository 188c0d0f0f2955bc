#include "tests/verifier_reference.h"

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace hycoll::testing {
namespace {

struct StepId {
  int strand;
  int step;
  friend auto operator<=>(const StepId&, const StepId&) = default;
};

/// A step, or a worker, in one run.
template <class What>
struct InRun {
  What what;
  int run;
  friend auto operator<=>(const InRun&, const InRun&) = default;
};

const Step& step_of(const Schedule& schedule, StepId id) {
  return schedule.strands.at(static_cast<std::size_t>(id.strand))
      .steps.at(static_cast<std::size_t>(id.step));
}

std::vector<StepId> all_steps(const Schedule& schedule) {
  std::vector<StepId> steps;
  for (int strand = 0; strand < static_cast<int>(schedule.strands.size()); ++strand) {
    const auto& list = schedule.strands[static_cast<std::size_t>(strand)].steps;
    for (int i = 0; i < static_cast<int>(list.size()); ++i) steps.push_back({strand, i});
  }
  return steps;
}

int worker_of(const Schedule& schedule, StepId id) {
  return schedule.strands[static_cast<std::size_t>(id.strand)].worker;
}

int node_of(const Schedule& schedule, StepId id) {
  return schedule.shape.node_of_worker(worker_of(schedule, id));
}

bool is_lines(const Schedule& schedule, const Span& span) {
  return schedule.buffers[static_cast<std::size_t>(span.buffer)].role == BufferRole::lines;
}

const Span& any_span(const Schedule& schedule, const Step& step) {
  return schedule.spans[static_cast<std::size_t>(step.first_span)];
}

/// The step that raises a wait's flag to its value.
StepId signal_of(const Schedule& schedule, const Step& wait) {
  for (const StepId id : all_steps(schedule)) {
    const Step& step = step_of(schedule, id);
    if (step.kind == StepKind::signal && step.flag == wait.flag && step.value == wait.value) {
      return id;
    }
  }
  return {-1, -1};
}

/// The steps that write the lines which a step reads; {-1, -1} for a chunk that nobody writes.
std::set<StepId> lines_writers_of(const Schedule& schedule, const Step& reader) {
  std::set<StepId> writers;
  for (const Span& read : schedule.sources(reader)) {
    if (!is_lines(schedule, read)) continue;
    for (int chunk = read.first_chunk; chunk < read.first_chunk + read.chunk_count; ++chunk) {
      StepId writer = {-1, -1};
      for (const StepId id : all_steps(schedule)) {
        for (const Span& written : schedule.destinations(step_of(schedule, id))) {
          if (written.buffer == read.buffer && chunk >= written.first_chunk &&
              chunk < written.first_chunk + written.chunk_count) {
            writer = id;
          }
        }
      }
      writers.insert(writer);
    }
  }
  return writers;
}

using Message = std::tuple<int, int, int, int, int, int>;  // lane, from, to, tag, chunks

/// The steps that complete together with each asynchronous step, itself included; empty if the
/// messages do not match.
using Partners = std::map<StepId, std::vector<StepId>>;

bool natives_in_order(const Schedule& schedule) {
  struct Call {
    int strand;
    int tag;
  };
  std::map<std::tuple<int, int>, Call> last;  // by lane and node
  for (const StepId id : all_steps(schedule)) {
    const Step& step = step_of(schedule, id);
    if (step.kind != StepKind::native) continue;
    const auto [at, is_first] =
        last.insert({{step.lane, node_of(schedule, id)}, {id.strand, step.tag}});
    if (is_first) continue;
    if (at->second.strand != id.strand || at->second.tag >= step.tag) return false;
    at->second.tag = step.tag;
  }
  return true;
}

Partners match(const Schedule& schedule) {
  std::map<Message, std::vector<StepId>> sends;
  std::map<Message, std::vector<StepId>> recvs;
  std::map<std::tuple<int, int, int, int>, std::vector<StepId>> natives;
  std::set<std::tuple<int, int, int, int>> tags;
  for (const StepId id : all_steps(schedule)) {
    const Step& step = step_of(schedule, id);
    if (!is_asynchronous(step.kind)) continue;
    const int here = node_of(schedule, id);
    const Span& span = any_span(schedule, step);
    if (step.kind == StepKind::native) {
      natives[{step.lane, step.tag, span.first_chunk, span.chunk_count}].push_back(id);
      continue;
    }
    const bool is_send = step.kind == StepKind::send;
    const int from = is_send ? here : step.peer_node;
    const int to = is_send ? step.peer_node : here;
    (is_send ? sends : recvs)[{step.lane, from, to, step.tag, span.first_chunk, span.chunk_count}]
        .push_back(id);
    if (is_send && !tags.insert({step.lane, from, to, step.tag}).second) return {};
  }
  if (sends.size() != recvs.size() || !natives_in_order(schedule)) return {};
  Partners partners;
  for (const auto& [message, senders] : sends) {
    const auto receivers = recvs.find(message);
    if (receivers == recvs.end() || senders.size() != 1 || receivers->second.size() != 1) return {};
    const std::vector<StepId> both = {senders.front(), receivers->second.front()};
    for (const StepId id : both) partners[id] = both;
  }
  std::set<std::tuple<int, int>> calls;  // by lane and tag
  for (const auto& [call, group] : natives) {
    std::set<int> nodes;
    for (const StepId id : group) nodes.insert(node_of(schedule, id));
    if (static_cast<int>(nodes.size()) != schedule.shape.node_count() ||
        nodes.size() != group.size() ||
        !calls.insert({std::get<0>(call), std::get<1>(call)}).second) {
      return {};
    }
    for (const StepId id : group) partners[id] = group;
  }
  return partners;
}

bool has_messages(const Schedule& schedule) {
  const auto steps = all_steps(schedule);
  return std::any_of(steps.begin(), steps.end(),
                     [&](StepId id) { return is_asynchronous(step_of(schedule, id).kind); });
}

/// Executes the steps in the order of repeated sweeps over the strands, and computes the values as
/// text. A message moves when its receive is issued and its send too.
class ReferenceExecution {
 public:
  ReferenceExecution(const Schedule& schedule, const Partners& partners, Aliasing aliasing)
      : schedule_(schedule), partners_(partners), aliasing_(aliasing) {
    for (int member = 0; member < schedule.shape.member_count(); ++member) {
      for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
        value({member, chunk, 1}, chunk) = {std::to_string(member), {member}};
      }
    }
  }

  /// Whether everything was executed.
  bool run() {
    std::vector<int> next(schedule_.strands.size(), 0);
    for (bool has_advanced = true; has_advanced;) {
      has_advanced = false;
      for (int strand = 0; strand < static_cast<int>(next.size()); ++strand) {
        int& at = next[static_cast<std::size_t>(strand)];
        const auto& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
        if (at == static_cast<int>(steps.size()) || !can_issue({strand, at})) continue;
        issue({strand, at++});
        has_advanced = true;
      }
    }
    return completed_.size() == all_steps(schedule_).size();
  }

  bool has_read_undefined() const { return has_read_undefined_; }

  /// Whether an allreduce has been performed.
  bool is_allreduce() {
    const int members = schedule_.shape.member_count();
    for (int chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
      const Value first = value({members, chunk, 1}, chunk);
      std::vector<int> sorted = first.members;
      std::sort(sorted.begin(), sorted.end());
      for (int member = 0; member < members; ++member) {
        if (value({members + member, chunk, 1}, chunk).text != first.text) return false;
        if (sorted.size() != static_cast<std::size_t>(members)) return false;
        if (sorted[static_cast<std::size_t>(member)] != member) return false;
      }
    }
    return true;
  }

 private:
  struct Value {
    std::string text;
    std::vector<int> members;
  };

  Value& value(const Span& span, int chunk) {
    const int members = schedule_.shape.member_count();
    const bool is_output = span.buffer >= members && span.buffer < 2 * members;
    const int shift = is_output && aliasing_ == Aliasing::in_place ? members : 0;
    return values_[{span.buffer - shift, chunk}];
  }

  bool can_issue(StepId id) const {
    const Step& step = step_of(schedule_, id);
    for (const int dependency : schedule_.dependencies_of(step)) {
      if (!completed_.contains({id.strand, dependency})) return false;
    }
    if (step.kind == StepKind::wait) return completed_.contains(signal_of(schedule_, step));
    const auto writers = lines_writers_of(schedule_, step);
    return std::all_of(writers.begin(), writers.end(),
                       [&](StepId writer) { return completed_.contains(writer); });
  }

  void issue(StepId id) {
    const Step& step = step_of(schedule_, id);
    issued_.insert(id);
    if (is_asynchronous(step.kind)) {
      const auto& group = partners_.at(id);
      if (!std::all_of(group.begin(), group.end(), [&](StepId p) { return issued_.contains(p); })) {
        return;
      }
      completed_.insert(group.begin(), group.end());
      combine(group, step.kind == StepKind::native);
      return;
    }
    completed_.insert(id);
    if (step.kind == StepKind::reduce || step.kind == StepKind::copy) reduce(step);
  }

  Value read(const Span& span, int chunk) {
    const Value& found = value(span, chunk);
    if (found.members.empty()) has_read_undefined_ = true;
    return found;
  }

  void combine(const std::vector<StepId>& group, bool is_native) {
    const Span& span = any_span(schedule_, step_of(schedule_, group.front()));
    for (int chunk = span.first_chunk; chunk < span.first_chunk + span.chunk_count; ++chunk) {
      std::map<int, Value> by_node;
      for (const StepId id : group) {
        for (const Span& source : schedule_.sources(step_of(schedule_, id))) {
          by_node[node_of(schedule_, id)] = read(source, chunk);
        }
      }
      Value result;
      for (const auto& [node, operand] : by_node) {
        result.text += (is_native ? "," : "") + operand.text;
        result.members.insert(result.members.end(), operand.members.begin(), operand.members.end());
      }
      if (is_native) result.text = "native(" + result.text + ")";
      for (const StepId id : group) {
        for (const Span& to : schedule_.destinations(step_of(schedule_, id))) {
          value(to, chunk) = result;
        }
      }
    }
  }

  void reduce(const Step& step) {
    const Span& span = any_span(schedule_, step);
    for (int chunk = span.first_chunk; chunk < span.first_chunk + span.chunk_count; ++chunk) {
      Value result;
      for (const Span& source : schedule_.sources(step)) {
        const Value operand = read(source, chunk);
        result.text = result.text.empty() ? operand.text : "(" + result.text + operand.text + ")";
        result.members.insert(result.members.end(), operand.members.begin(), operand.members.end());
      }
      for (const Span& to : schedule_.destinations(step)) value(to, chunk) = result;
    }
  }

  const Schedule& schedule_;
  const Partners& partners_;
  Aliasing aliasing_;
  std::map<std::tuple<int, int>, Value> values_;  // by buffer and chunk
  std::set<StepId> issued_;
  std::set<StepId> completed_;
  bool has_read_undefined_ = false;
};

/// All events of three runs, their order, and all accesses.
class ReferenceRaces {
 public:
  ReferenceRaces(const Schedule& schedule, Aliasing aliasing)
      : schedule_(schedule), aliasing_(aliasing) {
    for (int run = 0; run < kRuns; ++run) add_run(run);
    for (int worker = 0; worker < schedule.shape.worker_count(); ++worker) {
      add_caller(worker, kRuns);
    }
    close();
  }

  bool has_race() const {
    for (std::size_t a = 0; a < accesses_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (conflict(accesses_[a], accesses_[b])) return true;
      }
    }
    return false;
  }

  bool is_synchronising() const {
    const Shape& shape = schedule_.shape;
    for (int a = 0; a < shape.member_count(); ++a) {
      for (int b = 0; b < shape.member_count(); ++b) {
        if (shape.node_of_member(a) != shape.node_of_member(b)) continue;
        if (!before(start_.at({shape.worker_of_member(a), 0}),
                    end_.at({shape.worker_of_member(b), 0}))) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  static constexpr int kRuns = 3;

  struct Access {
    int buffer;
    int first_chunk;
    int end_chunk;
    bool is_write;
    int lines_set;
    int lines_run;  // of an access to lines: its run; else -1
    int issue;
    int complete;
  };

  int new_event() {
    edges_.emplace_back();
    return static_cast<int>(edges_.size()) - 1;
  }
  void order(int earlier, int later) { edges_[static_cast<std::size_t>(earlier)].insert(later); }

  void add_run(int run) {
    for (int worker = 0; worker < schedule_.shape.worker_count(); ++worker) {
      start_[{worker, run}] = new_event();
      end_[{worker, run}] = new_event();
      order(start_[{worker, run}], end_[{worker, run}]);
      add_caller(worker, run);
    }
    const auto steps = all_steps(schedule_);
    for (const StepId id : steps) {
      issue_[{id, run}] = new_event();
      complete_[{id, run}] = new_event();
    }
    for (const StepId id : steps) add_step(id, run);
  }

  /// The moment between two runs in which the caller uses the buffers.
  void add_caller(int worker, int run) {
    const int event = new_event();
    if (run > 0) order(end_.at({worker, run - 1}), event);
    if (run < kRuns) order(event, start_.at({worker, run}));
    for (int member = 0; member < schedule_.shape.member_count(); ++member) {
      if (schedule_.shape.worker_of_member(member) != worker) continue;
      for (const int buffer : {member, schedule_.shape.member_count() + member}) {
        add_access({buffer, 0, schedule_.chunk_count}, true, run, event, event);
      }
    }
  }

  void add_step(StepId id, int run) {
    const Step& step = step_of(schedule_, id);
    const int issue = issue_[{id, run}];
    const int complete = complete_[{id, run}];
    const int worker = worker_of(schedule_, id);
    order(issue, complete);
    order(complete, end_[{worker, run}]);
    if (id.step == 0) {
      order(start_[{worker, run}], issue);
    } else {
      const StepId previous = {id.strand, id.step - 1};
      const bool is_async = is_asynchronous(step_of(schedule_, previous).kind);
      order((is_async ? issue_ : complete_)[{previous, run}], issue);
    }
    for (const int dependency : schedule_.dependencies_of(step)) {
      order(complete_[{{id.strand, dependency}, run}], issue);
    }
    if (step.kind == StepKind::wait) {
      order(complete_[{signal_of(schedule_, step), run}], complete);
    }
    for (const StepId writer : lines_writers_of(schedule_, step)) {
      order(issue_[{writer, run}], complete);
      if (is_whole_write_read(step, step_of(schedule_, writer))) {
        order(complete_[{writer, run}], complete);
      }
    }
    for (const Span& span : schedule_.sources(step)) {
      add_access(span, false, run, issue, complete);
    }
    for (const Span& span : schedule_.destinations(step)) {
      add_access(span, true, run, issue, complete);
    }
  }

  /// Whether one span that the reader reads holds all that the writer wrote.
  bool is_whole_write_read(const Step& reader, const Step& writer) const {
    if (writer.destination_count != 1) return false;
    const Span& written = schedule_.destinations(writer).front();
    const auto sources = schedule_.sources(reader);
    return std::any_of(sources.begin(), sources.end(), [&](const Span& read) {
      return read.buffer == written.buffer && read.first_chunk <= written.first_chunk &&
             read.first_chunk + read.chunk_count >= written.first_chunk + written.chunk_count;
    });
  }

  void add_access(const Span& span, bool is_write, int run, int issue, int complete) {
    const int members = schedule_.shape.member_count();
    const bool is_output = span.buffer >= members && span.buffer < 2 * members;
    const int shift = is_output && aliasing_ == Aliasing::in_place ? members : 0;
    const bool lines = is_lines(schedule_, span);
    accesses_.push_back({span.buffer - shift, span.first_chunk, span.first_chunk + span.chunk_count,
                         is_write, lines ? run % 2 : 0, lines ? run : -1, issue, complete});
  }

  /// Transitive closure.
  void close() {
    const std::size_t count = edges_.size();
    reachable_.assign(count, std::vector<bool>(count, false));
    for (std::size_t from = 0; from < count; ++from) {
      std::vector<int> to_visit = {static_cast<int>(from)};
      reachable_[from][from] = true;
      while (!to_visit.empty()) {
        const auto at = static_cast<std::size_t>(to_visit.back());
        to_visit.pop_back();
        for (const int next : edges_[at]) {
          if (reachable_[from][static_cast<std::size_t>(next)]) continue;
          reachable_[from][static_cast<std::size_t>(next)] = true;
          to_visit.push_back(next);
        }
      }
    }
  }

  bool before(int a, int b) const {
    return reachable_[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)];
  }

  bool conflict(const Access& a, const Access& b) const {
    if (a.issue == b.issue) return false;  // one step, or one caller
    if (a.buffer != b.buffer || a.lines_set != b.lines_set) return false;
    if (!a.is_write && !b.is_write) return false;
    if (a.end_chunk <= b.first_chunk || b.end_chunk <= a.first_chunk) return false;
    // Readers of lines wait for the write of their own run.
    if (a.lines_run >= 0 && a.lines_run == b.lines_run) return false;
    return !before(a.complete, b.issue) && !before(b.complete, a.issue);
  }

  const Schedule& schedule_;
  Aliasing aliasing_;
  std::vector<std::set<int>> edges_;
  std::vector<std::vector<bool>> reachable_;
  std::map<InRun<StepId>, int> issue_;
  std::map<InRun<StepId>, int> complete_;
  std::map<InRun<int>, int> start_;  // of workers
  std::map<InRun<int>, int> end_;
  std::vector<Access> accesses_;
};

}  // namespace

std::optional<Check> failed_check_by_reference(const Schedule& schedule, Aliasing aliasing) {
  const Partners partners = match(schedule);
  if (partners.empty() && has_messages(schedule)) return Check::messages;
  ReferenceExecution execution(schedule, partners, aliasing);
  if (!execution.run()) return Check::deadlock;
  const ReferenceRaces races(schedule, aliasing);
  if (races.has_race() || !races.is_synchronising()) return Check::races;
  if (execution.has_read_undefined() || !execution.is_allreduce()) return Check::result;
  return std::nullopt;
}

}  // namespace hycoll::testing
