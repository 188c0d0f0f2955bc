#include "tests/core/verifier/mutants.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

namespace hycoll::testing {
namespace {

struct StepPlace {
  int strand;
  int step;
  friend bool operator==(const StepPlace&, const StepPlace&) = default;
};

/// Makes the mutants of one schedule.
class Mutator {
 public:
  explicit Mutator(const Schedule& schedule) : schedule_(schedule), original_(schedule) {}

  std::vector<Mutant> run() {
    for (int strand = 0; strand < static_cast<int>(original_.strands.size()); ++strand) {
      const auto count = original_.strands[static_cast<std::size_t>(strand)].size();
      for (int step = 0; step < static_cast<int>(count); ++step) {
        strand_ = strand;
        step_ = step;
        mutate(original_.at(strand, step));
      }
    }
    strand_ = -1;
    step_ = -1;
    mutate_awaited();
    mutate_promise();
    return std::move(mutants_);
  }

 private:
  using Change = std::function<void(EditableSchedule&)>;
  using StepChange = std::function<void(EditableStep&)>;

  void mutate_awaited() {
    for (std::size_t buffer = 0; buffer < schedule_.buffers.size(); ++buffer) {
      if (!carries_signals(schedule_.buffers[buffer].role)) continue;
      add(Mutation::awaited_as_staging, static_cast<int>(buffer), [&](EditableSchedule& mutant) {
        Buffer& changed = mutant.frame.buffers[buffer];
        changed.owner = schedule_.shape.node_of_worker(changed.owner);
        changed.role = BufferRole::staging;
      });
    }
  }

  void mutate_promise() {
    const int members = schedule_.shape.member_count();
    for (int root = 0; root < members; ++root) {
      if (!has_root(schedule_.collective) || root == schedule_.root) continue;
      add(Mutation::other_root, root,
          [&](EditableSchedule& mutant) { promise(mutant.frame, schedule_.collective, root); });
    }
    for (int other = 0; other < kCollectiveCount; ++other) {
      const auto collective = static_cast<Collective>(other);
      if (traits_of(collective) == schedule_.collective) continue;
      add(Mutation::other_collective, other,
          [&](EditableSchedule& mutant) { promise(mutant.frame, traits_of(collective), 0); });
    }
  }

  /// Makes inputs and outputs of what a schedule is said to read and write.
  static void promise(Schedule& schedule, const CollectiveTraits& collective, int root) {
    schedule.collective = collective;
    schedule.root = root;
    const auto resize = [&](int id, ChunkRange chunks) {
      Buffer& buffer = schedule.buffers[static_cast<std::size_t>(id)];
      buffer.first_chunk = chunks.first;
      buffer.chunk_count = chunks.count;
    };
    const Shape& shape = schedule.shape;
    for (int member = 0; member < shape.member_count(); ++member) {
      resize(schedule.input(member),
             input_chunks(collective, shape, schedule.chunk_count, root, member));
      resize(schedule.output(member),
             output_chunks(collective, shape, schedule.chunk_count, root, member));
    }
  }

  void add(Mutation mutation, int variant, const Change& change) {
    EditableSchedule mutant = original_;
    change(mutant);
    mutants_.push_back({mutation, strand_, step_, variant, mutant.pack()});
  }
  void add_step_change(Mutation mutation, int variant, const StepChange& change) {
    add(mutation, variant, [&](EditableSchedule& mutant) { change(mutant.at(strand_, step_)); });
  }

  void mutate(const EditableStep& at) {
    mutate_order(at);
    if (is_asynchronous(at.step.kind)) mutate_message(at);
    if (at.step.kind == StepKind::signal) mutate_signal(at);
    if (at.step.kind == StepKind::wait) mutate_wait();
    if (at.step.kind == StepKind::copy) {
      add_step_change(Mutation::copy_as_reduce, 0,
                      [](EditableStep& step) { step.step.kind = StepKind::reduce; });
    }
    mutate_spans(at);
    mutate_span_lists(at);
  }

  void mutate_order(const EditableStep& at) {
    add(Mutation::drop_step, 0, [&](EditableSchedule& mutant) { mutant.remove(strand_, step_); });
    for (std::size_t d = 0; d < at.dependencies.size(); ++d) {
      add_step_change(Mutation::drop_dependency, static_cast<int>(d), [&](EditableStep& step) {
        step.dependencies.erase(step.dependencies.begin() + static_cast<std::ptrdiff_t>(d));
      });
      add_step_change(Mutation::repeat_dependency, static_cast<int>(d), [&](EditableStep& step) {
        step.dependencies.push_back(step.dependencies[d]);
      });
    }
    const auto& strand = original_.strands[static_cast<std::size_t>(strand_)];
    if (step_ + 1 == static_cast<int>(strand.size())) return;
    const auto& next = strand[static_cast<std::size_t>(step_) + 1].dependencies;
    if (std::find(next.begin(), next.end(), step_) != next.end()) return;
    add(Mutation::exchange_with_next, 0,
        [&](EditableSchedule& mutant) { mutant.exchange_with_next(strand_, step_); });
  }

