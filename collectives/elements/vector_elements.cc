#include "collectives/elements/vector_elements.h"

#include <fmt/format.h>

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

VectorElements moved_elements(const ElementType& type, std::string_view collective) {
  if (const auto given = type.given_data_type()) {
    return {.element_bytes = size_of(*given), .type_code = type.code(), .staging = nullptr};
  }
  require_type(type, collective);
  const ElementLayout layout = data_layout(type.handle());
  VectorElements elements{
      .element_bytes = layout.slot_bytes, .type_code = type.code(), .staging = nullptr};
  if (layout.form != ElementLayout::Form::direct) {
    elements.staging = std::make_shared<TypedStaging>(type.handle(), layout);
  }
  return elements;
}

const VectorElements& RecentMovedElements::find_anew(const ElementType& type,
                                                     std::string_view collective) {
  elements_ = moved_elements(type, collective);
  type_ = type;
  is_known_ = type.given_data_type() || find_predefined(type.handle());
  return elements_;
}

}  // namespace hycoll
