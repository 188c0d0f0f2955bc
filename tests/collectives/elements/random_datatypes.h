#ifndef HYCOLL_TESTS_COLLECTIVES_ELEMENTS_RANDOM_DATATYPES_H_
#define HYCOLL_TESTS_COLLECTIVES_ELEMENTS_RANDOM_DATATYPES_H_

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

// Datatypes that nobody would think of, for tests that know MPI only.

namespace random_datatypes {

/// The memory that elements of a datatype take, filled with one byte. At least a byte.
class Memory {
 public:
  Memory(MPI_Datatype type, int count, std::byte fill) {
    MPI_Datatype all = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, type, &all);
    MPI_Aint lowest = 0;
    MPI_Aint span = 0;
    MPI_Type_get_true_extent(all, &lowest, &span);
    MPI_Type_free(&all);
    lowest_ = lowest;
    bytes_.assign(static_cast<std::size_t>(std::max<MPI_Aint>(span, 1)), fill);
  }

  /// What MPI is told; need not lie in the memory.
  void* origin() noexcept {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(bytes_.data()) -
                                   static_cast<std::uintptr_t>(lowest_));
  }
  std::vector<std::byte>& bytes() noexcept { return bytes_; }
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::ptrdiff_t lowest_ = 0;
  std::vector<std::byte> bytes_;
};

inline std::size_t size_of(MPI_Datatype type) {
  int size_bytes = 0;
  MPI_Type_size(type, &size_bytes);
  return static_cast<std::size_t>(size_bytes);
}

/// What the elements are when packed.
inline std::vector<std::byte> packed(MPI_Datatype type, int count, Memory& memory) {
  std::vector<std::byte> bytes(size_of(type) * static_cast<std::size_t>(count));
  int end = 0;
  MPI_Pack(memory.origin(), count, type, bytes.data(), static_cast<int>(bytes.size()), &end,
           MPI_COMM_SELF);
  return bytes;
}

/// The reverse.
inline void unpack(const std::vector<std::byte>& bytes, MPI_Datatype type, int count,
                   Memory& memory) {
  int end = 0;
  MPI_Unpack(bytes.data(), static_cast<int>(bytes.size()), &end, memory.origin(), count, type,
             MPI_COMM_SELF);
}

/// Whether some byte is named twice, so that nothing may be received into the elements.
inline bool overlaps(MPI_Datatype type, int count) {
  Memory memory(type, count, std::byte{0});
  const std::vector<std::byte> ones(size_of(type) * static_cast<std::size_t>(count), std::byte{1});
  unpack(ones, type, count, memory);
  const auto written = std::count(memory.bytes().begin(), memory.bytes().end(), std::byte{1});
  return static_cast<std::size_t>(written) != ones.size();
}

/// Draws trees of datatypes over one base type: gaps, overlaps, any order, negative strides. All
/// that it returns is committed and to be freed.
///
/// No negative extents: of several elements of such types MPICH 4.0.2 packs memory that is not
/// theirs. No parts without data: MPICH 4.0.2 divides by their size, Open MPI 4.1.4 makes no arrays
/// of them.
class Generator {
 public:
  Generator(std::uint64_t seed, MPI_Datatype base) : random_(seed), base_(base) {
    MPI_Aint lower_bound = 0;
    MPI_Type_get_extent(base, &lower_bound, &base_extent_);
  }

  /// Any.
  MPI_Datatype draw() { return committed(tree(static_cast<int>(draw(4)))); }

  /// One whose elements consist of `elements` of the base type. Without overlaps if `distinct`.
  MPI_Datatype draw_of(int elements, bool distinct) {
    for (;;) {
      MPI_Datatype type = filled_up(tree(static_cast<int>(1 + draw(3))), elements);
      if (type == MPI_DATATYPE_NULL) continue;
      if (!distinct || !overlaps(type, 1)) return type;
      MPI_Type_free(&type);
    }
  }

  std::uint64_t draw(std::uint64_t limit) { return random_() % limit; }

 private:
  static constexpr int kMost = 4;  // blocks of a type

  int between(int least, int most) {
    return least + static_cast<int>(draw(static_cast<std::uint64_t>(most - least + 1)));
  }

  static MPI_Datatype committed(MPI_Datatype type) {
    MPI_Type_commit(&type);
    return type;
  }

