#include "tests/core/verifier/reference_races.h"

#include <algorithm>
#include <compare>
#include <map>
#include <vector>

#include "tests/core/verifier/reference_steps.h"

namespace hycoll::testing {
namespace {

/// A step, or a worker, in one run.
template <class What>
struct InRun {
  What what;
  int run;
  friend auto operator<=>(const InRun&, const InRun&) = default;
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
    std::ranges::sort(accesses_, {}, &Access::buffer);
  }

  bool has_race() const {
    for (std::size_t a = 0; a < accesses_.size(); ++a) {
      for (std::size_t b = a; b > 0 && accesses_[b - 1].buffer == accesses_[a].buffer; --b) {
        if (conflict(accesses_[a], accesses_[b - 1])) return true;
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

  /// Whether nobody writes a stream before all members of the node have entered the run.
  bool keeps_streams_apart() const {
    const Shape& shape = schedule_.shape;
    for (const auto& [id, run] : stream_writes_) {
      for (int member = 0; member < shape.member_count(); ++member) {
        if (shape.node_of_member(member) != node_of(schedule_, id)) continue;
        const int start = start_.at({shape.worker_of_member(member), run});
        if (!before(start, issue_.at({id, run}))) return false;
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
    int set;        // of the two between which lines and staging alternate
    int lines_run;  // of an access to lines: its run; else -1
    int issue;
    int complete;
  };

  int new_event() {
    edges_.emplace_back();
    return static_cast<int>(edges_.size()) - 1;
  }
  void order(int earlier, int later) { edges_[static_cast<std::size_t>(earlier)].push_back(later); }

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
      for (const int id : {member, schedule_.shape.member_count() + member}) {
        const Buffer& buffer = schedule_.buffers[static_cast<std::size_t>(id)];
        // Of the pairs' chunks only the member's own are ever looked for there.
        const bool is_of_pairs = has_pairs(schedule_.collective);
        const int chunk_count = is_of_pairs ? schedule_.chunk_count : buffer.chunk_count;
        add_access({id, buffer.first_chunk, chunk_count}, true, run, event, event);
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
    for (const StepId writer : awaited_writers_of(schedule_, step)) {
      order(issue_[{writer, run}], complete);
      if (is_whole_write_read(step, step_of(schedule_, writer))) {
        order(complete_[{writer, run}], complete);
      }
    }
    for (const Span& span : schedule_.sources(step)) {
      if (!is_stream(schedule_, span)) add_access(span, false, run, issue, complete);
    }
    for (const Span& span : schedule_.destinations(step)) {
      if (is_stream(schedule_, span)) {
        stream_writes_.push_back({id, run});
      } else {
        add_access(span, true, run, issue, complete);
      }
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
    const bool is_shared = aliasing_ == Aliasing::in_place && !has_pairs(schedule_.collective);
    const int shift = is_output && is_shared ? members : 0;
    const bool lines = is_lines(schedule_, span);
    const bool has_sets = lines || schedule_.buffers[static_cast<std::size_t>(span.buffer)].role ==
                                       BufferRole::staging;
    accesses_.push_back({span.buffer - shift, span.first_chunk, span.first_chunk + span.chunk_count,
                         is_write, has_sets ? run % 2 : 0, lines ? run : -1, issue, complete});
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

  /// Requires accesses to one buffer.
  bool conflict(const Access& a, const Access& b) const {
    if (a.issue == b.issue) return false;  // one step, or one caller
    if (a.set != b.set) return false;
    if (!a.is_write && !b.is_write) return false;
    if (a.end_chunk <= b.first_chunk || b.end_chunk <= a.first_chunk) return false;
    // Readers of lines wait for the write of their own run.
    if (a.lines_run >= 0 && a.lines_run == b.lines_run) return false;
    return !before(a.complete, b.issue) && !before(b.complete, a.issue);
  }

  const Schedule& schedule_;
  Aliasing aliasing_;
  std::vector<std::vector<int>> edges_;
  std::vector<std::vector<bool>> reachable_;
  std::map<InRun<StepId>, int> issue_;
  std::map<InRun<StepId>, int> complete_;
  std::map<InRun<int>, int> start_;  // of workers
  std::map<InRun<int>, int> end_;
  std::vector<Access> accesses_;
  std::vector<InRun<StepId>> stream_writes_;
};

}  // namespace

bool fails_races_by_reference(const Schedule& schedule, Aliasing aliasing) {
  const ReferenceRaces races(schedule, aliasing);
  return races.has_race() || !races.is_synchronising() || !races.keeps_streams_apart();
}

}  // namespace hycoll::testing
