// The layout `processes` with buffers in the shared heap: each mixture of shared and private
// buffers over the members, in place and not, gives the same results as private buffers everywhere.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "hycoll/heap.h"
#include "hycoll/hycoll.h"
#include "tests/support/call_trial.h"

namespace hycoll::tests {
namespace {

constexpr std::int64_t kPoison = -77;

enum class Where { shared_heap, own_memory };

class Buffer {
 public:
  Buffer(std::size_t count, Where where)
      : where_(where),
        shared_(where == Where::shared_heap ? count : 0, kPoison),
        own_(where == Where::own_memory ? count : 0, kPoison) {}
  std::int64_t* data() { return where_ == Where::shared_heap ? shared_.data() : own_.data(); }

 private:
  Where where_;
  std::vector<std::int64_t, Allocator<std::int64_t>> shared_;
  std::vector<std::int64_t> own_;
};

/// Bit `bit` of a mixture.
Where where_of(unsigned mixture, int bit) {
  return (mixture >> bit & 1) != 0 ? Where::shared_heap : Where::own_memory;
}

/// One member's part in one call.
class Trial {
 public:
  Trial(const CollectiveReference& reference, int member, unsigned mixture, Placement placement)
      : reference_(reference),
        member_(member),
        placement_(placement),
        input_(reference.input_size(member), where_of(mixture, 0)),
        output_(reference.output_size(member), where_of(mixture, 1)) {
    std::int64_t* const values =
        is_in_output() ? output_.data() + reference.input_begin(member) : input_.data();
    for (std::size_t i = 0; i < reference.input_size(member); ++i) {
      values[i] = CollectiveReference::element(member, 1, i);
    }
  }

  Call call() {
    return {.collective = reference_.collective,
            .input = is_in_output() ? output_.data() : input_.data(),
            .output = result(),
            .count = reference_.count,
            .block_counts = reference_.block_counts,
            .type = DataType::int64,
            .op = Operator::sum,
            .root = reference_.root};
  }

  std::string complaint() {
    // In place, the root of a scatter keeps its block where it is.
    const bool is_kept = placement_ == Placement::in_place && member_ == reference_.root &&
                         reference_.collective == Collective::scatter;
    const std::int64_t* const values = result() + (is_kept ? reference_.output_begin(member_) : 0);
    for (std::size_t i = 0; i < reference_.output_size(member_); ++i) {
      if (values[i] != reference_.expected(member_, 1, i)) {
        return fmt::format("element {} of the result is {}", i, values[i]);
      }
    }
    for (std::size_t i = 0; placement_ == Placement::separate && i < reference_.input_size(member_);
         ++i) {
      if (input_.data()[i] != CollectiveReference::element(member_, 1, i)) {
        return fmt::format("element {} of the input is {}", i, input_.data()[i]);
      }
    }
    return "";
  }

 private:
  /// In place, the longer buffer is both.
  bool is_in_output() const {
    return placement_ == Placement::in_place && reference_.is_input_in_output(member_);
  }
  std::int64_t* result() {
    const bool is_input = placement_ == Placement::in_place && !is_in_output();
    return is_input ? input_.data() : output_.data();
  }

  const CollectiveReference& reference_;
  int member_;
  Placement placement_;
  Buffer input_;
  Buffer output_;
};

/// On one node all members, or some, or none pass shared buffers; on others this may differ.
void sweep(Communicator& communicator, std::size_t count) {
  for (const CollectiveReference& reference : references_of_all(communicator.size(), count)) {
    for (unsigned mixture = 0; mixture < 16; ++mixture) {
      // The first half of the members and the second one differ.
      const bool is_late = 2 * communicator.rank() >= communicator.size();
      const unsigned own = is_late ? mixture >> 2 : mixture & 3;
      for (const Placement placement : {Placement::separate, Placement::in_place}) {
        Trial trial(reference, communicator.rank(), own, placement);
        communicator.run(trial.call());
        CAPTURE(name_of(reference.collective));
        CAPTURE(reference.root);
        CAPTURE(count);
        CAPTURE(mixture);
        CAPTURE(static_cast<int>(placement));
        CHECK(trial.complaint() == "");
      }
    }
  }
}

TEST_CASE("every collective over any mixture of shared and private buffers") {
  struct Setting {
    int nodes;
    int single_copy_kib;
  };
  for (const Setting& setting : {Setting{1, 0}, Setting{2, 0}, Setting{1, 1}}) {
    CAPTURE(setting.nodes);
    CAPTURE(setting.single_copy_kib);
    Options options;
    options.layout = Options::Layout::processes;
    options.staging_kib = 64;
    options.single_copy_kib = setting.single_copy_kib;
    options.emulated_nodes = setting.nodes;
    Communicator communicator(MPI_COMM_WORLD, options);
    sweep(communicator, 100);
    sweep(communicator, 40'000);
  }
}

}  // namespace
}  // namespace hycoll::tests