  /// As many of the part as fit, and the base type for the rest; frees the part. Null if the part
  /// has no data, or more than that.
  MPI_Datatype filled_up(MPI_Datatype part, int elements) {
    const int unit = static_cast<int>(size_of(part) / size_of(base_));
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (unit > 0 && unit <= elements) {
      const std::array<int, 2> lengths = {elements / unit, elements % unit};
      MPI_Datatype repeated = MPI_DATATYPE_NULL;
      MPI_Type_contiguous(lengths[0], part, &repeated);
      MPI_Aint lowest = 0;
      MPI_Aint span = 0;
      MPI_Type_get_true_extent(repeated, &lowest, &span);
      MPI_Type_free(&repeated);
      const std::array<MPI_Aint, 2> displacements = {0, lowest + span};
      const std::array<MPI_Datatype, 2> types = {part, base_};
      MPI_Type_create_struct(2, lengths.data(), displacements.data(), types.data(), &type);
      MPI_Type_commit(&type);
    }
    MPI_Type_free(&part);
    return type;
  }

  MPI_Datatype tree(int depth) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    if (depth == 0) {
      MPI_Type_dup(base_, &type);
      return type;
    }
    MPI_Datatype part = tree(depth - 1);
    if (draw(2) == 0) {
      type = regular(part);
    } else {
      type = draw(3) == 0 ? array(part) : irregular(part);
    }
    if (size_of(type) == 0) {  // what a process has of a distributed array
      MPI_Type_free(&type);
      MPI_Type_dup(part, &type);
    }
    MPI_Type_free(&part);
    return type;
  }

  MPI_Datatype regular(MPI_Datatype part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int count = between(1, kMost);
    switch (draw(5)) {
      case 0:
        MPI_Type_contiguous(count, part, &type);
        break;
      case 1:
        MPI_Type_vector(count, between(1, 3), between(-5, 5), part, &type);
        break;
      case 2:
        MPI_Type_create_hvector(count, between(1, 3), base_extent_ * between(-9, 9), part, &type);
        break;
      case 3:
        MPI_Type_create_resized(part, base_extent_ * between(-3, 3), base_extent_ * between(1, 9),
                                &type);
        break;
      default:
        MPI_Type_dup(part, &type);
    }
    return type;
  }

  MPI_Datatype irregular(MPI_Datatype part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int count = between(1, kMost);
    std::array<int, kMost> lengths{};
    std::array<int, kMost> places{};
    std::array<MPI_Aint, kMost> displacements{};
    std::array<MPI_Datatype, kMost> types{};
    for (std::size_t block = 0; block < kMost; ++block) {
      lengths[block] = between(block == 0 ? 1 : 0, 2);
      places[block] = between(-7, 7);
      displacements[block] = base_extent_ * between(-15, 15);
      types[block] = draw(2) == 0 ? part : base_;
    }
    switch (draw(5)) {
      case 0:
        MPI_Type_indexed(count, lengths.data(), places.data(), part, &type);
        break;
      case 1:
        MPI_Type_create_hindexed(count, lengths.data(), displacements.data(), part, &type);
        break;
      case 2:
        MPI_Type_create_indexed_block(count, between(1, 2), places.data(), part, &type);
        break;
      case 3:
        MPI_Type_create_hindexed_block(count, between(1, 2), displacements.data(), part, &type);
        break;
      default:
        MPI_Type_create_struct(count, lengths.data(), displacements.data(), types.data(), &type);
    }
    return type;
  }

  /// A part of an array of up to three dimensions.
  MPI_Datatype array(MPI_Datatype part) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int dimensions = between(1, 3);
    const int order = draw(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    const bool is_dealt = draw(2) == 0;
    int processes_in_all = 1;
    std::array<int, 3> sizes{};
    std::array<int, 3> parts{};
    std::array<int, 3> starts{};
    std::array<int, 3> distributions{};
    std::array<int, 3> arguments{};
    std::array<int, 3> processes{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
      sizes[d] = between(1, 5);
      parts[d] = between(1, sizes[d]);
      starts[d] = between(0, sizes[d] - parts[d]);
      constexpr std::array<int, 3> kDistributions = {MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK,
                                                     MPI_DISTRIBUTE_CYCLIC};
      distributions[d] = kDistributions[draw(3)];
      processes[d] = distributions[d] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 3);
      arguments[d] = MPI_DISTRIBUTE_DFLT_DARG;
      if (distributions[d] == MPI_DISTRIBUTE_CYCLIC && draw(2) == 0) arguments[d] = between(1, 3);
      processes_in_all *= processes[d];
    }
    if (is_dealt) {
      MPI_Type_create_darray(processes_in_all, between(0, processes_in_all - 1), dimensions,
                             sizes.data(), distributions.data(), arguments.data(), processes.data(),
                             order, part, &type);
    } else {
      MPI_Type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(), order, part,
                               &type);
    }
    return type;
  }

  std::mt19937_64 random_;
  MPI_Datatype base_;
  MPI_Aint base_extent_ = 0;
};

}  // namespace random_datatypes

#endif  // HYCOLL_TESTS_COLLECTIVES_ELEMENTS_RANDOM_DATATYPES_H_
