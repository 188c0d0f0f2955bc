// Every predefined type with every operator: those that MPI allows together against arithmetic of
// this file's own, the others against the error. Without communication.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "collectives/mpi_reducer.h"
#include "collectives/reduction.h"
#include "core/errors.h"
#include "tests/reduction_subjects.h"

namespace {

using hycoll::Error;
using hycoll::ErrorKind;
using hycoll::Reduction;
using hycoll::resolve_reduction;
using hycoll::testing::all_operators;
using hycoll::testing::all_subjects;
using hycoll::testing::NamedOp;
using Op = hycoll::testing::ReductionOp;
using Subject = hycoll::testing::ReductionSubject;

/// Which source the destinations are the same memory as; -1 for none.
struct Arrangement {
  int source_count;
  int destination_count;
  int first_destination_is_source;
  int second_destination_is_source;
};

/// Every way to lay out up to 5 sources and 3 destinations with at most two of them the same.
std::vector<Arrangement> all_arrangements() {
  std::vector<Arrangement> arrangements;
  for (int sources = 1; sources <= 5; ++sources) {
    for (int destinations = 1; destinations <= 3; ++destinations) {
      for (int first = -1; first < sources; ++first) {
        for (int second = -1; second < (destinations > 1 ? sources : 0); ++second) {
          if (first != -1 && first == second) continue;
          arrangements.push_back({sources, destinations, first, second});
        }
      }
    }
  }
  return arrangements;
}

constexpr std::size_t kGuardBytes = 64;
constexpr std::byte kPoison{0xa7};

/// A vector between guards.
class Buffer {
 public:
  explicit Buffer(std::size_t size_bytes)
      : size_bytes_(size_bytes), memory_(size_bytes + 2 * kGuardBytes, kPoison) {}
  std::byte* data() { return memory_.data() + kGuardBytes; }
  bool has_guards() const {
    const auto is_poison = [](std::byte byte) { return byte == kPoison; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuardBytes, is_poison) &&
           std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + size_bytes_),
                       memory_.end(), is_poison);
  }

 private:
  std::size_t size_bytes_;
  std::vector<std::byte> memory_;
};

/// One reduction: its operands, what is expected, and what came of it.
class Trial {
 public:
  Trial(const Subject& subject, Op op, const Arrangement& arrangement, std::size_t count)
      : subject_(subject),
        count_(count),
        size_bytes_(count * subject.size_bytes),
        sources_(static_cast<std::size_t>(arrangement.source_count), Buffer(size_bytes_)),
        destinations_(static_cast<std::size_t>(arrangement.destination_count),
                      Buffer(size_bytes_)) {
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      fill(sources_[index], index);
      source_addresses_.push_back(sources_[index].data());
    }
    expected_.assign(sources_[0].data(), sources_[0].data() + size_bytes_);
    for (std::size_t index = 1; index < sources_.size(); ++index) {
      subject.fold_into_left(op, sources_[index].data(), expected_.data(), count);
    }
    for (Buffer& destination : destinations_) addresses_.push_back(destination.data());
    use_source_as_destination(0, arrangement.first_destination_is_source);
    use_source_as_destination(1, arrangement.second_destination_is_source);
  }

  /// Reduces and returns what is wrong; empty if nothing is.
  std::string run(const hycoll::Reducer& reducer) {
    reducer(addresses_, source_addresses_, count_, hycoll::Stores::cached);
    for (std::size_t number = 0; number < addresses_.size(); ++number) {
      if (differs(static_cast<const std::byte*>(addresses_[number]), expected_.data())) {
        return fmt::format("destination {} of {} elements is wrong", number, count_);
      }
    }
    for (const auto* buffers : {&sources_, &destinations_}) {
      for (const Buffer& buffer : *buffers) {
        if (!buffer.has_guards()) return "bytes beside a buffer were written";
      }
    }
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      if (std::find(addresses_.begin(), addresses_.end(), source_addresses_[index]) !=
          addresses_.end()) {
        continue;
      }
      Buffer original(size_bytes_);
      fill(original, index);
      if (differs(original.data(), sources_[index].data())) {
        return fmt::format("source {} was changed", index);
      }
    }
    return "";
  }

 private:
  void fill(Buffer& buffer, std::size_t source) const {
    subject_.fill(buffer.data(), count_, 1000 * count_ + source);
  }

  void use_source_as_destination(std::size_t destination, int source) {
    if (source >= 0) addresses_[destination] = sources_[static_cast<std::size_t>(source)].data();
  }

  bool differs(const std::byte* left, const std::byte* right) const {
    for (std::size_t offset = 0; offset < size_bytes_; offset += subject_.size_bytes) {
      if (!subject_.is_equal(left + offset, right + offset)) return true;
    }
    return false;
  }

  const Subject& subject_;
  std::size_t count_;
  std::size_t size_bytes_;
  std::vector<Buffer> sources_;
  std::vector<Buffer> destinations_;
  std::vector<const void*> source_addresses_;
  std::vector<void*> addresses_;
  std::vector<std::byte> expected_;
};

