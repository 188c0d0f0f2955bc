#ifndef HYCOLL_TESTS_SUPPORT_CALL_TRIAL_H_
#define HYCOLL_TESTS_SUPPORT_CALL_TRIAL_H_

#include <hycoll/hycoll.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/collective_reference.h"

namespace hycoll::tests {

enum class Placement { separate, in_place };

/// One member's part in calls that add whole numbers: its buffers, between guards, and what is
/// wrong with them afterwards. Members that get no result pass no output, or their input again.
class CallTrial {
 public:
  /// The reference is copied.
  CallTrial(const CollectiveReference& reference, int member, Placement placement);
  CallTrial(CallTrial&&) = default;  // buffers keep their addresses

  /// Before each call: inputs that differ from round to round, and poisoned outputs.
  void fill(int round);

  /// The call. Valid as long as the trial stays where it is.
  Call call() const;

  /// After the call: the first wrong element of the result, element beside a buffer that was
  /// written, or input that was changed. Empty if nothing is wrong.
  std::string complaint() const;

  std::string describe() const;

 private:
  struct Guarded {
    std::vector<std::int64_t> elements;
    std::int64_t* data() { return elements.data() + kGuards; }
    const std::int64_t* data() const { return elements.data() + kGuards; }
    std::size_t size() const { return elements.size() - 2 * kGuards; }
  };
  static constexpr std::size_t kGuards = 16;

  /// In place, the longer one is both.
  const Guarded& result_buffer() const {
    const bool is_input = placement_ == Placement::in_place && !is_input_in_output();
    return is_input ? input_ : output_;
  }
  /// In place, the root of a scatter keeps its block where it is.
  bool is_kept_block() const {
    return placement_ == Placement::in_place && member_ == reference_.root &&
           reference_.collective == Collective::scatter;
  }
  const std::int64_t* result() const {
    return result_buffer().data() + (is_kept_block() ? reference_.output_begin(member_) : 0);
  }
  bool is_input_in_output() const { return reference_.is_input_in_output(member_); }
  std::int64_t expected_input(std::size_t index) const;
  std::string complaint_of_guards(const Guarded& buffer, const char* name) const;
  std::string complaint_of_result() const;
  std::string complaint_of_rest() const;

