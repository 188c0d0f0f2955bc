// User-defined operators, commutative or not, on derived datatypes with gaps, interleaved or with
// data before their origin, alike on all members or not, in all collectives and forms, in both
// layouts.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/collective_traits.h"
#include "tests/support/call_sweeps.h"

namespace hycoll::tests {
namespace user_operators_mpi_test {

/// 2 x 2, modulo 2^32: products are associative and not commutative.
using Matrix = std::array<std::uint32_t, 4>;

Matrix product(const Matrix& a, const Matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],  //
          a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
}

Matrix sum(const Matrix& a, const Matrix& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

using Combine = Matrix (*)(const Matrix&, const Matrix&);

/// Where the entries of a matrix lie, from its origin, and the distance of matrices.
struct Layout {
  const char* name;
  std::array<std::ptrdiff_t, 4> offsets;
  std::ptrdiff_t lower_bound;
  std::ptrdiff_t extent;
};

constexpr std::array kLayouts = {
    Layout{"contiguous", {0, 4, 8, 12}, 0, 16},
    Layout{"with gaps", {0, 8, 16, 24}, 0, 32},
    Layout{"reordered", {12, 0, 8, 4}, 0, 20},
    Layout{"interleaved", {0, 4'096, 8'192, 12'288}, 0, 4},
    Layout{"before its origin", {-8, -4, 4, 16}, -8, 28},
    Layout{"backwards", {0, 4, 8, 12}, 0, -24},
};

Matrix load(const Layout& layout, const std::byte* origin) {
  Matrix matrix;
  for (std::size_t k = 0; k < 4; ++k) std::memcpy(&matrix[k], origin + layout.offsets[k], 4);
  return matrix;
}

void store(const Layout& layout, std::byte* origin, const Matrix& matrix) {
  for (std::size_t k = 0; k < 4; ++k) std::memcpy(origin + layout.offsets[k], &matrix[k], 4);
}

void apply(const Layout& layout, Combine combine, const void* left, void* right,
           std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(i) * layout.extent;
    const std::byte* a = static_cast<const std::byte*>(left) + offset;
    std::byte* b = static_cast<std::byte*>(right) + offset;
    store(layout, b, combine(load(layout, a), load(layout, b)));
  }
}

/// As MPI_Op_create wants them: which layout a function is for must be known to it.
template <std::size_t number, Combine combine>
void mpi_function(void* left, void* right, int* count, MPI_Datatype*) {
  apply(kLayouts[number], combine, left, right, static_cast<std::size_t>(*count));
}

/// A datatype, and the operators on it.
class MatrixKind {
 public:
  MatrixKind(const Layout& layout, MPI_User_function* product_function,
             MPI_User_function* sum_function)
      : layout_(layout) {
    const std::array<int, 4> lengths = {1, 1, 1, 1};
    const std::array<MPI_Aint, 4> offsets = {layout.offsets[0], layout.offsets[1],
                                             layout.offsets[2], layout.offsets[3]};
    MPI_Datatype entries = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(4, lengths.data(), offsets.data(), MPI_UINT32_T, &entries);
    MPI_Type_create_resized(entries, layout.lower_bound, layout.extent, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&entries);
    MPI_Op_create(product_function, 0, &product_);
    MPI_Op_create(sum_function, 1, &sum_);
  }
  MatrixKind(const MatrixKind&) = delete;
  ~MatrixKind() {
    MPI_Op_free(&product_);
    MPI_Op_free(&sum_);
    MPI_Type_free(&type_);
  }

  struct NamedOperation {
    const char* name;
    Combine combine;
    Operation operation;
  };
  std::vector<NamedOperation> operations() const {
    const auto custom = [this](Combine combine) {
      return [this, combine](const void* left, void* right, std::size_t count) {
        apply(layout_, combine, left, right, count);
      };
    };
    using enum Commutativity;
    return {{"product of MPI_Op_create", product, Operation(product_)},
            {"sum of MPI_Op_create", sum, Operation(sum_)},
            {"custom product", product, Operation::custom(custom(product), non_commutative)},
            {"custom product in any thread", product,
             Operation::custom(custom(product), non_commutative, Concurrency::any_thread)},
            {"custom sum", sum, Operation::custom(custom(sum), commutative)}};
  }

  const Layout& layout() const { return layout_; }
  MPI_Datatype type() const { return type_; }

 private:
  const Layout& layout_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op product_ = MPI_OP_NULL;
  MPI_Op sum_ = MPI_OP_NULL;
};

/// A vector of matrices with room on both sides, poisoned.
class Vector {
 public:
  Vector(const Layout& layout, std::size_t count) : layout_(layout), count_(count) {
    const std::size_t spread =
        (count + 1) * static_cast<std::size_t>(std::abs(layout.extent)) + 16'384;
    bytes_.assign(2 * spread, kPoison);
    origin_ = spread / 16 * 16;
  }

  std::byte* origin() { return bytes_.data() + origin_; }
  std::byte* at(std::size_t index) {
    return origin() + static_cast<std::ptrdiff_t>(index) * layout_.extent;
  }
  void set(std::size_t index, const Matrix& matrix) { store(layout_, at(index), matrix); }
  Matrix get(std::size_t index) { return load(layout_, at(index)); }

  /// Whether nothing but the first `count` matrices is there.
  bool is_clean_after(std::size_t count) {
    std::vector<std::byte> rest = bytes_;
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::ptrdiff_t offset : layout_.offsets) {
        std::memset(rest.data() + (at(i) - bytes_.data()) + offset, static_cast<int>(kPoison), 4);
      }
    }
    return rest == std::vector<std::byte>(rest.size(), kPoison);
  }
  bool is_clean() { return is_clean_after(count_); }

 private:
  static constexpr std::byte kPoison{0x5b};
  const Layout& layout_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
  std::size_t origin_;
};

Matrix element(int member, std::size_t index, int round) {
  const auto m = static_cast<std::uint32_t>(member + 2);
  const auto i = static_cast<std::uint32_t>(index);
  return {m, i + 1, static_cast<std::uint32_t>(round) + m * i, 2 * m + 1};
}

/// Element i of what the member gets.
Matrix expected(const CollectiveReference& reference, Combine combine, int member,
                std::size_t index, int round) {
  int last = reference.member_count - 1;
  if (reference.collective == Collective::scan) last = member;
  if (reference.collective == Collective::exscan) last = member - 1;
  const std::size_t i = reference.output_begin(member) + index;
  Matrix result = element(0, i, round);
  for (int m = 1; m <= last; ++m) result = combine(result, element(m, i, round));
  return result;
}

/// One call; the round says in which form and where. The complaint.
template <class Caller>
std::string try_call(Caller& caller, const MatrixKind& kind,
                     const MatrixKind::NamedOperation& operation,
                     const CollectiveReference& reference, int round) {
  const int member = caller.rank();
  const bool in_place = round / 3 % 2 == 1;
  const std::size_t output_size = reference.output_size(member);
  Vector input(kind.layout(), reference.input_size(member));
  Vector output(kind.layout(), output_size);
  for (std::size_t i = 0; i < reference.input_size(member); ++i) {
    input.set(i, element(member, i, round));
  }
  Call call{.collective = reference.collective,
            .input = input.origin(),
            .output = in_place ? input.origin() : output.origin(),
            .count = reference.count,
            .block_counts = reference.block_counts,
            .type = ElementType(kind.type()),
            .op = operation.operation,
            .root = reference.root};
  if (round % 5 == 0) call = call.reproducible();
  if (round % 3 == 0) {
    caller.run(call);
  } else if (round % 3 == 1) {
    caller.start(call).wait();
  } else {
    Persistent persistent = caller.prepare(call);
    persistent.start();
    persistent.wait();
  }
  const auto complain = [&](const std::string& what) {
    return fmt::format("{} of {} matrices {}, {}, round {}, member {} of {}: {}",
                       name_of(reference.collective), reference.count, kind.layout().name,
                       operation.name, round, member, caller.size(), what);
  };
  Vector& result = in_place ? input : output;
  for (std::size_t i = 0; i < output_size; ++i) {
    if (result.get(i) != expected(reference, operation.combine, member, i, round)) {
      return complain(fmt::format("element {} is wrong", i));
    }
  }
  for (std::size_t i = 0; i < reference.input_size(member) && !in_place; ++i) {
    if (input.get(i) != element(member, i, round)) return complain("the input was changed");
  }
  if (!input.is_clean()) return complain("something beside the input's data was written");
  if (!output.is_clean()) return complain("something beside the output's data was written");
  return "";
}

template <class Caller>
std::string try_kind(Caller& caller, const MatrixKind& kind) {
  std::string first;
  int round = 0;
  for (const MatrixKind::NamedOperation& operation : kind.operations()) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{700}}) {
      for (const CollectiveReference& reference : references_of_all(caller.size(), count)) {
        if (!combines(reference.collective)) continue;
        note(first, try_call(caller, kind, operation, reference, ++round));
      }
    }
  }
  return first;
}

