#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/schedule/cells.h"
#include "core/schedule/packs.h"
#include "core/schedule/pairs.h"
#include "core/schedule/schedule_text.h"
#include "core/verifier/accesses.h"
#include "core/verifier/checks.h"
#include "core/verifier/clocks.h"

namespace hycoll::verifier {
namespace {

class RaceCheck {
 public:
  RaceCheck(const Index& index, std::span<const int> order, Aliasing aliasing)
      : index_(index),
        order_(order),
        clocks_(index),
        cells_(place_cells(index.schedule, aliasing, Sets::two)),
        history_(cells_.count) {}

  /// Two runs in a row show how any two follow each other; lines and staging are the same memory
  /// only in every second run.
  std::optional<Finding> run() {
    const bool has_sets = std::ranges::any_of(
        index_.schedule.buffers, [](const Buffer& buffer) { return alternates(buffer.role); });
    const int run_count = has_sets ? 3 : 2;
    for (run_ = 0; run_ < run_count; ++run_) {
      clocks_.start_run();
      if (auto finding = add_callers()) return finding;
      for (const int id : order_) {
        if (auto finding = add_step(id)) return finding;
      }
      clocks_.end_run();
      if (run_ == 0) {
        if (auto finding = check_synchronising()) return finding;
      }
    }
    clocks_.start_run();
    return add_callers();
  }

 private:
  int first_cell_of(const Span& span) const {
    const auto id = static_cast<std::size_t>(span.buffer);
    const Buffer& buffer = index_.schedule.buffers[id];
    if (buffer.shares_with >= 0) return cells_.first[id];
    const bool second_set = alternates(buffer.role) && run_ % 2 == 1;
    return cells_.first[id] + cell_in(index_.schedule, span) +
           (second_set ? buffer.chunk_count : 0);
  }

  /// Of a place that buffers share one cell stands for all of it: which bytes of others a chunk
  /// lies over depends on lengths.
  int cell_count_of(const Span& span) const {
    return index_.schedule.buffer_of(span).shares_with >= 0 ? std::min(span.chunk_count, 1)
                                                            : span.chunk_count;
  }

  /// Between two runs the callers use the buffers of their members, as they like.
  std::optional<Finding> add_callers() {
    const Shape& shape = index_.schedule.shape;
    for (int member = 0; member < shape.member_count(); ++member) {
      const int worker = shape.worker_of_member(member);
      const int strand = clocks_.first_strand(worker);
      const Access access{.component = clocks_.component(strand),
                          .completion = clocks_.start(strand),
                          .who = -1 - worker,
                          .run = run_};
      for (const int id : {index_.schedule.input(member), index_.schedule.output(member)}) {
        const Buffer& buffer = index_.schedule.buffers[static_cast<std::size_t>(id)];
        const int first = cells_.first[static_cast<std::size_t>(id)];
        for (int cell = 0; cell < buffer.chunk_count; ++cell) {
          const Access* other = history_.add_write(first + cell, access, clocks_.of_worker(worker));
          if (other == nullptr) continue;
          return describe(access, *other, id, chunk_in(index_.schedule, buffer, cell));
        }
      }
    }
    return {};
  }

  /// Messages of two runs must not mix in a FIFO: a reader in the old one would find the new one's
  /// before its own.
  std::optional<Finding> check_streams_apart(int id) const {
    const Step& step = index_.step(id);
    const auto destinations = index_.schedule.destinations(step);
    if (destinations.empty() || !index_.is_stream(destinations.front())) return {};
    const StepPlace& at = index_.place[static_cast<std::size_t>(id)];
    const Shape& shape = index_.schedule.shape;
    const int node = index_.strand_node[static_cast<std::size_t>(at.strand)];
    for (int i = 0; i < shape.node(node).members; ++i) {
      const int worker = shape.first_worker(node) + i;
      const int strand = clocks_.first_strand(worker);
      const auto component = static_cast<std::size_t>(clocks_.component(strand));
      if (clocks_.of_strand(at.strand)[component] >= clocks_.start(strand)) continue;
      return Finding{at.strand, at.step,
                     fmt::format("may write a stream before worker {} has entered", worker)};
    }
    return {};
  }