  int node_of_strand(int strand) const {
    const int worker = schedule_.strands[static_cast<std::size_t>(strand)].worker;
    return schedule_.shape.node_of_worker(worker);
  }

  /// The place of the partner of a send, or of the others that take part in a native call.
  std::vector<StepPlace> partners_of(const EditableStep& at) const {
    std::vector<StepPlace> partners;
    for (int strand = 0; strand < static_cast<int>(original_.strands.size()); ++strand) {
      const auto& steps = original_.strands[static_cast<std::size_t>(strand)];
      for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
        const Step& other = steps[static_cast<std::size_t>(i)].step;
        if (other.lane != at.step.lane || other.tag != at.step.tag) continue;
        const bool is_native =
            at.step.kind == StepKind::native && other.kind == StepKind::native && strand != strand_;
        const bool is_recv = at.step.kind == StepKind::send && other.kind == StepKind::recv &&
                             other.peer_node == node_of_strand(strand_) &&
                             node_of_strand(strand) == at.step.peer_node;
        if (is_native || is_recv) partners.push_back({strand, i});
      }
    }
    return partners;
  }

  void mutate_message(const EditableStep& at) {
    if (at.step.kind != StepKind::recv) {
      add(Mutation::drop_message, 0, [&](EditableSchedule& mutant) {
        mutant.remove(strand_, step_);
        for (const auto& [strand, step] : partners_of(at)) mutant.remove(strand, step);
      });
      add(Mutation::far_tag, 0, [&](EditableSchedule& mutant) {
        mutant.at(strand_, step_).step.tag = kMostTags;
        for (const auto& [strand, step] : partners_of(at)) {
          mutant.at(strand, step).step.tag = kMostTags;
        }
      });
    }
    const int node_count = schedule_.shape.node_count();
    for (int lane = 0; lane < schedule_.shape.lane_count(); ++lane) {
      if (lane == at.step.lane) continue;
      add_step_change(Mutation::wrong_lane, lane,
                      [&](EditableStep& step) { step.step.lane = lane; });
    }
    add_step_change(Mutation::wrong_tag, 0, [](EditableStep& step) { ++step.step.tag; });
    if (at.step.kind == StepKind::native) return;
    for (int peer = 0; peer < node_count; ++peer) {
      if (peer == at.step.peer_node) continue;
      add_step_change(Mutation::wrong_peer, peer,
                      [&](EditableStep& step) { step.step.peer_node = peer; });
    }
    if (at.step.kind == StepKind::send) mutate_send(at);
  }

  void mutate_send(const EditableStep& at) {
    const auto& strand = original_.strands[static_cast<std::size_t>(strand_)];
    for (int i = step_ + 1; i < static_cast<int>(strand.size()); ++i) {
      const Step& other = strand[static_cast<std::size_t>(i)].step;
      if (other.kind != StepKind::send || other.lane != at.step.lane ||
          other.peer_node != at.step.peer_node) {
        continue;
      }
      add(Mutation::exchange_tags, i, [&](EditableSchedule& mutant) {
        std::swap(mutant.at(strand_, step_).step.tag, mutant.at(strand_, i).step.tag);
      });
    }
    const StepPlace partner = partners_of(at).front();
    for (const int shift : {-1, 1}) {
      add(Mutation::shift_message, shift, [&](EditableSchedule& mutant) {
        mutant.at(strand_, step_).sources.front().first_chunk += shift;
        mutant.at(partner.strand, partner.step).destinations.front().first_chunk += shift;
      });
    }
    // Another node receives it instead, in the place of a receive that gets this message.
    for (int other = 0; other < static_cast<int>(original_.strands.size()); ++other) {
      const auto& steps = original_.strands[static_cast<std::size_t>(other)];
      for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
        const EditableStep& recv = steps[static_cast<std::size_t>(i)];
        const bool is_partner = partner == StepPlace{other, i};
        if (recv.step.kind != StepKind::recv || is_partner || recv.step.lane != at.step.lane ||
            node_of_strand(other) == node_of_strand(strand_)) {
          continue;
        }
        add(Mutation::wrong_peers, other * 1000 + i, [&](EditableSchedule& mutant) {
          exchange_recvs(mutant, partner, {other, i});
        });
      }
    }
  }

