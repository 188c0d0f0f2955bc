#include "collectives/c_interface/forms.h"

#include <fmt/format.h>

namespace hycoll::c_interface {

void refuse_type(const char* argument, MPI_Datatype type) {
  const char* const problem = type == MPI_DATATYPE_NULL
                                  ? "is MPI_DATATYPE_NULL; expected a datatype"
                                  : "has not been committed; call MPI_Type_commit before";
  throw ArgumentError(MPI_ERR_TYPE, fmt::format("{} {}", argument, problem));
}

void refuse_in_place(const char* argument) {
  throw ArgumentError(MPI_ERR_BUFFER,
                      fmt::format("{} is MPI_IN_PLACE, which it may not be here", argument));
}

std::span<const std::size_t> kept_counts(const char* argument, const MPI_Count* counts,
                                         int member_count, std::vector<std::size_t>& kept) {
  if (counts == nullptr) {
    throw ArgumentError(MPI_ERR_ARG,
                        fmt::format("{} is NULL; expected a count for each of {} members, which "
                                    "all members pass",
                                    argument, member_count));
  }
  kept.resize(static_cast<std::size_t>(member_count));
  for (std::size_t rank = 0; rank < kept.size(); ++rank) {
    if (counts[rank] < 0) refuse_count(fmt::format("{}[{}]", argument, rank), counts[rank]);
    kept[rank] = static_cast<std::size_t>(counts[rank]);
  }
  return kept;
}

}  // namespace hycoll::c_interface