  CollectiveReference reference_;
  int member_;
  Placement placement_;
  int round_ = 0;
  Guarded input_;
  Guarded output_;
};

/// What every collective is called with in sweeps over members: each root that differs in its
/// place, equal blocks and unequal ones with zeros among them. Inputs have about `count` elements.
std::vector<CollectiveReference> references_of_all(int member_count, std::size_t count);

/// The forms of a call, by the public functions of the collective's name.
template <class Caller>
void run_by_name(Caller& caller, const Call& c) {
  switch (c.collective) {
    case Collective::allreduce:
      return caller.allreduce(c.input, c.output, c.count, c.type, c.op);
    case Collective::reduce:
      return caller.reduce(c.input, c.output, c.count, c.type, c.op, c.root);
    case Collective::reduce_scatter:
      if (c.block_counts.empty()) {
        return caller.reduce_scatter_block(c.input, c.output, c.count, c.type, c.op);
      }
      return caller.reduce_scatter(c.input, c.output, c.block_counts, c.type, c.op);
    case Collective::scan:
      return caller.scan(c.input, c.output, c.count, c.type, c.op);
    case Collective::exscan:
      return caller.exscan(c.input, c.output, c.count, c.type, c.op);
    case Collective::broadcast:
      // By name it has one buffer.
      if (c.input != c.output) return caller.run(c);
      return caller.broadcast(c.output, c.count, c.type, c.root);
    case Collective::allgather:
      if (!c.block_counts.empty()) {
        return caller.allgatherv(c.input, c.output, c.block_counts, c.type);
      }
      return caller.allgather(c.input, c.output, c.count, c.type);
    case Collective::gather:
      if (!c.block_counts.empty()) {
        return caller.gatherv(c.input, c.output, c.block_counts, c.type, c.root);
      }
      return caller.gather(c.input, c.output, c.count, c.type, c.root);
    case Collective::scatter:
      if (!c.block_counts.empty()) {
        return caller.scatterv(c.input, c.output, c.block_counts, c.type, c.root);
      }
      return caller.scatter(c.input, c.output, c.count, c.type, c.root);
    case Collective::alltoall:
      return caller.alltoall(c.input, c.output, c.count, c.type);
  }
}

template <class Caller>
Request start_by_name(Caller& caller, const Call& c) {
  switch (c.collective) {
    case Collective::allreduce:
      break;
    case Collective::reduce:
      return caller.ireduce(c.input, c.output, c.count, c.type, c.op, c.root);
    case Collective::reduce_scatter:
      if (c.block_counts.empty()) {
        return caller.ireduce_scatter_block(c.input, c.output, c.count, c.type, c.op);
      }
      return caller.ireduce_scatter(c.input, c.output, c.block_counts, c.type, c.op);
    case Collective::scan:
      return caller.iscan(c.input, c.output, c.count, c.type, c.op);
    case Collective::exscan:
      return caller.iexscan(c.input, c.output, c.count, c.type, c.op);
    case Collective::broadcast:
      if (c.input != c.output) return caller.start(c);
      return caller.ibroadcast(c.output, c.count, c.type, c.root);
    case Collective::allgather:
      if (!c.block_counts.empty()) {
        return caller.iallgatherv(c.input, c.output, c.block_counts, c.type);
      }
      return caller.iallgather(c.input, c.output, c.count, c.type);
    case Collective::gather:
      if (!c.block_counts.empty()) {
        return caller.igatherv(c.input, c.output, c.block_counts, c.type, c.root);
      }
      return caller.igather(c.input, c.output, c.count, c.type, c.root);
    case Collective::scatter:
      if (!c.block_counts.empty()) {
        return caller.iscatterv(c.input, c.output, c.block_counts, c.type, c.root);
      }
      return caller.iscatter(c.input, c.output, c.count, c.type, c.root);
    case Collective::alltoall:
      return caller.ialltoall(c.input, c.output, c.count, c.type);
  }
  return caller.iallreduce(c.input, c.output, c.count, c.type, c.op);
}

template <class Caller>
Persistent prepare_by_name(Caller& caller, const Call& c) {
  switch (c.collective) {
    case Collective::allreduce:
      break;
    case Collective::reduce:
      return caller.reduce_init(c.input, c.output, c.count, c.type, c.op, c.root);
    case Collective::reduce_scatter:
      if (c.block_counts.empty()) {
        return caller.reduce_scatter_block_init(c.input, c.output, c.count, c.type, c.op);
      }
      return caller.reduce_scatter_init(c.input, c.output, c.block_counts, c.type, c.op);
    case Collective::scan:
      return caller.scan_init(c.input, c.output, c.count, c.type, c.op);
    case Collective::exscan:
      return caller.exscan_init(c.input, c.output, c.count, c.type, c.op);
    case Collective::broadcast:
      if (c.input != c.output) return caller.prepare(c);
      return caller.broadcast_init(c.output, c.count, c.type, c.root);
    case Collective::allgather:
      if (!c.block_counts.empty()) {
        return caller.allgatherv_init(c.input, c.output, c.block_counts, c.type);
      }
      return caller.allgather_init(c.input, c.output, c.count, c.type);
    case Collective::gather:
      if (!c.block_counts.empty()) {
        return caller.gatherv_init(c.input, c.output, c.block_counts, c.type, c.root);
      }
      return caller.gather_init(c.input, c.output, c.count, c.type, c.root);
    case Collective::scatter:
      if (!c.block_counts.empty()) {
        return caller.scatterv_init(c.input, c.output, c.block_counts, c.type, c.root);
      }
      return caller.scatter_init(c.input, c.output, c.count, c.type, c.root);
    case Collective::alltoall:
      return caller.alltoall_init(c.input, c.output, c.count, c.type);
  }
  return caller.allreduce_init(c.input, c.output, c.count, c.type, c.op);
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_CALL_TRIAL_H_
