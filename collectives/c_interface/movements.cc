// The collectives that move blocks. In hycoll's calls a member describes all blocks, its own too,
// in one way; in MPI's its own in another one. Where the two differ, the member copies its own
// block itself, and makes a call in place.
#include <fmt/format.h>
#include <mpi.h>

#include <numeric>
#include <type_traits>
#include <utility>

#include "collectives/c_interface/forms.h"
#include "collectives/elements/own_block.h"

namespace hycoll::c_interface {
namespace {

static_assert(std::is_same_v<MPI_Aint, std::ptrdiff_t>, "displacements are passed on as they are");

/// A buffer of a member: its own block, or that of all blocks, of which this is one.
struct Side {
  const void* address;
  std::size_t count;
  MPI_Datatype type;

  BlockDescription description() const noexcept { return {count, type}; }
  /// Whether it describes a block just as the other side does.
  bool is_like(const Side& other) const noexcept {
    return count == other.count && type == other.type;
  }
};

void* writable(const void* address) noexcept { return const_cast<void*>(address); }

/// The member's own block, or row of blocks, in both descriptions. Throws SizeError or BufferError
/// unless they are of the same data.
OwnBlock own_block(const Side& from, const Side& to) {
  OwnBlock block(from.description(), to.description(), "own block");
  if (block.from_bytes() != block.to_bytes()) {
    throw SizeError(
        fmt::format("the member's own data are {} bytes as they are sent and {} as they are "
                    "received; both must be equal",
                    block.from_bytes(), block.to_bytes()));
  }
  if (!block.is_whole(from.address, to.address)) {
    throw BufferError("sendbuf or recvbuf is NULL; expected the member's own data");
  }
  return block;
}

/// Of a member that gets all blocks. `make` makes the call of an input, which in place is that of
/// all; `place` says at which element of those the own one begins.
template <class Make, class Place>
Call gathered(const Caller& caller, const void* sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
              const Side& all, const Make& make, const Place& place) {
  if (sendbuf == MPI_IN_PLACE) return make(all.address);
  const Side own = {sendbuf, size_of_count("sendcount", sendcount), sendtype};
  if (own.is_like(all)) return make(sendbuf);
  type_of("sendtype", sendtype);
  const OwnBlock block = own_block(own, all);
  caller.lists.copy_own_block = [block, own,
                                 to = block.element_to(writable(all.address), place())] {
    block.copy(own.address, to);
  };
  return make(all.address);
}

/// The same of one that has all blocks, and of an output.
template <class Make, class Place>
Call scattered(const Caller& caller, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
               const Side& all, const Make& make, const Place& place) {
  if (recvbuf == MPI_IN_PLACE) return make(writable(all.address));
  const Side own = {recvbuf, size_of_count("recvcount", recvcount), recvtype};
  if (own.is_like(all)) return make(recvbuf);
  type_of("recvtype", recvtype);
  const OwnBlock block = own_block(all, own);
  caller.lists.copy_own_block = [block, recvbuf, from = block.element_from(all.address, place())] {
    block.copy(from, recvbuf);
  };
  return make(writable(all.address));
}

/// Where the block of a rank begins among equal ones, in elements.
std::ptrdiff_t place_among(std::size_t count, int rank) {
  return static_cast<std::ptrdiff_t>(count) * rank;
}

/// The displacements, which the program may change as soon as the function has returned. Empty:
/// blocks follow each other.
std::span<const std::ptrdiff_t> kept_places(const Caller& caller, const MPI_Aint* displs) {
  if (displs == nullptr) return {};
  caller.lists.displacements.assign(displs, displs + caller.member.size());
  return caller.lists.displacements;
}

/// Where the block of a rank begins, in elements.
std::ptrdiff_t place_of(std::span<const std::size_t> counts, const MPI_Aint* displs, int rank) {
  if (displs != nullptr) return displs[rank];
  const auto before = counts.first(static_cast<std::size_t>(rank));
  return static_cast<std::ptrdiff_t>(std::accumulate(before.begin(), before.end(), std::size_t{0}));
}

Call bcast_call(const MemberObject& /*member*/, void* buffer, MPI_Count count,
                MPI_Datatype datatype, int root) {
  return calls::broadcast(not_in_place("buffer", buffer), size_of_count("count", count),
                          type_of("datatype", datatype), root);
}

Call allgather_call(const Caller& caller, const void* sendbuf, MPI_Count sendcount,
                    MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype) {
  const Side all = {not_in_place("recvbuf", recvbuf), size_of_count("recvcount", recvcount),
                    recvtype};
  const ElementType type = type_of("recvtype", recvtype);
  return gathered(
      caller, sendbuf, sendcount, sendtype, all,
      [&](const void* input) { return calls::allgather(input, recvbuf, all.count, type); },
      [&] { return place_among(all.count, caller.member.rank()); });
}

Call allgatherv_call(const Caller& caller, const void* sendbuf, MPI_Count sendcount,
                     MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                     const MPI_Aint* displs, MPI_Datatype recvtype) {
  not_in_place("recvbuf", recvbuf);
  const ElementType type = type_of("recvtype", recvtype);
  const int size = caller.member.size();
  const int rank = caller.member.rank();
  const auto counts = kept_counts("recvcounts", recvcounts, size, caller.lists.counts);
  const auto places = kept_places(caller, displs);
  const Side all = {recvbuf, counts[static_cast<std::size_t>(rank)], recvtype};
  return gathered(
      caller, sendbuf, sendcount, sendtype, all,
      [&](const void* input) { return calls::allgatherv(input, recvbuf, counts, type, places); },
      [&] { return place_of(counts, displs, rank); });
}

Call gather_call(const Caller& caller, const void* sendbuf, MPI_Count sendcount,
                 MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                 int root) {
  if (caller.member.rank() != root) {
    return calls::gather(not_in_place("sendbuf", sendbuf), nullptr,
                         size_of_count("sendcount", sendcount), type_of("sendtype", sendtype),
                         root);
  }
  const Side all = {not_in_place("recvbuf", recvbuf), size_of_count("recvcount", recvcount),
                    recvtype};
  const ElementType type = type_of("recvtype", recvtype);
  return gathered(
      caller, sendbuf, sendcount, sendtype, all,
      [&](const void* input) { return calls::gather(input, recvbuf, all.count, type, root); },
      [&] { return place_among(all.count, root); });
}

/// Of gatherv and scatterv away from the root, where the own block is described unlike those of
/// all: by bytes, if both lie in memory as they are sent. Throws Error (unsupported) otherwise.
void describe_by_bytes(const Caller& caller, const Side& own, const Side& of_all) {
  const OwnBlock block(own.description(), of_all.description(), "own block");
  if (!block.is_direct()) {
    throw Error(ErrorKind::unsupported,
                "the member's own block has another count or datatype than the counts of all say, "
                "with gaps; describe it as they do");
  }
  if (block.from_bytes() != block.to_bytes()) {
    throw SizeError(fmt::format("the member's own block has {} bytes, but {} by the counts of all",
                                block.from_bytes(), block.to_bytes()));
  }
  for (std::size_t& count : caller.lists.counts) count *= block.to_element_bytes();
}

Call gatherv_call(const Caller& caller, const void* sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void* recvbuf, const MPI_Count* recvcounts,
                  const MPI_Aint* displs, MPI_Datatype recvtype, int root) {
  const int size = caller.member.size();
  const int rank = caller.member.rank();
  const ElementType type = type_of("recvtype", recvtype);
  const auto counts = kept_counts("recvcounts", recvcounts, size, caller.lists.counts);
  const Side all = {recvbuf, counts[static_cast<std::size_t>(rank)], recvtype};
  if (rank != root) {
    const Side own = {not_in_place("sendbuf", sendbuf), size_of_count("sendcount", sendcount),
                      sendtype};
    if (own.is_like(all)) return calls::gatherv(sendbuf, nullptr, counts, type, root);
    type_of("sendtype", sendtype);
    describe_by_bytes(caller, own, all);
    return calls::gatherv(sendbuf, nullptr, counts, DataType::uint8, root);
  }
  not_in_place("recvbuf", recvbuf);
  const auto places = kept_places(caller, displs);
  return gathered(
      caller, sendbuf, sendcount, sendtype, all,
      [&](const void* input) { return calls::gatherv(input, recvbuf, counts, type, root, places); },
      [&] { return place_of(counts, displs, rank); });
}

Call scatter_call(const Caller& caller, const void* sendbuf, MPI_Count sendcount,
                  MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                  int root) {
  if (caller.member.rank() != root) {
    return calls::scatter(nullptr, not_in_place("recvbuf", recvbuf),
                          size_of_count("recvcount", recvcount), type_of("recvtype", recvtype),
                          root);
  }
  const Side all = {not_in_place("sendbuf", sendbuf), size_of_count("sendcount", sendcount),
                    sendtype};
  const ElementType type = type_of("sendtype", sendtype);
  return scattered(
      caller, recvbuf, recvcount, recvtype, all,
      [&](void* output) { return calls::scatter(sendbuf, output, all.count, type, root); },
      [&] { return place_among(all.count, root); });
}

Call scatterv_call(const Caller& caller, const void* sendbuf, const MPI_Count* sendcounts,
                   const MPI_Aint* displs, MPI_Datatype sendtype, void* recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root) {
  const int size = caller.member.size();
  const int rank = caller.member.rank();
  const ElementType type = type_of("sendtype", sendtype);
  const auto counts = kept_counts("sendcounts", sendcounts, size, caller.lists.counts);
  const Side all = {sendbuf, counts[static_cast<std::size_t>(rank)], sendtype};
  if (rank != root) {
    const Side own = {not_in_place("recvbuf", recvbuf), size_of_count("recvcount", recvcount),
                      recvtype};
    if (own.is_like(all)) return calls::scatterv(nullptr, recvbuf, counts, type, root);
    type_of("recvtype", recvtype);
    describe_by_bytes(caller, own, all);
    return calls::scatterv(nullptr, recvbuf, counts, DataType::uint8, root);
  }
  not_in_place("sendbuf", sendbuf);
  const auto places = kept_places(caller, displs);
  return scattered(
      caller, recvbuf, recvcount, recvtype, all,
      [&](void* output) { return calls::scatterv(sendbuf, output, counts, type, root, places); },
      [&] { return place_of(counts, displs, rank); });
}

/// The blocks that a member sends, or gets, in an all-to-all: the counts, and where they begin.
struct Blocks {
  std::vector<std::size_t>& counts;
  std::vector<std::ptrdiff_t>& places;
  std::vector<ElementType>& types;