  /// Each of two receives gets the message of the other.
  void exchange_recvs(EditableSchedule& mutant, StepPlace a, StepPlace b) const {
    Step& first = mutant.at(a.strand, a.step).step;
    Step& second = mutant.at(b.strand, b.step).step;
    for (auto& strand : mutant.strands) {
      const int node = node_of_strand(static_cast<int>(&strand - mutant.strands.data()));
      for (EditableStep& step : strand) {
        Step& send = step.step;
        if (send.kind != StepKind::send || send.lane != first.lane) continue;
        const auto sends_to = [&](const Step& recv, int receiver) {
          return recv.peer_node == node && send.tag == recv.tag && send.peer_node == receiver;
        };
        const int node_a = node_of_strand(a.strand);
        const int node_b = node_of_strand(b.strand);
        if (sends_to(first, node_a)) {
          send.peer_node = node_b;
        } else if (sends_to(second, node_b)) {
          send.peer_node = node_a;
        }
      }
    }
    std::swap(first.peer_node, second.peer_node);
    std::swap(first.tag, second.tag);
  }

  void mutate_signal(const EditableStep& at) {
    add(Mutation::drop_signal, 0, [&](EditableSchedule& mutant) {
      for (int strand = 0; strand < static_cast<int>(mutant.strands.size()); ++strand) {
        for (int i = static_cast<int>(mutant.strands[static_cast<std::size_t>(strand)].size()) - 1;
             i >= 0; --i) {
          Step& other = mutant.at(strand, i).step;
          if (other.flag != at.step.flag || other.value < at.step.value) continue;
          const bool is_dropped = other.kind == StepKind::signal && other.value == at.step.value;
          --other.value;
          if (is_dropped || other.value == 0) mutant.remove(strand, i);
        }
      }
    });
  }

  void mutate_wait() {
    add_step_change(Mutation::wait_for_earlier, 0, [](EditableStep& step) { --step.step.value; });
    add_step_change(Mutation::wait_for_later, 0, [](EditableStep& step) { ++step.step.value; });
  }

  static Span& span_of(EditableStep& step, std::size_t index) {
    const std::size_t destinations = step.destinations.size();
    return index < destinations ? step.destinations[index] : step.sources[index - destinations];
  }

  void mutate_spans(const EditableStep& at) {
    const std::size_t count = at.destinations.size() + at.sources.size();
    for (const int shift : {-1, 1}) {
      for (std::size_t i = 0; i < count; ++i) {
        add_step_change(Mutation::shift_span, shift * static_cast<int>(i + 1),
                        [&](EditableStep& step) { span_of(step, i).first_chunk += shift; });
      }
      if (count == 0) continue;
      add_step_change(Mutation::shift_step, shift, [&](EditableStep& step) {
        for (std::size_t i = 0; i < count; ++i) span_of(step, i).first_chunk += shift;
      });
    }
    const int buffer_count = static_cast<int>(schedule_.buffers.size());
    for (std::size_t i = 0; i < count; ++i) {
      for (int buffer = 0; buffer < buffer_count; ++buffer) {
        EditableStep original = at;
        if (span_of(original, i).buffer == buffer) continue;
        const bool is_input = buffer < schedule_.shape.member_count();
        const bool writes_input = is_input && i < at.destinations.size();
        add_step_change(writes_input ? Mutation::write_input : Mutation::other_buffer,
                        static_cast<int>(i) * 1000 + buffer,
                        [&](EditableStep& step) { span_of(step, i).buffer = buffer; });
      }
    }
  }

