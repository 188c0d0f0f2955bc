#include "tests/core/verifier/reference.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "tests/core/verifier/reference_races.h"
#include "tests/core/verifier/reference_steps.h"

namespace hycoll::testing {
namespace {

using Message = std::tuple<int, int, int, int, std::vector<int>>;  // lane, from, to, tag, chunks

/// The steps that complete together with each asynchronous step, itself included; empty if the
/// messages do not match.
using Partners = std::map<StepId, std::vector<StepId>>;

std::vector<int> chunks_in(const Schedule& schedule, const Span& span) {
  std::vector<int> chunks;
  for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
    chunks.push_back(chunk_at(schedule, span.first_chunk + chunk));
  }
  return chunks;
}

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

/// Whether each native is in the only strand of its worker that has steps.
bool all_natives_are_alone(const Schedule& schedule) {
  for (const StepId native : all_steps(schedule)) {
    if (step_of(schedule, native).kind != StepKind::native) continue;
    for (const StepId other : all_steps(schedule)) {
      if (other.strand != native.strand &&
          worker_of(schedule, other) == worker_of(schedule, native)) {
        return false;
      }
    }
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
    (is_send ? sends : recvs)[{step.lane, from, to, step.tag, chunks_in(schedule, span)}].push_back(
        id);
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

bool has_streams(const Schedule& schedule) {
  return std::ranges::any_of(
      schedule.buffers, [](const Buffer& buffer) { return buffer.role == BufferRole::stream; });
}

/// A node's broadcast FIFO, with room for a single message: who writes waits until all others have
/// read what has been written before, and who reads finds nothing but that.
class ReferenceFifo {
 public:
  explicit ReferenceFifo(int member_count) : member_count_(member_count) {}

  bool is_empty() const { return unread_ == 0; }

  bool is_for(int worker, const Span& span) const {
    return unread_ > 0 && message_ == span && !has_it_.contains(worker);
  }

  void write(int worker, const Span& span) {
    message_ = span;
    unread_ = member_count_ - 1;
    has_it_ = {worker};
  }

  void read(int worker) {
    --unread_;
    has_it_.insert(worker);
  }

 private:
  int member_count_;
  int unread_ = 0;
  Span message_{};
  std::set<int> has_it_;
};

/// In which order a sweep visits the strands. Only what streams do depends on it.
enum class Sweep { upwards, downwards };

/// Executes the steps in the order of repeated sweeps over the strands, and computes the values as
/// text. A message moves when its receive is issued and its send too.
class ReferenceExecution {
 public:
  ReferenceExecution(const Schedule& schedule, const Partners& partners, Aliasing aliasing,
                     Sweep sweep)
      : schedule_(schedule), partners_(partners), aliasing_(aliasing), sweep_(sweep) {
    for (int node = 0; node < schedule.shape.node_count(); ++node) {
      fifos_.emplace_back(schedule.shape.node(node).members);
    }
    for (int member = 0; member < schedule.shape.member_count(); ++member) {
      for (int chunk = 0; chunk < schedule.chunk_count; ++chunk) {
        if (!holds(schedule.collective.input, member, chunk)) continue;
        value({member, chunk, 1}, chunk) = {std::to_string(member), {member}};
      }
    }
  }

  /// Whether everything was executed.
  bool run() {
    std::vector<int> next(schedule_.strands.size(), 0);
    const int last = static_cast<int>(next.size()) - 1;
    for (bool has_advanced = true; has_advanced;) {
      has_advanced = false;
      for (int visited = 0; visited <= last; ++visited) {
        const int strand = sweep_ == Sweep::upwards ? visited : last - visited;
        int& at = next[static_cast<std::size_t>(strand)];
        const auto& steps = schedule_.strands[static_cast<std::size_t>(strand)].steps;
        if (at == static_cast<int>(steps.size()) || !can_issue({strand, at})) continue;
        issue({strand, at++});
        has_advanced = true;
      }
    }
    return completed_.size() == all_steps(schedule_).size() &&
           std::ranges::all_of(fifos_, &ReferenceFifo::is_empty);
  }

  bool has_read_undefined() const { return has_read_undefined_; }

  /// Whether every output holds what the collective promises.
  bool has_result() {
    const int members = schedule_.shape.member_count();
    for (int member = 0; member < members; ++member) {
      std::vector<int> contributors;
      for (int other = 0; other < members; ++other) {
        if (contributes(other, member)) contributors.push_back(other);
      }
      for (int chunk = 0; chunk < schedule_.chunk_count; ++chunk) {
        if (!holds(schedule_.collective.output, member, chunk)) continue;
        if (!combines(schedule_.collective)) contributors = holders_of(chunk);
        Value found = value({members + member, chunk, 1}, chunk);
        std::sort(found.members.begin(), found.members.end());
        if (found.members != contributors) return false;
        const bool is_same_everywhere = schedule_.collective == traits_of(Collective::allreduce);
        if (is_same_everywhere && found.text != value({members, chunk, 1}, chunk).text) {
          return false;
        }
      }
    }
    return true;
  }

 private:
  struct Value {
    std::string text;
    std::vector<int> members;
  };

  /// Whether one member's input is combined into another's output.
  bool contributes(int from, int to) const {
    if (schedule_.collective.result == Result::inclusive_prefix) return from <= to;
    if (schedule_.collective.result == Result::exclusive_prefix) return from < to;
    return true;
  }

  /// Whether a member's input, or its output, has a chunk.
  bool holds(const BufferTraits& buffers, int member, int chunk) const {
    if (has_pairs(schedule_.collective)) {
      const Pair pair = pair_of(schedule_.shape, chunk);
      return member == (buffers.extent == Extent::row ? pair.from : pair.to);
    }
    const int block = chunk * schedule_.shape.member_count() / schedule_.chunk_count;
    return buffers.are_held_by(member, schedule_.root) &&
           (buffers.extent == Extent::vector || block == member);
  }

  /// The members whose inputs have a chunk.
  std::vector<int> holders_of(int chunk) const {
    std::vector<int> holders;
    for (int member = 0; member < schedule_.shape.member_count(); ++member) {
      if (holds(schedule_.collective.input, member, chunk)) holders.push_back(member);
    }
    return holders;
  }

  Value& value(const Span& span, int chunk) {
    const int members = schedule_.shape.member_count();
    const bool is_output = span.buffer >= members && span.buffer < 2 * members;
    const bool is_shared = aliasing_ == Aliasing::in_place && !has_pairs(schedule_.collective);
    const int shift = is_output && is_shared ? members : 0;
    return values_[{span.buffer - shift, chunk}];
  }

  bool can_issue(StepId id) const {
    const Step& step = step_of(schedule_, id);
    for (const int dependency : schedule_.dependencies_of(step)) {
      if (!completed_.contains({id.strand, dependency})) return false;
    }
    if (waits_in_native_ && id.step > 0) {
      const StepId before{id.strand, id.step - 1};
      const bool is_native = step_of(schedule_, before).kind == StepKind::native;
      if (is_native && !completed_.contains(before)) return false;
    }
    if (step.kind == StepKind::wait) return completed_.contains(signal_of(schedule_, step));
    const auto writers = awaited_writers_of(schedule_, step);
    return std::all_of(writers.begin(), writers.end(),
                       [&](StepId writer) { return completed_.contains(writer); }) &&
           lets_fifo(id);
  }

  ReferenceFifo& fifo_of(StepId id) {
    return fifos_[static_cast<std::size_t>(node_of(schedule_, id))];
  }

  /// Whether the node's FIFO has room for what a step writes, or the message that it reads.
  bool lets_fifo(StepId id) const {
    const Step& step = step_of(schedule_, id);
    const ReferenceFifo& fifo = fifos_[static_cast<std::size_t>(node_of(schedule_, id))];
    const auto may_write = [&](const Span& span) {
      return !is_stream(schedule_, span) || fifo.is_empty();
    };
    const auto may_read = [&](const Span& span) {
      return !is_stream(schedule_, span) || fifo.is_for(worker_of(schedule_, id), span);
    };
    return std::ranges::all_of(schedule_.destinations(step), may_write) &&
           std::ranges::all_of(schedule_.sources(step), may_read);
  }

  void use_fifo(StepId id) {
    const Step& step = step_of(schedule_, id);
    for (const Span& span : schedule_.sources(step)) {
      if (is_stream(schedule_, span)) fifo_of(id).read(worker_of(schedule_, id));
    }
    for (const Span& span : schedule_.destinations(step)) {
      if (is_stream(schedule_, span)) fifo_of(id).write(worker_of(schedule_, id), span);
    }
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
    use_fifo(id);
    if (step.kind == StepKind::reduce) reduce(step);
    if (step.kind == StepKind::copy) copy(step);
  }

  Value read(const Span& span, int chunk) {
    const Value& found = value(span, chunk);
    if (found.members.empty()) has_read_undefined_ = true;
    return found;
  }

  void combine(const std::vector<StepId>& group, bool is_native) {
    const Span& span = any_span(schedule_, step_of(schedule_, group.front()));
    for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
      std::map<int, Value> by_node;
      for (const StepId id : group) {
        for (const Span& source : schedule_.sources(step_of(schedule_, id))) {
          by_node[node_of(schedule_, id)] = read(source, source.first_chunk + chunk);
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
          value(to, to.first_chunk + chunk) = result;
        }
      }
    }
  }

  void reduce(const Step& step) {
    const Span& span = any_span(schedule_, step);
    for (int chunk = 0; chunk < span.chunk_count; ++chunk) {
      Value result;
      for (const Span& source : schedule_.sources(step)) {
        const Value operand = read(source, source.first_chunk + chunk);
        result.text = result.text.empty() ? operand.text : "(" + result.text + operand.text + ")";
        result.members.insert(result.members.end(), operand.members.begin(), operand.members.end());
      }
      for (const Span& to : schedule_.destinations(step)) {
        value(to, to.first_chunk + chunk) = result;
      }
    }
  }

  void copy(const Step& step) {
    std::vector<Value> collected;
    for (const Span& source : schedule_.sources(step)) {
      for (int chunk = 0; chunk < source.chunk_count; ++chunk) {
        collected.push_back(read(source, source.first_chunk + chunk));
      }
    }
    for (const Span& to : schedule_.destinations(step)) {
      for (int chunk = 0; chunk < to.chunk_count; ++chunk) {
        value(to, to.first_chunk + chunk) = collected[static_cast<std::size_t>(chunk)];
      }
    }
  }

  const Schedule& schedule_;
  const Partners& partners_;
  Aliasing aliasing_;
  Sweep sweep_;
  bool waits_in_native_ = all_natives_are_alone(schedule_);
  std::vector<ReferenceFifo> fifos_;              // by node
  std::map<std::tuple<int, int>, Value> values_;  // by buffer and chunk
  std::set<StepId> issued_;
  std::set<StepId> completed_;
  bool has_read_undefined_ = false;
};

}  // namespace

std::optional<Check> failed_check_by_reference(const Schedule& schedule, Aliasing aliasing) {
  const Partners partners = match(schedule);
  if (partners.empty() && has_messages(schedule)) return Check::messages;
  ReferenceExecution execution(schedule, partners, aliasing, Sweep::upwards);
  if (!execution.run()) return Check::deadlock;
  if (has_streams(schedule) &&
      !ReferenceExecution(schedule, partners, aliasing, Sweep::downwards).run()) {
    return Check::deadlock;
  }
  if (fails_races_by_reference(schedule, aliasing)) return Check::races;
  if (execution.has_read_undefined() || !execution.has_result()) return Check::result;
  return std::nullopt;
}

}  // namespace hycoll::testing
