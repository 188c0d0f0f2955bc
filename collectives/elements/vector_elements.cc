#include "collectives/elements/vector_elements.h"

#include <fmt/format.h>

#include <utility>

#include "collectives/elements/type_decoding.h"
#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {

void require_type(const ElementType& type, std::string_view collective) {
  if (type.handle() != MPI_DATATYPE_NULL) return;
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{}: type is MPI_DATATYPE_NULL; pass a predefined type, which this MPI "
                          "library may lack, or a committed datatype",
                          collective));
}

VectorElements elements_of(const ElementType& type, std::string_view collective) {
  if (const auto given = type.given_data_type()) {
    return {.element_bytes = size_of(*given), .type_code = type.code(), .staging = nullptr};
  }
  if (type.given_half_type()) {
    return {.element_bytes = type.slot_bytes(), .type_code = type.code(), .staging = nullptr};
  }
  require_type(type, collective);
  std::shared_ptr<const TypeMap> map = type_map_of(type.handle());
  VectorElements elements{
      .element_bytes = map->size_bytes(), .type_code = type.code(), .staging = nullptr};
  if (!map->is_plain()) {
    elements.staging = std::make_shared<TypedStaging>(type.handle(), std::move(map));
  }
  return elements;
}

const VectorElements& RecentMovedElements::find_anew(const ElementType& type,
                                                     std::string_view collective) {
  elements_ = elements_of(type, collective);
  type_ = type;
  is_known_ = type.given_data_type() || type.given_half_type() || find_predefined(type.handle());
  return elements_;
}

}  // namespace hycoll