  void mutate_span_lists(const EditableStep& at) {
    const bool is_reduce = at.step.kind == StepKind::reduce;
    if (!is_reduce && at.step.kind != StepKind::copy) return;
    add(Mutation::repeat_step, 0, [&](EditableSchedule& mutant) {
      auto& strand = mutant.strands[static_cast<std::size_t>(strand_)];
      strand.insert(strand.begin() + step_, at);
      for (EditableStep& later : strand) {
        for (int& dependency : later.dependencies) {
          if (dependency >= step_) ++dependency;
        }
      }
    });
    for (std::size_t i = 0; i < at.destinations.size(); ++i) {
      add_step_change(Mutation::drop_destination, static_cast<int>(i), [&](EditableStep& step) {
        step.destinations.erase(step.destinations.begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
    if (is_reduce) mutate_operands(at);
  }

  void mutate_operands(const EditableStep& at) {
    for (std::size_t buffer = 0; buffer < schedule_.buffers.size(); ++buffer) {
      Span added = at.sources.front();
      added.buffer = static_cast<int>(buffer);
      if (std::find(at.sources.begin(), at.sources.end(), added) != at.sources.end()) continue;
      add_step_change(Mutation::add_source, added.buffer,
                      [&](EditableStep& step) { step.sources.push_back(added); });
    }
    for (std::size_t i = 0; i < at.sources.size(); ++i) {
      const auto variant = static_cast<int>(i);
      add_step_change(Mutation::reduce_twice, variant,
                      [&](EditableStep& step) { step.sources.push_back(at.sources[i]); });
      add_step_change(Mutation::drop_source, variant, [&](EditableStep& step) {
        step.sources.erase(step.sources.begin() + static_cast<std::ptrdiff_t>(i));
      });
      if (i + 1 == at.sources.size()) continue;
      add_step_change(Mutation::exchange_sources, variant,
                      [&](EditableStep& step) { std::swap(step.sources[i], step.sources[i + 1]); });
    }
  }

  const Schedule& schedule_;
  EditableSchedule original_;
  std::vector<Mutant> mutants_;
  int strand_ = 0;
  int step_ = 0;
};

}  // namespace

EditableSchedule::EditableSchedule(const Schedule& schedule) : frame(schedule) {
  for (Strand& strand : frame.strands) {
    auto& editable = strands.emplace_back();
    for (const Step& step : strand.steps) {
      const auto destinations = schedule.destinations(step);
      const auto sources = schedule.sources(step);
      const auto dependencies = schedule.dependencies_of(step);
      editable.push_back({step,
                          {destinations.begin(), destinations.end()},
                          {sources.begin(), sources.end()},
                          {dependencies.begin(), dependencies.end()}});
    }
    strand.steps.clear();
  }
  frame.spans.clear();
  frame.dependencies.clear();
}

Schedule EditableSchedule::pack() const {
  Schedule packed = frame;
  for (std::size_t strand = 0; strand < strands.size(); ++strand) {
    for (const EditableStep& editable : strands[strand]) {
      Step step = editable.step;
      step.first_span = static_cast<int>(packed.spans.size());
      step.destination_count = static_cast<int>(editable.destinations.size());
      step.source_count = static_cast<int>(editable.sources.size());
      step.first_dependency = static_cast<int>(packed.dependencies.size());
      step.dependency_count = static_cast<int>(editable.dependencies.size());
      packed.spans.insert(packed.spans.end(), editable.destinations.begin(),
                          editable.destinations.end());
      packed.spans.insert(packed.spans.end(), editable.sources.begin(), editable.sources.end());
      packed.dependencies.insert(packed.dependencies.end(), editable.dependencies.begin(),
                                 editable.dependencies.end());
      packed.strands[strand].steps.push_back(step);
    }
  }
  return packed;
}

void EditableSchedule::remove(int strand, int step) {
  auto& steps = strands[static_cast<std::size_t>(strand)];
  steps.erase(steps.begin() + step);
  for (EditableStep& other : steps) {
    std::erase(other.dependencies, step);
    for (int& dependency : other.dependencies) {
      if (dependency > step) --dependency;
    }
  }
}

void EditableSchedule::exchange_with_next(int strand, int step) {
  auto& steps = strands[static_cast<std::size_t>(strand)];
  std::swap(steps[static_cast<std::size_t>(step)], steps[static_cast<std::size_t>(step) + 1]);
  for (EditableStep& other : steps) {
    for (int& dependency : other.dependencies) {
      if (dependency == step) {
        dependency = step + 1;
      } else if (dependency == step + 1) {
        dependency = step;
      }
    }
  }
}

std::string_view name_of(Mutation mutation) noexcept {
  constexpr std::array<std::string_view, kMutationCount> names = {
      "drop step",         "drop message",       "drop signal",
      "drop dependency",   "exchange with next", "wrong peer",
      "wrong peers",       "wrong lane",         "wrong tag",
      "exchange tags",     "shift span",         "shift step",
      "shift message",     "other buffer",       "reduce twice",
      "drop source",       "drop destination",   "exchange sources",
      "repeat step",       "wait for earlier",   "wait for later",
      "write input",       "awaited as staging", "add source",
      "other root",        "other collective",   "far tag",
      "repeat dependency", "copy as reduce"};
  return names[static_cast<std::size_t>(mutation)];
}

std::vector<Mutant> mutants_of(const Schedule& schedule) { return Mutator(schedule).run(); }

}  // namespace hycoll::testing
