#include "collectives/elements/type_decoding.h"

#include <fmt/format.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "core/base/errors.h"
#include "threading/transport/mpi/check_mpi.h"
#include "threading/transport/mpi/mpi_types.h"
#include "threading/transport/mpi/type_contents.h"

namespace hycoll {
namespace {

using Numbers = std::span<const std::int64_t>;

std::ptrdiff_t extent_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  check_mpi(MPI_Type_get_extent(type, &lower_bound, &extent), "MPI_Type_get_extent");
  return extent;
}

struct TrueBounds {
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count size = 0;
};

TrueBounds true_bounds_of(MPI_Datatype type) {
  TrueBounds bounds;
  check_mpi(MPI_Type_get_true_extent_x(type, &bounds.lower, &bounds.extent),
            "MPI_Type_get_true_extent_x");
  check_mpi(MPI_Type_size_x(type, &bounds.size), "MPI_Type_size_x");
  return bounds;
}

TypeMap decode_predefined(MPI_Datatype type) {
  const TrueBounds bounds = true_bounds_of(type);
  // Pairs of value and index may have a gap between the two.
  if (bounds.size != bounds.extent) return probe_type(type);
  TypeMapBuilder builder;
  builder.append(TypeMap::of_bytes(static_cast<std::size_t>(bounds.size)), 1, bounds.lower);
  return builder.finish(extent_of(type));
}

TypeMap contiguous(const TypeMap& part, std::int64_t count) {
  TypeMapBuilder builder;
  builder.append(part, static_cast<std::size_t>(count), 0);
  return builder.finish(count * part.extent_bytes());
}

/// Blocks at equal distances.
TypeMap vector(const TypeMap& part, std::int64_t count, std::int64_t block_length,
               std::ptrdiff_t stride_bytes) {
  TypeMapBuilder builder;
  builder.append(contiguous(part, block_length), static_cast<std::size_t>(count), 0, stride_bytes);
  return builder.finish(0);
}

/// Blocks of one type, each of its own length or all of the first one's.
TypeMap indexed(const TypeMap& part, Numbers lengths, Numbers displacements, std::ptrdiff_t unit) {
  TypeMapBuilder builder;
  for (std::size_t block = 0; block < displacements.size(); ++block) {
    const std::int64_t length = lengths[lengths.size() == 1 ? 0 : block];
    builder.append(part, static_cast<std::size_t>(length), displacements[block] * unit);
  }
  return builder.finish(0);
}

TypeMap structure(std::span<const MPI_Datatype> types, Numbers lengths, Numbers displacements) {
  TypeMapBuilder builder;
  for (std::size_t block = 0; block < types.size(); ++block) {
    builder.append(decode_type(types[block]), static_cast<std::size_t>(lengths[block]),
                   displacements[block]);
  }
  return builder.finish(0);
}

/// The dimension whose index changes as the `place`th fastest in memory.
std::size_t dimension_at(std::size_t place, std::size_t dimensions, std::int64_t order) {
  return order == MPI_ORDER_C ? dimensions - 1 - place : place;
}

/// Arguments: dimensions, their sizes, sizes of the part, its starts, order.
TypeMap subarray(TypeMap map, Numbers numbers) {
  const auto dimensions = static_cast<std::size_t>(numbers[0]);
  const Numbers sizes = numbers.subspan(1, dimensions);
  const Numbers part_sizes = numbers.subspan(1 + dimensions, dimensions);
  const Numbers starts = numbers.subspan(1 + 2 * dimensions, dimensions);
  for (std::size_t place = 0; place < dimensions; ++place) {
    const std::size_t d = dimension_at(place, dimensions, numbers.back());
    TypeMapBuilder builder;
    builder.append(map, static_cast<std::size_t>(part_sizes[d]), starts[d] * map.extent_bytes());
    map = builder.finish(sizes[d] * map.extent_bytes());
  }
  return map;
}

/// One dimension of a distributed array, of which a process has every `processes`th block.
struct Dealing {
  std::int64_t size;
  std::int64_t block;
  std::int64_t processes;
  std::int64_t process;
};

TypeMap dealt(const TypeMap& part, const Dealing& dealing) {
  const std::ptrdiff_t extent = part.extent_bytes();
  const std::int64_t first = dealing.process * dealing.block;
  const std::int64_t stride = dealing.processes * dealing.block;
  const std::int64_t last = dealing.size - dealing.block;  // where a whole block may begin
  const std::int64_t whole = first <= last ? (last - first) / stride + 1 : 0;
  const std::int64_t rest = first + whole * stride;
  TypeMapBuilder builder;
  builder.append(contiguous(part, dealing.block), static_cast<std::size_t>(whole), first * extent,
                 stride * extent);
  if (rest < dealing.size) {
    builder.append(part, static_cast<std::size_t>(dealing.size - rest), rest * extent);
  }
  return builder.finish(dealing.size * extent);
}

std::int64_t block_length(std::int64_t distribution, std::int64_t argument, std::int64_t size,
                          std::int64_t processes) {
  if (distribution == MPI_DISTRIBUTE_NONE) return size;
  if (argument != MPI_DISTRIBUTE_DFLT_DARG) return argument;
  return distribution == MPI_DISTRIBUTE_CYCLIC ? 1 : (size + processes - 1) / processes;
}

/// Arguments: processes, rank, dimensions, their sizes, distributions, the distributions'
/// arguments, the processes along each, order. Processes are numbered as in C in either order.
TypeMap distributed_array(TypeMap map, Numbers numbers) {
  const auto dimensions = static_cast<std::size_t>(numbers[2]);
  const Numbers sizes = numbers.subspan(3, dimensions);
  const Numbers distributions = numbers.subspan(3 + dimensions, dimensions);
  const Numbers arguments = numbers.subspan(3 + 2 * dimensions, dimensions);
  const Numbers processes = numbers.subspan(3 + 3 * dimensions, dimensions);
  std::vector<std::int64_t> coordinates(dimensions);
  std::int64_t rank = numbers[1];
  for (std::size_t d = dimensions; d-- > 0; rank /= processes[d]) {
    coordinates[d] = rank % processes[d];
  }
  for (std::size_t place = 0; place < dimensions; ++place) {
    const std::size_t d = dimension_at(place, dimensions, numbers.back());
    map = dealt(map, {.size = sizes[d],
                      .block = block_length(distributions[d], arguments[d], sizes[d], processes[d]),
                      .processes = processes[d],
                      .process = coordinates[d]});
  }
  return map;
}

TypeMap decode_derived(MPI_Datatype type) {
  const TypeContents contents(type);
  const Numbers numbers = contents.numbers();
  if (contents.combiner() == MPI_COMBINER_STRUCT) {
    const std::size_t count = contents.types().size();
    return structure(contents.types(), numbers.subspan(1, count), numbers.subspan(1 + count));
  }
  if (contents.types().size() != 1) return probe_type(type);
  const TypeMap part = decode_type(contents.types()[0]);
  const std::ptrdiff_t extent = part.extent_bytes();
  switch (contents.combiner()) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return part;
    case MPI_COMBINER_CONTIGUOUS:
      return contiguous(part, numbers[0]);
    case MPI_COMBINER_VECTOR:
      return vector(part, numbers[0], numbers[1], numbers[2] * extent);
    case MPI_COMBINER_HVECTOR:
      return vector(part, numbers[0], numbers[1], numbers[2]);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED: {
      const auto count = static_cast<std::size_t>(numbers[0]);
      const bool in_bytes = contents.combiner() == MPI_COMBINER_HINDEXED;
      return indexed(part, numbers.subspan(1, count), numbers.subspan(1 + count),
                     in_bytes ? 1 : extent);
    }
    case MPI_COMBINER_INDEXED_BLOCK:
      return indexed(part, numbers.subspan(1, 1), numbers.subspan(2), extent);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return indexed(part, numbers.subspan(1, 1), numbers.subspan(2), 1);
    case MPI_COMBINER_SUBARRAY:
      return subarray(part, numbers);
    case MPI_COMBINER_DARRAY:
      return distributed_array(part, numbers);
    default:
      return probe_type(type);
  }
}

