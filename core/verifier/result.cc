#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/schedule/cells.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/checks.h"
#include "core/verifier/expressions.h"
#include "core/verifier/outputs.h"

namespace hycoll::verifier {
namespace {

/// Executes the schedule on symbolic values. A message is carried out when its second side is
/// issued; without races any moment until its completion is as good. Every value stays in its
/// chunk, because all spans of a step and of a message have the same chunks (checks 1 and 2).
class SymbolicExecution {
 public:
  SymbolicExecution(const Index& index, const Matches& matches, std::span<const int> order,
                    Aliasing aliasing)
      : index_(index),
        matches_(matches),
        order_(order),
        cells_(place_cells(index.schedule, aliasing, Sets::one)),
        values_(static_cast<std::size_t>(cells_.count), kUndefined),
        is_issued_(static_cast<std::size_t>(index.step_count()), false),
        missing_natives_(matches.native_steps.size() / node_count(),
                         static_cast<int>(node_count())),
        expressions_(index.schedule.shape.member_count()) {
    for (int member = 0; member < member_count(); ++member) {
      std::ranges::fill(buffer_values(index.schedule.input(member)), expressions_.leaf(member));
    }
  }

  std::optional<Finding> run(ResultTrees& trees) {
    for (const int id : order_) {
      if (auto finding = execute(id)) return finding;
    }
    OutputCheck check(index_.schedule, expressions_);
    for (int member = 0; member < member_count(); ++member) {
      const auto output = buffer_values(index_.schedule.output(member));
      if (auto finding = check.add(member, output)) return finding;
    }
    trees = check.trees();
    return {};
  }

 private:
  int member_count() const { return index_.schedule.shape.member_count(); }
  std::size_t node_count() const {
    return static_cast<std::size_t>(index_.schedule.shape.node_count());
  }

  /// The values of a span, by chunk.
  std::span<Expression> values(const Span& span) {
    const auto id = static_cast<std::size_t>(span.buffer);
    return cell_values(cells_.first[id] + cell_in(index_.schedule, span), span.chunk_count);
  }
  std::span<Expression> buffer_values(int buffer) {
    const auto id = static_cast<std::size_t>(buffer);
    return cell_values(cells_.first[id], index_.schedule.buffers[id].chunk_count);
  }
  std::span<Expression> cell_values(int first, int count) {
    return std::span(values_).subspan(static_cast<std::size_t>(first),
                                      static_cast<std::size_t>(count));
  }

  std::optional<Finding> execute(int id) {
    const Step& step = index_.step(id);
    if (auto finding = check_defined(id, step)) return finding;
    for (const Span& span : index_.schedule.destinations(step)) take_place(span);
    const int partner = matches_.partner[static_cast<std::size_t>(id)];
    switch (step.kind) {
      case StepKind::send:
      case StepKind::recv:
        is_issued_[static_cast<std::size_t>(id)] = true;
        if (!is_issued_[static_cast<std::size_t>(partner)]) return {};
        transfer(step.kind == StepKind::send ? id : partner);
        return {};
      case StepKind::native:
        if (--missing_natives_[static_cast<std::size_t>(partner)] == 0) combine(partner);
        return {};
      case StepKind::reduce:
        reduce(step);
        return {};
      case StepKind::copy:
        copy(step);
        return {};
      case StepKind::signal:
      case StepKind::wait:
        return {};
    }
    return {};
  }

  /// What other buffers held in a place that they share with the one that is written is lost.
  void take_place(const Span& span) {
    const int place = index_.schedule.buffer_of(span).shares_with;
    if (place < 0) return;
    int& holder = holders_.try_emplace(place, span.buffer).first->second;
    if (holder == span.buffer) return;
    std::ranges::fill(buffer_values(holder), kUndefined);
    holder = span.buffer;
    std::ranges::fill(buffer_values(holder), kUndefined);
  }

  std::optional<Finding> check_defined(int id, const Step& step) {
    for (const Span& source : index_.schedule.sources(step)) {
      const std::span<const Expression> read = values(source);
      const auto undefined = std::find(read.begin(), read.end(), kUndefined);
      if (undefined == read.end()) continue;
      const StepPlace& at = index_.place[static_cast<std::size_t>(id)];
      return Finding{
          at.strand, at.step,
          fmt::format("reads chunk {} of {}, which nobody has written",
                      chunk_at(index_.schedule,
                               source.first_chunk + static_cast<int>(undefined - read.begin())),
                      describe_buffer(index_.schedule, source.buffer))};
    }
    return {};
  }

  void transfer(int send) {
    const int recv = matches_.partner[static_cast<std::size_t>(send)];
    const std::span<const Expression> from =
        values(index_.schedule.sources(index_.step(send)).front());
    std::ranges::copy(from,
                      values(index_.schedule.destinations(index_.step(recv)).front()).begin());
  }

  void combine(int group) {
    const std::span<const int> calls =
        std::span(matches_.native_steps)
            .subspan(static_cast<std::size_t>(group) * node_count(), node_count());
    const auto chunk_count = static_cast<std::size_t>(
        index_.schedule.sources(index_.step(calls.front())).front().chunk_count);
    for (std::size_t chunk = 0; chunk < chunk_count; ++chunk) {
      Expression operands = kUndefined;
      for (const int call : calls) {
        const Span& source = index_.schedule.sources(index_.step(call)).front();
        operands = expressions_.add_native_operand(operands, values(source)[chunk]);
      }
      const Expression result = expressions_.native(operands, group);
      for (const int call : calls) {
        values(index_.schedule.destinations(index_.step(call)).front())[chunk] = result;
      }
    }
  }

  void reduce(const Step& step) {
    const std::span<const Span> sources = index_.schedule.sources(step);
    const std::span<const Span> destinations = index_.schedule.destinations(step);
    for (std::size_t chunk = 0; std::cmp_less(chunk, sources.front().chunk_count); ++chunk) {
      Expression result = values(sources.front())[chunk];
      for (const Span& source : sources.subspan(1)) {
        result = expressions_.reduce(result, values(source)[chunk]);
      }
      for (const Span& destination : destinations) values(destination)[chunk] = result;
    }
  }

  void copy(const Step& step) {
    std::size_t done = 0;
    for (const Span& source : index_.schedule.sources(step)) {
      const std::span<const Expression> read = values(source);
      for (const Span& destination : index_.schedule.destinations(step)) {
        std::ranges::copy(read, values(destination).subspan(done).begin());
      }
      done += read.size();
    }
  }

  const Index& index_;
  const Matches& matches_;
  std::span<const int> order_;
  Cells cells_;
  std::vector<Expression> values_;
  std::vector<bool> is_issued_;
  std::vector<int> missing_natives_;  // per group
  std::map<int, int> holders_;        // by shared place: the buffer that was written last
  Expressions expressions_;
};

}  // namespace

std::optional<Finding> check_result(const Index& index, const Matches& matches,
                                    std::span<const int> order, Aliasing aliasing,
                                    ResultTrees& trees) {
  return SymbolicExecution(index, matches, order, aliasing).run(trees);
}

}  // namespace hycoll::verifier
