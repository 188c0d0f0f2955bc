#include "tests/preload/reductions/type_layouts.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/preload/support/persistent_operation.h"
#include "tests/preload/support/programs.h"
#include "tests/support/guarded_memory.h"

namespace programs {
namespace {

constexpr std::byte kPoison{0x6d};

/// x -> factor * x + addend, modulo 2^32: composition is associative and does not commute.
struct Affine {
  std::uint32_t factor;
  std::uint32_t addend;
  friend bool operator==(const Affine&, const Affine&) = default;
};
Affine composed(const Affine& left, const Affine& right) {
  return {left.factor * right.factor, left.factor * right.addend + left.addend};
}
Affine affine_of(int rank, std::size_t index, int round) {
  const std::uint64_t value = value_of(rank, index, static_cast<std::uint64_t>(round));
  return {static_cast<std::uint32_t>(value) | 1, static_cast<std::uint32_t>(value >> 32)};
}
/// Of the processes [0, end).
Affine composed_of_all(int end, std::size_t index, int round) {
  Affine result = affine_of(0, index, round);
  for (int rank = 1; rank < end; ++rank) result = composed(result, affine_of(rank, index, round));
  return result;
}

/// Where the two numbers of an element lie from its origin, and the distance of elements.
struct Layout {
  std::ptrdiff_t factor_at;
  std::ptrdiff_t addend_at;
  std::ptrdiff_t lower_bound;
  std::ptrdiff_t extent;
};
constexpr std::array kLayouts = {
    Layout{0, 4, 0, 8},   Layout{4, 0, 0, 8},     Layout{0, 4, 0, 12},
    Layout{0, 20, 0, 24}, Layout{12, -8, -8, 28}, Layout{100, 104, 0, 8},
    Layout{7, 1, 0, 13},  Layout{0, 4, 0, 400},   Layout{0, 4'096, 0, 4},  // not for many elements
};

/// What the operator is called for on this process.
Layout current_layout;
MPI_Datatype current_type = MPI_DATATYPE_NULL;

std::byte* displaced(void* origin, std::ptrdiff_t bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(origin) +
                                      static_cast<std::uintptr_t>(bytes));
}
Affine load(void* origin, std::size_t index) {
  std::byte* const element =
      displaced(origin, static_cast<std::ptrdiff_t>(index) * current_layout.extent);
  Affine value{};
  std::memcpy(&value.factor, displaced(element, current_layout.factor_at), 4);
  std::memcpy(&value.addend, displaced(element, current_layout.addend_at), 4);
  return value;
}
void store(void* origin, std::size_t index, const Affine& value) {
  std::byte* const element =
      displaced(origin, static_cast<std::ptrdiff_t>(index) * current_layout.extent);
  std::memcpy(displaced(element, current_layout.factor_at), &value.factor, 4);
  std::memcpy(displaced(element, current_layout.addend_at), &value.addend, 4);
}

void compose(void* left, void* right, int* count, MPI_Datatype* type) {
  REQUIRE_HERE(*type == current_type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(*count); ++i) {
    store(right, i, composed(load(left, i), load(right, i)));
  }
}

/// Elements of this process's layout in memory of their own; absolute: MPI is told MPI_BOTTOM.
class Elements {
 public:
  Elements(const Layout& layout, std::size_t count, bool is_absolute)
      : relative_(layout),
        count_(count),
        bytes_(count * static_cast<std::size_t>(layout.extent) + 5'000, kPoison),
        is_absolute_(is_absolute) {}

  /// From its begin there is room below.
  std::byte* begin() { return bytes_.data() + 64; }
  void* address() { return is_absolute_ ? MPI_BOTTOM : begin(); }

  /// As the type describes it.
  Layout layout() {
    Layout layout = relative_;
    if (!is_absolute_) return layout;
    MPI_Aint at = 0;
    MPI_Get_address(begin(), &at);
    layout.factor_at += at;
    layout.addend_at += at;
    layout.lower_bound += at;
    return layout;
  }

  bool is_clean_elsewhere() {
    std::vector<std::byte> rest = bytes_;
    for (std::size_t i = 0; i < count_; ++i) {
      const std::ptrdiff_t origin = 64 + static_cast<std::ptrdiff_t>(i) * relative_.extent;
      for (const std::ptrdiff_t at : {relative_.factor_at, relative_.addend_at}) {
        std::memset(rest.data() + origin + at, static_cast<int>(kPoison), 4);
      }
    }
    return rest == std::vector<std::byte>(rest.size(), kPoison);
  }

 private:
  Layout relative_;
  std::size_t count_;
  std::vector<std::byte> bytes_;
  bool is_absolute_;
};

MPI_Datatype type_of(const Layout& layout) {
  const std::array<MPI_Aint, 2> places = {layout.factor_at, layout.addend_at};
  MPI_Datatype numbers = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(2, 1, places.data(), MPI_UINT32_T, &numbers);
  MPI_Type_create_resized(numbers, layout.lower_bound, layout.extent, &type);
  MPI_Type_free(&numbers);
  MPI_Type_commit(&type);
  return type;
}

constexpr int kReductions = 6;

/// One reduction; which one and where the round says, and by which layout the
/// process, too.
void reduce_own_layout(MPI_Comm communicator, MPI_Op op, int round, std::size_t count) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  const int kind = round % kReductions;
  const bool has_blocks = kind >= 4;
  const bool in_place = round / kReductions % 2 == 1;
  const auto drawn =
      static_cast<std::size_t>(value_of(rank, 99, static_cast<std::uint64_t>(round)));
  const std::size_t input_count = has_blocks ? count * static_cast<std::size_t>(size) : count;
  const Layout layout = kLayouts[drawn % (kLayouts.size() - (input_count > 1'000 ? 2 : 0))];
  Elements input(layout, input_count, in_place && drawn / 16 % 2 == 1);
  Elements output(layout, count, false);
  current_layout = input.layout();
  current_type = type_of(current_layout);
  for (std::size_t i = 0; i < input_count; ++i)
    store(input.address(), i, affine_of(rank, i, round));

  const int root = round % size;
  const int n = static_cast<int>(count);
  const std::vector<int> counts(static_cast<std::size_t>(size), n);
  const bool is_input_named = !in_place || (kind == 1 && rank != root);
  const void* const from = is_input_named ? input.address() : MPI_IN_PLACE;
  void* const to = in_place ? input.address() : output.begin();
  MPI_Datatype type = current_type;
  switch (kind) {
    case 0:
      MPI_Allreduce(from, to, n, type, op, communicator);
      break;
    case 1:
      MPI_Reduce(from, to, n, type, op, root, communicator);
      break;
    case 2:
      MPI_Scan(from, to, n, type, op, communicator);
      break;
    case 3:
      MPI_Exscan(from, to, n, type, op, communicator);
      break;
    case 4:
      MPI_Reduce_scatter_block(from, to, n, type, op, communicator);
      break;
    default:
      MPI_Reduce_scatter(from, to, counts.data(), type, op, communicator);
  }

  const bool has_result = (kind != 1 || rank == root) && (kind != 3 || rank > 0);
  const int end = kind == 2 ? rank + 1 : kind == 3 ? rank : size;
  const std::size_t first = has_blocks ? count * static_cast<std::size_t>(rank) : 0;
  for (std::size_t i = 0; has_result && i < count; ++i) {
    REQUIRE_HERE(load(to, i) == composed_of_all(end, first + i, round));
  }
  for (std::size_t i = 0; !in_place && i < input_count; ++i) {
    REQUIRE_HERE(load(input.begin(), i) == affine_of(rank, i, round));
  }
  REQUIRE_HERE(input.is_clean_elsewhere());
  REQUIRE_HERE(output.is_clean_elsewhere());
  MPI_Type_free(&type);
}

/// Elements up to their last byte of data, behind which nobody may look.
class PaddedElements {
 public:
  PaddedElements(MPI_Datatype type, int count)
      : type_(type), count_(count), memory_(used_bytes(type, count), kPoison) {}

  void* data() { return memory_.data(); }

  /// Of small numbers, whatever they are: those of pairs are ordered.
  void fill(int rank, int round) {
    const std::vector<std::byte> data = packed_of(type_, count_, rank, round);
    int end = 0;
    MPI_Unpack(data.data(), static_cast<int>(data.size()), &end, memory_.data(), count_, type_,
               MPI_COMM_SELF);
  }
  std::vector<std::byte> packed() {
    std::vector<std::byte> data(packed_bytes(type_, count_));
    int end = 0;
    MPI_Pack(memory_.data(), count_, type_, data.data(), static_cast<int>(data.size()), &end,
             MPI_COMM_SELF);
    return data;
  }
  static std::vector<std::byte> packed_of(MPI_Datatype type, int count, int rank, int round) {
    std::vector<std::byte> data(packed_bytes(type, count));
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<std::byte>(value_of(rank, i, static_cast<std::uint64_t>(round)) % 100);
    }
    return data;
  }

  /// Whether what is not data is as it was.
  bool has_padding() {
    std::vector<std::byte> rest(memory_.size() + 64);
    std::memcpy(rest.data(), memory_.data(), memory_.size());
    const std::vector<std::byte> poison(packed_bytes(type_, count_), kPoison);
    int end = 0;
    MPI_Unpack(poison.data(), static_cast<int>(poison.size()), &end, rest.data(), count_, type_,
               MPI_COMM_SELF);
    rest.resize(memory_.size());
    return rest == std::vector<std::byte>(rest.size(), kPoison);
  }

 private:
  static std::size_t packed_bytes(MPI_Datatype type, int count) {
    int size_bytes = 0;
    MPI_Type_size(type, &size_bytes);
    return static_cast<std::size_t>(size_bytes) * static_cast<std::size_t>(count);
  }
  static std::size_t used_bytes(MPI_Datatype type, int count) {
    MPI_Aint lowest = 0;
    MPI_Aint extent = 0;
    MPI_Aint true_extent = 0;
    MPI_Type_get_extent(type, &lowest, &extent);
    MPI_Type_get_true_extent(type, &lowest, &true_extent);
    return static_cast<std::size_t>((count - 1) * extent + true_extent);
  }

  MPI_Datatype type_;
  int count_;
  GuardedMemory memory_;
};

/// Pairs as structs, by arithmetic that owes nothing to MPI.
template <class Value>
void check_largest(MPI_Datatype type, MPI_Comm communicator, int count) {
  struct Pair {
    Value value;
    int index;
  };
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  const auto value_at = [&](int of, int i) { return static_cast<Value>((of * 7 + i * 3) % 5); };
  PaddedElements input(type, count);
  PaddedElements output(type, count);
  const std::size_t stride = sizeof(Pair);
  for (int i = 0; i < count; ++i) {
    auto* const element =
        static_cast<std::byte*>(input.data()) + static_cast<std::size_t>(i) * stride;
    const Value value = value_at(rank, i);
    std::memcpy(element, &value, sizeof(value));
    std::memcpy(element + offsetof(Pair, index), &rank, sizeof(rank));
  }
  for (int round = 0; round < 3; ++round) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (round == 0) {
      MPI_Allreduce(input.data(), output.data(), count, type, MPI_MAXLOC, communicator);
    } else if (round == 1) {
      MPI_Iallreduce(input.data(), output.data(), count, type, MPI_MAXLOC, communicator, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      PERSISTENT(Allreduce)
      (input.data(), output.data(), count, type, MPI_MAXLOC, communicator, MPI_INFO_NULL, &request);
      for (int start = 0; start < 2; ++start) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
      MPI_Request_free(&request);
    }
    for (int i = 0; i < count; ++i) {
      int best = 0;
      for (int of = 1; of < size; ++of) {
        if (value_at(of, i) > value_at(best, i)) best = of;
      }
      const auto* const element =
          static_cast<const std::byte*>(output.data()) + static_cast<std::size_t>(i) * stride;
      Value value;
      int index = -1;
      std::memcpy(&value, element, sizeof(value));
      std::memcpy(&index, element + offsetof(Pair, index), sizeof(index));
      REQUIRE_HERE(value == value_at(best, i) && index == best);
    }
    REQUIRE_HERE(output.has_padding());
  }
  MPI_Reduce_scatter_block(MPI_IN_PLACE, output.data(), count / size, type, MPI_MINLOC,
                           communicator);
  MPI_Scan(MPI_IN_PLACE, output.data(), count, type, MPI_MINLOC, communicator);
  REQUIRE_HERE(output.has_padding());
}

/// What the blocks of a type are after they have been moved, blocking or not.
void check_movements(MPI_Datatype type, MPI_Comm communicator, int count, int round) {
  const int rank = rank_of(communicator);
  const int size = size_of(communicator);
  const int root = round % size;
  PaddedElements block(type, count);
  block.fill(rank, round);
  PaddedElements all(type, count * size);
  std::vector<std::byte> expected;
  for (int of = 0; of < size; ++of) {
    const std::vector<std::byte> data = PaddedElements::packed_of(type, count, of, round);
    expected.insert(expected.end(), data.begin(), data.end());
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (round % 2 == 0) {
    MPI_Allgather(block.data(), count, type, all.data(), count, type, communicator);
  } else {
    MPI_Iallgather(block.data(), count, type, all.data(), count, type, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  REQUIRE_HERE(all.packed() == expected && all.has_padding());
  PaddedElements gathered(type, count * size);
  MPI_Gather(block.data(), count, type, gathered.data(), count, type, root, communicator);
  if (rank == root) REQUIRE_HERE(gathered.packed() == expected);
  PaddedElements scattered(type, count);
  MPI_Scatter(all.data(), count, type, scattered.data(), count, type, root, communicator);
  REQUIRE_HERE(scattered.packed() == block.packed() && scattered.has_padding());
  PaddedElements exchanged(type, count * size);
  MPI_Alltoall(all.data(), count, type, exchanged.data(), count, type, communicator);
  REQUIRE_HERE(gathered.has_padding() && exchanged.has_padding());
  PaddedElements told(type, count);
  if (rank == root) told.fill(root, round);
  if (round % 2 == 0) {
    MPI_Bcast(told.data(), count, type, root, communicator);
  } else {
    MPI_Ibcast(told.data(), count, type, root, communicator, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  REQUIRE_HERE(told.packed() == PaddedElements::packed_of(type, count, root, round));
  REQUIRE_HERE(told.has_padding());
}

/// Operands of no bytes have addresses of their own, too: MPICH refuses equal ones.
void find_apart(void* left, void* right, int* /*count*/, MPI_Datatype* /*type*/) {
  REQUIRE_HERE(left != right);
}

void reduce_elements_of_no_bytes(MPI_Comm communicator) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&find_apart, 1, &op);
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  const int input = 7;
  int output = -1;
  MPI_Allreduce(&input, &output, 3, nothing, op, communicator);
  MPI_Scan(&input, &output, 3, nothing, op, communicator);
  MPI_Reduce_scatter_block(&input, &output, 3, nothing, op, communicator);
  REQUIRE_HERE(output == -1);
  MPI_Type_free(&nothing);
  MPI_Op_free(&op);
}

}  // namespace

void reduce_own_layouts(MPI_Comm communicator) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(&compose, 0, &op);
  for (int round = 0; round < 10 * kReductions; ++round) {
    reduce_own_layout(communicator, op, round, round % 3 == 0 ? 1 : 300);
  }
  // In pieces.
  for (const int round : {60, 71}) {
    reduce_own_layout(communicator, op, round, (std::size_t{1} << 20) + 5);
  }
  MPI_Op_free(&op);
  reduce_elements_of_no_bytes(communicator);
}

void leave_padding_alone(MPI_Comm communicator) {
  for (const int count : {6, 600}) {
    check_largest<double>(MPI_DOUBLE_INT, communicator, count);
    check_largest<short>(MPI_SHORT_INT, communicator, count);
    check_largest<long>(MPI_LONG_INT, communicator, count);
    check_largest<long double>(MPI_LONG_DOUBLE_INT, communicator, count);
    check_largest<float>(MPI_FLOAT_INT, communicator, count);
    check_largest<int>(MPI_2INT, communicator, count);
  }
  MPI_Datatype with_gap = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 12, &with_gap);
  MPI_Type_commit(&with_gap);
  for (const MPI_Datatype type : {MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_LONG_INT, MPI_LONG_DOUBLE_INT,
                                  MPI_2INT, MPI_LONG_DOUBLE, with_gap}) {
    for (int round = 0; round < 6; ++round) {
      check_movements(type, communicator, round < 3 ? 1 : 500, round);
    }
  }
  MPI_Type_free(&with_gap);
}

}  // namespace programs