using KeptMap = std::shared_ptr<const TypeMap>;

int delete_kept(MPI_Datatype /*type*/, int /*key*/, void* value, void* /*state*/) {
  delete static_cast<KeptMap*>(value);
  return MPI_SUCCESS;
}

/// The attribute by which datatypes keep their maps.
int map_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &delete_kept, &made, nullptr),
              "MPI_Type_create_keyval");
    return made;
  }();
  return key;
}

}  // namespace

std::shared_ptr<const TypeMap> type_map_of(MPI_Datatype type) {
  if (find_predefined(type)) return std::make_shared<const TypeMap>(decode_type(type));
  // Two threads may ask for the map of one type: the second must not take the first one's away.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  void* value = nullptr;
  int is_there = 0;
  check_mpi(MPI_Type_get_attr(type, map_key(), &value, &is_there), "MPI_Type_get_attr");
  if (is_there != 0) return *static_cast<KeptMap*>(value);
  auto made = std::make_unique<KeptMap>(std::make_shared<const TypeMap>(decode_type(type)));
  check_mpi(MPI_Type_set_attr(type, map_key(), made.get()), "MPI_Type_set_attr");
  return *made.release();
}

TypeMap decode_type(MPI_Datatype type) {
  if (find_predefined(type)) return decode_predefined(type);
  return decode_derived(type).with_extent(extent_of(type));
}

TypeMap probe_type(MPI_Datatype type) {
  const TrueBounds bounds = true_bounds_of(type);
  if (bounds.size == 0) return TypeMap().with_extent(extent_of(type));  // the bounds mean nothing
  if (bounds.size > INT_MAX) {
    throw Error(ErrorKind::unsupported,
                fmt::format("{}: hycoll does not know how it was made, and its elements have {} "
                            "bytes of data, of which MPI_Pack packs at most {}. Use a type of "
                            "smaller elements, and more of them",
                            type_name(type), bounds.size, INT_MAX));
  }
  std::vector<std::byte> memory(static_cast<std::size_t>(bounds.extent));
  std::vector<std::byte> packed(static_cast<std::size_t>(bounds.size));
  std::vector<std::size_t> places(packed.size(), 0);
  // Each byte of memory holds a part of its own number.
  for (int shift = 0; shift < 64 && memory.size() >> shift > 0; shift += CHAR_BIT) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i >> shift);
    int end = 0;
    check_mpi(MPI_Pack(displaced(memory.data(), -bounds.lower), 1, type, packed.data(),
                       static_cast<int>(packed.size()), &end, MPI_COMM_SELF),
              "MPI_Pack");
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] |= static_cast<std::size_t>(packed[i]) << shift;
    }
  }
  TypeMapBuilder builder;
  for (const std::size_t place : places) {
    builder.append(TypeMap::of_bytes(1), 1, bounds.lower + static_cast<std::ptrdiff_t>(place));
  }
  return builder.finish(extent_of(type));
}

}  // namespace hycoll