  /// Without places of the program's, blocks follow each other.
  void place(const MPI_Aint* displs) {
    if (displs != nullptr) {
      places.assign(displs, displs + counts.size());
    } else {
      places.resize(counts.size());
      std::exclusive_scan(counts.begin(), counts.end(), places.begin(), std::ptrdiff_t{0});
    }
  }
  /// A type for all blocks, in whose elements the places are.
  void set_type(MPI_Datatype type) {
    MPI_Count lower_bound = 0;
    MPI_Count extent = 0;
    MPI_Type_get_extent_x(type, &lower_bound, &extent);
    for (std::ptrdiff_t& place : places) place *= static_cast<std::ptrdiff_t>(extent);
    types.assign(counts.size(), ElementType(type));
  }
  void set_types(const char* argument, const MPI_Datatype* of_blocks) {
    types.clear();
    for (std::size_t rank = 0; rank < counts.size(); ++rank) {
      types.push_back(counts[rank] == 0 ? ElementType(MPI_BYTE)
                                        : type_of(argument, of_blocks[rank]));
    }
  }
  TypedPairCounts typed() const { return {counts, places, types}; }
};

Blocks sent_blocks(const Caller& caller) {
  return {caller.lists.counts, caller.lists.displacements, caller.lists.types};
}
Blocks received_blocks(const Caller& caller) {
  return {caller.lists.received_counts, caller.lists.received_displacements,
          caller.lists.received_types};
}

Call alltoall_call(const Caller& caller, const void* sendbuf, MPI_Count sendcount,
                   MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                   MPI_Datatype recvtype) {
  not_in_place("recvbuf", recvbuf);
  const ElementType type = type_of("recvtype", recvtype);
  const std::size_t count = size_of_count("recvcount", recvcount);
  if (sendbuf == MPI_IN_PLACE) return calls::alltoall(recvbuf, recvbuf, count, type);
  type_of("sendtype", sendtype);
  const std::size_t sent_count = size_of_count("sendcount", sendcount);
  if (sent_count == count && sendtype == recvtype) {
    return calls::alltoall(sendbuf, recvbuf, count, type);
  }
  // Others may describe theirs alike, and all members make the same call.
  const auto size = static_cast<std::size_t>(caller.member.size());
  const OwnBlock row =
      own_block({sendbuf, size * sent_count, sendtype}, {recvbuf, size * count, recvtype});
  if (row.is_direct()) return calls::alltoall(sendbuf, recvbuf, count, type);
  caller.lists.copy_own_block = [row, sendbuf, recvbuf] { row.copy(sendbuf, recvbuf); };
  return calls::alltoall(recvbuf, recvbuf, count, type);
}

Call alltoallv_call(const Caller& caller, const void* sendbuf, const MPI_Count* sendcounts,
                    const MPI_Aint* sdispls, MPI_Datatype sendtype, void* recvbuf,
                    const MPI_Count* recvcounts, const MPI_Aint* rdispls, MPI_Datatype recvtype) {
  not_in_place("recvbuf", recvbuf);
  const ElementType type = type_of("recvtype", recvtype);
  const int size = caller.member.size();
  Blocks sent = sent_blocks(caller);
  Blocks received = received_blocks(caller);
  kept_counts("recvcounts", recvcounts, size, received.counts);
  received.place(rdispls);
  const bool is_in_place = sendbuf == MPI_IN_PLACE;
  if (is_in_place) {
    sent.counts = received.counts;
    sent.places = received.places;
    sendbuf = recvbuf;
  } else {
    type_of("sendtype", sendtype);
    kept_counts("sendcounts", sendcounts, size, sent.counts);
    sent.place(sdispls);
  }
  if (is_in_place || sendtype == recvtype) {
    return calls::alltoallv(sendbuf, {sent.counts, sent.places}, recvbuf,
                            {received.counts, received.places}, type);
  }
  sent.set_type(sendtype);
  received.set_type(recvtype);
  return calls::alltoallw(sendbuf, sent.typed(), recvbuf, received.typed());
}

Call alltoallw_call(const Caller& caller, const void* sendbuf, const MPI_Count* sendcounts,
                    const MPI_Aint* sdispls, const MPI_Datatype* sendtypes, void* recvbuf,
                    const MPI_Count* recvcounts, const MPI_Aint* rdispls,
                    const MPI_Datatype* recvtypes) {
  not_in_place("recvbuf", recvbuf);
  const int size = caller.member.size();
  Blocks sent = sent_blocks(caller);
  Blocks received = received_blocks(caller);
  kept_counts("recvcounts", recvcounts, size, received.counts);
  require_pointer("rdispls", rdispls);
  require_pointer("recvtypes", recvtypes);
  received.place(rdispls);
  received.set_types("recvtypes", recvtypes);
  if (sendbuf == MPI_IN_PLACE) {
    sent.counts = received.counts;
    sent.places = received.places;
    sent.types = received.types;
    return calls::alltoallw(recvbuf, sent.typed(), recvbuf, received.typed());
  }
  kept_counts("sendcounts", sendcounts, size, sent.counts);
  require_pointer("sdispls", sdispls);
  require_pointer("sendtypes", sendtypes);
  sent.place(sdispls);
  sent.set_types("sendtypes", sendtypes);
  return calls::alltoallw(sendbuf, sent.typed(), recvbuf, received.typed());
}

}  // namespace
}  // namespace hycoll::c_interface

