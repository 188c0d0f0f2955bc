#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/schedule/packs.h"
#include "core/schedule/table.h"
#include "core/schedule/walk.h"

namespace hycoll::verifier {
namespace {

class MessageCheck {
 public:
  MessageCheck(const Index& index, Matches& matches)
      : index_(index), matches_(matches), last_native_(lane_count() * node_count(), -1) {
    matches_.partner.assign(static_cast<std::size_t>(index.step_count()), -1);
    matches_.native_steps.clear();
    for (int id = 0; id < index.step_count(); ++id) {
      const Step& step = index.step(id);
      if (!is_asynchronous(step.kind)) continue;
      ++message_count_;
      tag_count_ = std::max(tag_count_, static_cast<std::uint64_t>(step.tag) + 1);
    }
  }

  std::optional<Finding> run() {
    if (auto finding = match_sends()) return finding;
    return group_natives();
  }

 private:
  std::uint64_t node_count() const {
    return static_cast<std::uint64_t>(index_.schedule.shape.node_count());
  }
  std::uint64_t lane_count() const {
    return static_cast<std::uint64_t>(index_.schedule.shape.lane_count());
  }
  int node_of(int id) const {
    const int strand = index_.place[static_cast<std::size_t>(id)].strand;
    return index_.strand_node[static_cast<std::size_t>(strand)];
  }
  int& partner(int id) { return matches_.partner[static_cast<std::size_t>(id)]; }

  Finding finding(int id, std::string what) const {
    const StepPlace& at = index_.place[static_cast<std::size_t>(id)];
    return {at.strand, at.step, std::move(what)};
  }

  std::string place_of(int id) const {
    const StepPlace& at = index_.place[static_cast<std::size_t>(id)];
    return fmt::format("step {} of strand {}", at.step, at.strand);
  }

  std::uint64_t key_of(int id, const Step& step) const {
    const auto here = static_cast<std::uint64_t>(node_of(id));
    const auto peer = static_cast<std::uint64_t>(step.peer_node);
    const std::uint64_t from = step.kind == StepKind::send ? here : peer;
    const std::uint64_t to = step.kind == StepKind::send ? peer : here;
    const auto lane = static_cast<std::uint64_t>(step.lane);
    return ((lane * node_count() + from) * node_count() + to) * tag_count_ +
           static_cast<std::uint64_t>(step.tag);
  }

  const Span& span_of(const Step& step) const {
    return index_.schedule.spans[static_cast<std::size_t>(step.first_span)];
  }

  std::optional<Finding> match_sends() {
    NumberTable sends(message_count_);
    for (int id = 0; id < index_.step_count(); ++id) {
      const Step& step = index_.step(id);
      if (step.kind != StepKind::send) continue;
      const int first = sends.find_or_insert(key_of(id, step), id);
      if (first != id) return finding(id, duplicate(step, first));
    }
    for (int id = 0; id < index_.step_count(); ++id) {
      const Step& step = index_.step(id);
      if (step.kind != StepKind::recv) continue;
      // A receive that finds no send finds itself, or an earlier such receive.
      const int send = sends.find_or_insert(key_of(id, step), id);
      if (index_.step(send).kind != StepKind::send) return finding(id, unmatched(step, "send"));
      if (partner(send) >= 0) return finding(id, duplicate(step, partner(send)));
      if (auto found = check_chunks(id, step, send)) return found;
      partner(send) = id;
      partner(id) = send;
    }
    for (int id = 0; id < index_.step_count(); ++id) {
      const Step& step = index_.step(id);
      if (step.kind == StepKind::send && partner(id) < 0) {
        return finding(id, unmatched(step, "recv"));
      }
    }
    return {};
  }

  std::string duplicate(const Step& step, int earlier) const {
    return fmt::format("uses tag {} on lane {} with node {} again after {}", step.tag, step.lane,
                       step.peer_node, place_of(earlier));
  }

  std::string unmatched(const Step& step, std::string_view missing) const {
    return fmt::format("node {} has no {} on lane {} with tag {} for it", step.peer_node, missing,
                       step.lane, step.tag);
  }

  std::optional<Finding> check_chunks(int id, const Step& step, int other) const {
    const Span& mine = span_of(step);
    const Span& theirs = span_of(index_.step(other));
    if (hold_the_same(index_.schedule, mine, theirs)) return {};
    return finding(id, fmt::format("has {} chunks from {} on, its partner ({}) {} from {} on",
                                   mine.chunk_count, mine.first_chunk, place_of(other),
                                   theirs.chunk_count, theirs.first_chunk));
  }

  /// Collects the native calls of each lane and tag. The MPI library matches the calls on a lane by
  /// their order, so on each node they must come from one strand, in the order of their tags.
  std::optional<Finding> group_natives() {
    NumberTable groups(64);
    int group_count = 0;
    for (int id = 0; id < index_.step_count(); ++id) {
      const Step& step = index_.step(id);
      if (step.kind != StepKind::native) continue;
      if (auto found = check_native_order(id, step)) return found;
      const std::uint64_t key =
          static_cast<std::uint64_t>(step.lane) * tag_count_ + static_cast<std::uint64_t>(step.tag);
      const int group = groups.find_or_insert(key, group_count);
      if (group == group_count) {
        ++group_count;
        matches_.native_steps.resize(static_cast<std::size_t>(group_count) * node_count(), -1);
      }
      partner(id) = group;
      matches_.native_steps[static_cast<std::size_t>(group) * node_count() +
                            static_cast<std::size_t>(node_of(id))] = id;
    }
    for (std::uint64_t group = 0; group < static_cast<std::uint64_t>(group_count); ++group) {
      if (auto found = check_group(group)) return found;
    }
    return {};
  }

  std::optional<Finding> check_native_order(int id, const Step& step) {
    int& last = last_native_[static_cast<std::size_t>(step.lane) * node_count() +
                             static_cast<std::size_t>(node_of(id))];
    if (last >= 0) {
      const bool same_strand = index_.place[static_cast<std::size_t>(last)].strand ==
                               index_.place[static_cast<std::size_t>(id)].strand;
      if (!same_strand || index_.step(last).tag >= step.tag) {
        return finding(id,
                       fmt::format("native calls on lane {} must come from one strand in the "
                                   "order of their tags, this one has tag {} after tag {} of {}",
                                   step.lane, step.tag, index_.step(last).tag, place_of(last)));
      }
    }
    last = id;
    return {};
  }

  std::optional<Finding> check_group(std::uint64_t group) const {
    const auto first =
        matches_.native_steps.begin() + static_cast<std::ptrdiff_t>(group * node_count());
    const auto last = first + static_cast<std::ptrdiff_t>(node_count());
    const int some = *std::find_if(first, last, [](int id) { return id >= 0; });
    for (auto node = first; node != last; ++node) {
      if (*node < 0) {
        return finding(
            some, fmt::format("node {} has no native call on lane {} with tag {}", node - first,
                              index_.step(some).lane, index_.step(some).tag));
      }
      if (auto found = check_chunks(*node, index_.step(*node), some)) return found;
    }
    return {};
  }

  const Index& index_;
  Matches& matches_;
  std::vector<int> last_native_;  // per lane and node
  std::size_t message_count_ = 0;
  std::uint64_t tag_count_ = 1;
};

}  // namespace

std::optional<Finding> check_messages(const Index& index, Matches& matches) {
  return MessageCheck(index, matches).run();
}

}  // namespace hycoll::verifier
