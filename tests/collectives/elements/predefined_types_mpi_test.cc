// All predefined types and operators of MPI in all collectives, in both layouts, against arithmetic
// of the tests' own. Vectors end with their last byte of data where a page ends, and what lies
// between data is not touched. Reproducible calls: sums of floating-point numbers round, and their
// order is known.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "core/base/collective_traits.h"
#include "tests/collectives/elements/reduction_subjects.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/fold_order.h"
#include "tests/support/guarded_memory.h"

namespace hycoll::tests {
namespace predefined_types_mpi_test {

using testing::all_operators;
using testing::all_subjects;
using testing::NamedOp;
using testing::ReductionSubject;

using Vector = std::vector<std::byte>;

constexpr std::byte kPoison{0xa5};

/// Which bytes of an element are data.
std::vector<bool> data_of(const ReductionSubject& subject) {
  int size_bytes = 0;
  MPI_Type_size(subject.handle, &size_bytes);
  const Vector ones(static_cast<std::size_t>(size_bytes), std::byte{1});
  Vector element(subject.size_bytes, std::byte{0});
  int end = 0;
  MPI_Unpack(ones.data(), size_bytes, &end, element.data(), 1, subject.handle, MPI_COMM_SELF);
  std::vector<bool> is_data;
  for (const std::byte byte : element) is_data.push_back(byte == std::byte{1});
  return is_data;
}

/// A vector of the program's, up to the last byte of data.
class UserVector {
 public:
  UserVector(const std::vector<bool>& is_data, std::size_t count)
      : whole_bytes_(count * is_data.size()), memory_(used_bytes(is_data, count), kPoison) {}

  void* data() { return memory_.data(); }
  void fill(const Vector& elements) {
    std::copy_n(elements.begin(), memory_.size(), memory_.data());
  }
  /// With what the last element lacks.
  Vector elements() const {
    Vector whole(whole_bytes_, kPoison);
    std::copy_n(memory_.data(), memory_.size(), whole.begin());
    return whole;
  }

 private:
  static std::size_t used_bytes(const std::vector<bool>& is_data, std::size_t count) {
    const auto trailing = std::find(is_data.rbegin(), is_data.rend(), true) - is_data.rbegin();
    return count == 0 ? 0 : count * is_data.size() - static_cast<std::size_t>(trailing);
  }

  std::size_t whole_bytes_;
  GuardedMemory memory_;
};

constexpr std::size_t kCount = 13;

/// One call of a type and an operator, on every member.
class TypedCall {
 public:
  TypedCall(const ReductionSubject& subject, const NamedOp& op,
            const CollectiveReference& reference, std::vector<int> members_of_node)
      : subject_(subject),
        op_(op),
        reference_(reference),
        order_{.members_of_node = std::move(members_of_node),
               .combine =
                   [&subject, op = op.op](const Vector& left, const Vector& right) {
                     Vector result = left;
                     subject.fold_into_left(op, right.data(), result.data(),
                                            left.size() / subject.size_bytes);
                     return result;
                   }},
        is_data_(data_of(subject)) {
    for (int member = 0; member < reference.member_count; ++member) {
      Vector input(reference.input_size(member) * subject.size_bytes);
      subject.fill(input.data(), reference.input_size(member),
                   static_cast<std::uint64_t>(member) * 1'000 + 7);
      inputs_.push_back(std::move(input));
    }
  }

  /// Makes the call, in the form that the round says; the complaint.
  template <class Caller>
  std::string run(Caller& caller, int round) const {
    const auto member = static_cast<std::size_t>(caller.rank());
    const bool in_place = round % 2 == 1;
    UserVector input(is_data_, reference_.input_size(caller.rank()));
    UserVector output(is_data_, in_place ? 0 : reference_.output_size(caller.rank()));
    input.fill(inputs_[member]);
    const Vector input_before = input.elements();
    UserVector& result = in_place ? input : output;
    const Vector before = result.elements();
    const Call call = Call{.collective = reference_.collective,
                           .input = input.data(),
                           .output = result.data(),
                           .count = reference_.count,
                           .block_counts = reference_.block_counts,
                           .type = ElementType(subject_.handle),
                           .op = Operation(op_.handle),
                           .root = reference_.root}
                          .reproducible();
    if (round % 3 == 0) {
      caller.run(call);
    } else if (round % 3 == 1) {
      caller.start(call).wait();
    } else {
      Persistent persistent = caller.prepare(call);
      persistent.start();
      persistent.wait();
    }
    if (!in_place && input.elements() != input_before) return complain("the input was changed");
    const Vector after = result.elements();
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (!is_data_[i % is_data_.size()] && after[i] != before[i]) {
        return complain("what lies between data was written");
      }
    }
    return complaint_of(after, member);
  }