#define HYCOLL_C_BUFFER() void *buffer, MPI_Count count, MPI_Datatype datatype, int root,
#define HYCOLL_C_BUFFER_PASSED() , buffer, count, datatype, root
#define HYCOLL_C_BOTH_SIDES()                                                     \
  const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, \
      MPI_Count recvcount, MPI_Datatype recvtype,
#define HYCOLL_C_BOTH_SIDES_PASSED() , sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype
#define HYCOLL_C_ROOTED_SIDES() HYCOLL_C_BOTH_SIDES() int root,
#define HYCOLL_C_ROOTED_SIDES_PASSED() HYCOLL_C_BOTH_SIDES_PASSED(), root
#define HYCOLL_C_GATHERED()                                                       \
  const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, \
      const MPI_Count *recvcounts, const MPI_Aint *displs, MPI_Datatype recvtype,
#define HYCOLL_C_GATHERED_PASSED() \
  , sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype
#define HYCOLL_C_ROOTED_GATHERED() HYCOLL_C_GATHERED() int root,
#define HYCOLL_C_ROOTED_GATHERED_PASSED() HYCOLL_C_GATHERED_PASSED(), root
#define HYCOLL_C_SCATTERED()                                                                       \
  const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *displs, MPI_Datatype sendtype, \
      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
