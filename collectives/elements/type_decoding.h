#ifndef HYCOLL_COLLECTIVES_ELEMENTS_TYPE_DECODING_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_TYPE_DECODING_H_

#include <mpi.h>

#include <memory>

#include "collectives/elements/type_map.h"

namespace hycoll {

/// The type map of a datatype that is not MPI_DATATYPE_NULL. Kept with the datatype as an attribute
/// that only hycoll knows and that copies do not get, so a type is decoded once in its life, and a
/// handle that MPI uses again means another map. May be called by several threads, as MPI may.
/// Throws Error (environment) if MPI fails, (unsupported) as probe_type does.
std::shared_ptr<const TypeMap> type_map_of(MPI_Datatype type);

/// The same, made anew from the arguments that the datatype and its parts were made with.
/// Predefined types with gaps, and constructors that hycoll does not know, are probed.
TypeMap decode_type(MPI_Datatype type);

/// The same, from where the bytes come from that MPI_Pack packs: for any committed datatype, with
/// as much memory as an element spans. Throws Error (unsupported) for elements beyond what MPI_Pack
/// can pack.
TypeMap probe_type(MPI_Datatype type);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_TYPE_DECODING_H_