void check_arrangements(const Subject& subject, Op op, const Reduction& reduction,
                        const std::vector<Arrangement>& arrangements,
                        const std::vector<std::size_t>& counts) {
  for (const Arrangement& arrangement : arrangements) {
    for (const std::size_t count : counts) {
      const std::string wrong = Trial(subject, op, arrangement, count).run(reduction.reducer);
      if (wrong.empty()) continue;
      FAIL_CHECK(
          fmt::format("{} sources, {} destinations (the first is source {}, the second {}): {}",
                      arrangement.source_count, arrangement.destination_count,
                      arrangement.first_destination_is_source,
                      arrangement.second_destination_is_source, wrong));
      return;
    }
  }
}

/// The reducers fold blocks of 8 KiB.
std::vector<std::size_t> counts_around_a_block(std::size_t element_bytes) {
  const std::size_t block = 8192 / element_bytes;
  return {0, 1, 3, block - 1, block, block + 1, 2 * block + 1};
}

void check_refused(const Subject& subject, const NamedOp& op) {
  try {
    resolve_reduction(subject.handle, op.handle, "allreduce");
    FAIL_CHECK("not refused");
  } catch (const Error& error) {
    const std::string message = error.what();
    CAPTURE(message);
    CHECK(error.kind() == ErrorKind::invalid_argument);
    CHECK(message.starts_with("allreduce: "));
    CHECK(message.find(op.name) != std::string::npos);
    CHECK(message.find(hycoll::ElementType(subject.handle).name()) != std::string::npos);
  }
}

TEST_CASE("every operator that MPI allows on a type is right, and every other one is refused") {
  const std::vector<Arrangement> arrangements = {
      {1, 2, -1, -1}, {2, 1, -1, -1}, {2, 2, 0, -1}, {3, 2, 2, 0}, {5, 3, 1, 4}};
  std::size_t allowed_count = 0;
  std::size_t refused_count = 0;
  for (const Subject& subject : all_subjects()) {
    CAPTURE(subject.name);
    for (const NamedOp& op : all_operators()) {
      CAPTURE(op.name);
      if (std::find(subject.allowed.begin(), subject.allowed.end(), op.op) ==
          subject.allowed.end()) {
        check_refused(subject, op);
        ++refused_count;
        continue;
      }
      const Reduction reduction = resolve_reduction(subject.handle, op.handle, "allreduce");
      REQUIRE(reduction.element_bytes == subject.size_bytes);
      CHECK(reduction.is_commutative);
      CHECK(reduction.staging == nullptr);
      check_arrangements(subject, op.op, reduction, arrangements,
                         {1, 8192 / subject.size_bytes + 1});
      ++allowed_count;
    }
  }
  // 18 C integers with 10 operators, 9 Fortran and multi-language ones with 7, ...
  CHECK(allowed_count >= 18 * 10 + 9 * 7 + 3 + 9 * 4 + 13 * 2 + 3 * 3 + 9 * 2);
  CHECK(refused_count > allowed_count);
}

TEST_CASE("foreign reducers keep order, aliases and neighbours for any number of operands") {
  struct Sample {
    MPI_Datatype type;
    NamedOp op;
  };
  const std::vector<Sample> samples = {
      {MPI_LONG_DOUBLE, {Op::sum, MPI_SUM, "MPI_SUM"}},
      {MPI_SHORT_INT, {Op::maxloc, MPI_MAXLOC, "MPI_MAXLOC"}},
      {MPI_LOGICAL, {Op::lxor, MPI_LXOR, "MPI_LXOR"}},
      {MPI_C_FLOAT_COMPLEX, {Op::sum, MPI_SUM, "MPI_SUM"}},
      {MPI_REAL16, {Op::sum, MPI_SUM, "MPI_SUM"}},
  };
  const std::vector<Arrangement> arrangements = all_arrangements();
  const std::vector<Subject> subjects = all_subjects();
  for (const Sample& sample : samples) {
    const auto subject = std::find_if(subjects.begin(), subjects.end(), [&](const Subject& other) {
      return other.handle == sample.type;
    });
    REQUIRE(subject != subjects.end());
    CAPTURE(subject->name);
    const Reduction reduction = resolve_reduction(sample.type, sample.op.handle, "reduce");
    CHECK_FALSE(reduction.data_type.has_value());
    CHECK(reduction.reducer.foreign == reduction.foreign_owner.get());
    check_arrangements(*subject, sample.op.op, reduction, arrangements,
                       counts_around_a_block(subject->size_bytes));
  }
}

TEST_CASE("the expectations of this test can fail") {
  const std::vector<Subject> subjects = all_subjects();
  const auto subject = std::find_if(subjects.begin(), subjects.end(), [](const Subject& other) {
    return other.handle == MPI_LONG_DOUBLE;
  });
  REQUIRE(subject != subjects.end());
  const Reduction maximum = resolve_reduction(MPI_LONG_DOUBLE, MPI_MAX, "allreduce");
  CHECK_FALSE(Trial(*subject, Op::sum, {3, 1, -1, -1}, 100).run(maximum.reducer).empty());
}

}  // namespace