#define HYCOLL_C_SCATTERED_PASSED() \
  , sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root
#define HYCOLL_C_PAIRS()                                                                          \
  const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,                      \
      MPI_Datatype sendtype, void *recvbuf, const MPI_Count *recvcounts, const MPI_Aint *rdispls, \
      MPI_Datatype recvtype,
#define HYCOLL_C_PAIRS_PASSED() \
  , sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype
#define HYCOLL_C_TYPED_PAIRS()                                                   \
  const void *sendbuf, const MPI_Count *sendcounts, const MPI_Aint *sdispls,     \
      const MPI_Datatype *sendtypes, void *recvbuf, const MPI_Count *recvcounts, \
      const MPI_Aint *rdispls, const MPI_Datatype *recvtypes,
#define HYCOLL_C_TYPED_PAIRS_PASSED() \
  , sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes

extern "C" {

HYCOLL_C_FORMS(bcast, HYCOLL_C_BUFFER, HYCOLL_C_BUFFER_PASSED)
HYCOLL_C_FORMS(allgather, HYCOLL_C_BOTH_SIDES, HYCOLL_C_BOTH_SIDES_PASSED)
HYCOLL_C_FORMS(allgatherv, HYCOLL_C_GATHERED, HYCOLL_C_GATHERED_PASSED)
HYCOLL_C_FORMS(gather, HYCOLL_C_ROOTED_SIDES, HYCOLL_C_ROOTED_SIDES_PASSED)
HYCOLL_C_FORMS(gatherv, HYCOLL_C_ROOTED_GATHERED, HYCOLL_C_ROOTED_GATHERED_PASSED)
HYCOLL_C_FORMS(scatter, HYCOLL_C_ROOTED_SIDES, HYCOLL_C_ROOTED_SIDES_PASSED)
HYCOLL_C_FORMS(scatterv, HYCOLL_C_SCATTERED, HYCOLL_C_SCATTERED_PASSED)
HYCOLL_C_FORMS(alltoall, HYCOLL_C_BOTH_SIDES, HYCOLL_C_BOTH_SIDES_PASSED)
HYCOLL_C_FORMS(alltoallv, HYCOLL_C_PAIRS, HYCOLL_C_PAIRS_PASSED)
HYCOLL_C_FORMS(alltoallw, HYCOLL_C_TYPED_PAIRS, HYCOLL_C_TYPED_PAIRS_PASSED)

}  // extern "C"