  std::optional<Finding> add_step(int id) {
    clocks_.issue(id);
    if (auto finding = check_streams_apart(id)) return finding;
    const int strand = index_.place[static_cast<std::size_t>(id)].strand;
    const Step& step = index_.step(id);
    const std::span<const int> clock = clocks_.of_strand(strand);
    const Access access{.component = clocks_.component(strand),
                        .completion = clocks_.completion(id),
                        .who = id,
                        .run = run_};
    for (const Span& span : index_.schedule.sources(step)) {
      const int first = first_cell_of(span);
      const bool is_awaited = index_.is_awaited(span);
      const int count = cell_count_of(span);
      for (int chunk = 0; chunk < count; ++chunk) {
        if (is_awaited) {
          history_.add_ordered_read(first + chunk, access);
        } else if (const Access* other = history_.add_read(first + chunk, access, clock)) {
          return describe(access, *other, span.buffer, span.first_chunk + chunk);
        }
      }
    }
    for (const Span& span : index_.schedule.destinations(step)) {
      const int first = first_cell_of(span);
      const int count = cell_count_of(span);
      for (int chunk = 0; chunk < count; ++chunk) {
        const Access* other = history_.add_write(first + chunk, access, clock);
        if (other == nullptr) continue;
        return describe(access, *other, span.buffer, span.first_chunk + chunk);
      }
    }
    clocks_.complete(id);
    return {};
  }

  /// Concerns the workers with a member. (Only these touch lines, which are used again two calls
  /// later, so a worker without one may lag behind.)
  std::optional<Finding> check_synchronising() const {
    const Shape& shape = index_.schedule.shape;
    for (int node = 0; node < shape.node_count(); ++node) {
      const int first = shape.first_worker(node);
      const int last = first + shape.node(node).members;
      for (int entering = first; entering < last; ++entering) {
        const int strand = clocks_.first_strand(entering);
        const auto component = static_cast<std::size_t>(clocks_.component(strand));
        for (int leaving = first; leaving < last; ++leaving) {
          if (clocks_.of_worker(leaving)[component] >= clocks_.start(strand)) continue;
          return Finding{
              clocks_.first_strand(leaving), -1,
              fmt::format("worker {} may leave before worker {} has entered", leaving, entering)};
        }
      }
    }
    return {};
  }

  Finding describe(const Access& access, const Access& other, int buffer, int chunk) const {
    const std::string where = fmt::format("chunk {} of {}", chunk_at(index_.schedule, chunk),
                                          describe_buffer(index_.schedule, buffer));
    if (access.who < 0) {
      const StepPlace& at = index_.place[static_cast<std::size_t>(other.who)];
      return {at.strand, at.step,
              fmt::format("may still use {} when worker {}, its owner, has left", where,
                          -1 - access.who)};
    }
    const StepPlace& at = index_.place[static_cast<std::size_t>(access.who)];
    if (other.who < 0) {
      return {at.strand, at.step,
              fmt::format("may use {} before worker {}, its owner, has entered", where,
                          -1 - other.who)};
    }
    const StepPlace& earlier = index_.place[static_cast<std::size_t>(other.who)];
    return {at.strand, at.step,
            fmt::format("uses {} while step {} of strand {} (a {}){} may still use it", where,
                        earlier.step, earlier.strand, name_of(index_.step(other.who).kind),
                        other.run == access.run ? "" : " of an earlier run")};
  }

  const Index& index_;
  std::span<const int> order_;
  Clocks clocks_;
  Cells cells_;
  AccessHistory history_;
  int run_ = 0;
};

}  // namespace

std::optional<Finding> check_races(const Index& index, std::span<const int> order,
                                   Aliasing aliasing) {
  return RaceCheck(index, order, aliasing).run();
}

}  // namespace hycoll::verifier
