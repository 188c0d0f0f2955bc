#include "tests/support/call_trial.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/collective_traits.h"

namespace hycoll::tests {
namespace {

constexpr std::int64_t kGuard = -0x6a7d6a7d6a7d;
constexpr std::int64_t kPoison = -0x0123456789ab;

}  // namespace

CallTrial::CallTrial(const CollectiveReference& reference, int member, Placement placement)
    : reference_(reference), member_(member), placement_(placement) {
  input_.elements.assign(reference_.input_size(member_) + 2 * kGuards, kGuard);
  // A member without a result may own an output, which nobody is to touch.
  const std::size_t output_size = reference_.collective == Collective::exscan
                                      ? reference_.count
                                      : reference_.output_size(member);
  output_.elements.assign(output_size + 2 * kGuards, kGuard);
}

std::int64_t CallTrial::expected_input(std::size_t index) const {
  return CollectiveReference::element(member_, round_, index);
}

void CallTrial::fill(int round) {
  round_ = round;
  for (std::size_t i = 0; i < input_.size(); ++i) input_.data()[i] = expected_input(i);
  std::fill_n(output_.data(), output_.size(), kPoison);
  if (!is_input_in_output() || placement_ == Placement::separate) return;
  std::copy_n(input_.data(), input_.size(), output_.data() + reference_.input_begin(member_));
}

Call CallTrial::call() const {
  Call call{.collective = reference_.collective,
            .input = placement_ == Placement::in_place ? result_buffer().data() : input_.data(),
            .output = const_cast<std::int64_t*>(result_buffer().data()),
            .count = reference_.count,
            .block_counts = reference_.block_counts,
            .type = DataType::int64,
            .op = Operator::sum,
            .root = reference_.root};
  if (placement_ == Placement::separate && member_ != call.root) {
    if (delivers_to_root(call.collective)) call.output = nullptr;
    if (begins_at_root(call.collective)) call.input = nullptr;
  }
  return call;
}

std::string CallTrial::complaint_of_guards(const Guarded& buffer, const char* name) const {
  for (std::size_t i = 0; i < kGuards; ++i) {
    if (buffer.elements[i] != kGuard) {
      return fmt::format("element -{} of the {} was written", kGuards - i, name);
    }
    if (buffer.data()[buffer.size() + i] != kGuard) {
      return fmt::format("element {} of the {} of {} was written", buffer.size() + i, name,
                         buffer.size());
    }
  }
  return "";
}

std::string CallTrial::complaint_of_result() const {
  for (std::size_t i = 0; i < reference_.output_size(member_); ++i) {
    const std::int64_t expected = reference_.expected(member_, round_, i);
    if (result()[i] == expected) continue;
    return fmt::format("element {} of the result is {}, not {}", i, result()[i], expected);
  }
  return "";
}

/// What no call may change: the input, unless it is the output too; outputs where there is no
/// result.
std::string CallTrial::complaint_of_rest() const {
  const bool has_result = reference_.output_size(member_) > 0;
  const bool may_change_input = placement_ == Placement::in_place && !is_input_in_output() &&
                                !is_kept_block() &&
                                (has_result || reference_.collective == Collective::reduce_scatter);
  for (std::size_t i = 0; i < input_.size() && !may_change_input; ++i) {
    if (input_.data()[i] == expected_input(i)) continue;
    return fmt::format("element {} of the input was changed to {}", i, input_.data()[i]);
  }
  for (std::size_t i = 0; i < output_.size(); ++i) {
    if (has_result && (is_input_in_output() || placement_ == Placement::separate)) break;
    if (output_.data()[i] == kPoison) continue;
    return fmt::format("element {} of an output without a result was written", i);
  }
  return "";
}

std::string CallTrial::complaint() const {
  for (const std::string& found : {complaint_of_result(), complaint_of_guards(input_, "input"),
                                   complaint_of_guards(output_, "output"), complaint_of_rest()}) {
    if (!found.empty()) return fmt::format("{}: {}", describe(), found);
  }
  return "";
}

std::string CallTrial::describe() const {
  return fmt::format("{} of {} elements{}, root {}, {}, member {} of {}, round {}",
                     name_of(reference_.collective), reference_.count,
                     reference_.block_counts.empty() ? "" : " (unequal blocks)", reference_.root,
                     placement_ == Placement::in_place ? "in place" : "separate buffers", member_,
                     reference_.member_count, round_);
}

std::vector<CollectiveReference> references_of_all(int member_count, std::size_t count) {
  std::vector<CollectiveReference> all;
  const CollectiveReference common{
      .member_count = member_count, .count = count, .block_counts = {}};
  for (const Collective collective :
       {Collective::allreduce, Collective::scan, Collective::exscan}) {
    all.push_back(common);
    all.back().collective = collective;
  }
  const auto add_rooted = [&](CollectiveReference rooted, Collective collective,
                              std::vector<int> roots) {
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    rooted.collective = collective;
    for (const int root : roots) {
      rooted.root = root;
      all.push_back(rooted);
    }
  };
  add_rooted(common, Collective::reduce, {0, member_count / 2, member_count - 1});
  add_rooted(common, Collective::broadcast, {0, member_count - 1});
  const auto members = static_cast<std::size_t>(member_count);
  CollectiveReference blocks = common;
  blocks.collective = Collective::reduce_scatter;
  blocks.count = (count + members - 1) / members;
  all.push_back(blocks);
  blocks.collective = Collective::allgather;
  all.push_back(blocks);
  add_rooted(blocks, Collective::gather, {0, member_count - 1});
  add_rooted(blocks, Collective::scatter, {0, member_count - 1});
  blocks.collective = Collective::alltoall;
  all.push_back(blocks);
  blocks.count = 0;
  for (std::size_t m = 0; m < members; ++m) {
    const std::size_t share = 2 * count * (m + 1) / (members * (members + 1));
    blocks.block_counts.push_back(m % 3 == 1 ? 0 : share);
  }
  for (const Collective collective : {Collective::reduce_scatter, Collective::allgather}) {
    all.push_back(blocks);
    all.back().collective = collective;
  }
  add_rooted(blocks, Collective::gather, {member_count / 2});
  add_rooted(blocks, Collective::scatter, {member_count / 2});
  return all;
}

}  // namespace hycoll::tests