/// What a member lays its matrices out by, each time: as all others do, or in a way of its own.
class KindsOfMembers {
 public:
  KindsOfMembers() {
    const auto make_all = [this]<std::size_t... number>(std::index_sequence<number...>) {
      (kinds_.push_back(std::make_unique<MatrixKind>(
           kLayouts[number], mpi_function<number, product>, mpi_function<number, sum>)),
       ...);
    };
    make_all(std::make_index_sequence<kLayouts.size()>());
  }

  /// The first complaint of one member.
  template <class Caller>
  std::string try_all(Caller& caller) const {
    std::string first;
    for (const auto& kind : kinds_) note(first, try_kind(caller, *kind));
    const auto member = static_cast<std::size_t>(caller.rank());
    for (const std::size_t shift : {0, 2}) {
      note(first, try_kind(caller, *kinds_[(member + shift) % kinds_.size()]));
    }
    return first;
  }

 private:
  std::vector<std::unique_ptr<MatrixKind>> kinds_;
};

TEST_CASE("one member per process") {
  for (const int workers : {1, 2}) {
    Options options = Options::from_environment();
    options.workers = workers;
    Communicator communicator(MPI_COMM_WORLD, options);
    CHECK(KindsOfMembers().try_all(communicator) == "");
  }
}

TEST_CASE("every thread is a member") {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Team team(MPI_COMM_WORLD, 1 + (rank + 1) % 2);
  const KindsOfMembers kinds;
  CHECK(in_every_thread(team, [&](Member& member) { return kinds.try_all(member); }) == "");
}

}  // namespace user_operators_mpi_test
}  // namespace hycoll::tests
