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

// The forms of a call, by the public functions of the collective's name: run_by_name(caller, call)
// and so on. A function's name is prefix, collective and suffix. `whole` makes any call.
#define HYCOLL_FORM_BY_NAME(Result, form, prefix, suffix, whole)                                  \
  template <class Caller>                                                                         \
  Result form##_by_name(Caller& caller, const Call& c) {                                          \
    const bool is_equal = c.block_counts.empty();                                                 \
    switch (c.collective) {                                                                       \
      case Collective::allreduce:                                                                 \
        break;                                                                                    \
      case Collective::reduce:                                                                    \
        return caller.prefix##reduce##suffix(c.input, c.output, c.count, c.type, c.op, c.root);   \
      case Collective::reduce_scatter:                                                            \
        if (!is_equal) {                                                                          \
          return caller.prefix##reduce_scatter##suffix(c.input, c.output, c.block_counts, c.type, \
                                                       c.op);                                     \
        }                                                                                         \
        return caller.prefix##reduce_scatter_block##suffix(c.input, c.output, c.count, c.type,    \
                                                           c.op);                                 \
      case Collective::scan:                                                                      \
        return caller.prefix##scan##suffix(c.input, c.output, c.count, c.type, c.op);             \
      case Collective::exscan:                                                                    \
        return caller.prefix##exscan##suffix(c.input, c.output, c.count, c.type, c.op);           \
      case Collective::broadcast:                                                                 \
        if (c.input != c.output) return caller.whole(c); /* by name it has one buffer */          \
        return caller.prefix##broadcast##suffix(c.output, c.count, c.type, c.root);               \
      case Collective::allgather:                                                                 \
        if (!is_equal) {                                                                          \
          return caller.prefix##allgatherv##suffix(c.input, c.output, c.block_counts, c.type);    \
        }                                                                                         \
        return caller.prefix##allgather##suffix(c.input, c.output, c.count, c.type);              \
      case Collective::gather:                                                                    \
        if (!is_equal) {                                                                          \
          return caller.prefix##gatherv##suffix(c.input, c.output, c.block_counts, c.type,        \
                                                c.root);                                          \
        }                                                                                         \
        return caller.prefix##gather##suffix(c.input, c.output, c.count, c.type, c.root);         \
      case Collective::scatter:                                                                   \
        if (!is_equal) {                                                                          \
          return caller.prefix##scatterv##suffix(c.input, c.output, c.block_counts, c.type,       \
                                                 c.root);                                         \
        }                                                                                         \
        return caller.prefix##scatter##suffix(c.input, c.output, c.count, c.type, c.root);        \
      case Collective::alltoall:                                                                  \
        return caller.prefix##alltoall##suffix(c.input, c.output, c.count, c.type);               \
    }                                                                                             \
    return caller.prefix##allreduce##suffix(c.input, c.output, c.count, c.type, c.op);            \
  }

HYCOLL_FORM_BY_NAME(void, run, , , run)
HYCOLL_FORM_BY_NAME(Request, start, i, , start)
HYCOLL_FORM_BY_NAME(Persistent, prepare, , _init, prepare)
#undef HYCOLL_FORM_BY_NAME

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_CALL_TRIAL_H_