 private:
  std::string complaint_of(const Vector& result, std::size_t member) const {
    const int rank = static_cast<int>(member);
    const std::optional<Vector> expected = order_.result(reference_.collective, inputs_, member);
    const std::size_t begin = reference_.output_begin(rank) * subject_.size_bytes;
    for (std::size_t i = 0; i < reference_.output_size(rank); ++i) {
      const std::size_t offset = i * subject_.size_bytes;
      if (subject_.is_equal(result.data() + offset, expected->data() + begin + offset)) continue;
      return complain(fmt::format("element {} of member {} is wrong", i, rank));
    }
    return "";
  }

  std::string complain(const std::string& what) const {
    return fmt::format("{} of {} by {}, {} members: {}", name_of(reference_.collective),
                       subject_.name, op_.name, reference_.member_count, what);
  }

  const ReductionSubject& subject_;
  NamedOp op_;
  CollectiveReference reference_;
  FoldOrder<Vector> order_;
  std::vector<bool> is_data_;
  std::vector<Vector> inputs_;
};

template <class Caller>
std::string try_all_types(Caller& caller, const std::vector<int>& members_of_node) {
  std::string first;
  int round = 0;
  // A root, and one kind of blocks, say enough about types.
  std::vector<CollectiveReference> references = references_of_all(caller.size(), kCount);
  std::erase_if(references, [&](const CollectiveReference& reference) {
    return !combines(reference.collective) ||
           (reference.collective == Collective::reduce && reference.root != caller.size() - 1) ||
           (reference.collective == Collective::reduce_scatter && reference.block_counts.empty());
  });
  const std::vector<ReductionSubject> subjects = all_subjects();
  for (const ReductionSubject& subject : subjects) {
    for (const NamedOp& op : all_operators()) {
      const bool is_allowed =
          std::find(subject.allowed.begin(), subject.allowed.end(), op.op) != subject.allowed.end();
      for (const CollectiveReference& reference : references) {
        const TypedCall call(subject, op, reference, members_of_node);
        ++round;
        if (is_allowed) {
          note(first, call.run(caller, round));
          continue;
        }
        try {
          note(first, call.run(caller, round) +
                          fmt::format("{} by {} was not refused", subject.name, op.name));
        } catch (const Error& error) {
          const std::string text = error.what();
          if (error.kind() != ErrorKind::invalid_argument ||
              text.find("is not defined for type") == std::string::npos) {
            note(first, text);
          }
        }
      }
    }
  }
  return first;
}

TEST_CASE("one member per process") {
  Communicator communicator(MPI_COMM_WORLD);
  const std::vector<int> nodes(static_cast<std::size_t>(communicator.size()), 1);
  CHECK(try_all_types(communicator, nodes) == "");
}

TEST_CASE("every thread is a member") {
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> nodes;
  for (int node = 0; node < size; ++node) nodes.push_back(1 + (node + 1) % 2);
  Team team(MPI_COMM_WORLD, nodes[static_cast<std::size_t>(rank)]);
  CHECK(in_every_thread(team, [&](Member& member) { return try_all_types(member, nodes); }) == "");
}

}  // namespace predefined_types_mpi_test
}  // namespace hycoll::tests
