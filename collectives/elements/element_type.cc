#include "collectives/api/element_type.h"

#include "collectives/elements/typed_staging.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
MPI_Datatype ElementType::handle() const noexcept {
  const auto given = given_data_type();
  return given ? mpi_type_of(*given) : handle_;
}

std::optional<DataType> ElementType::data_type() const {
  if (const auto given = given_data_type()) return given;
  const auto known = find_predefined(handle_);
  return known ? data_type_of(known->representation) : std::nullopt;
}

std::size_t ElementType::slot_bytes() const {
  const auto given = given_data_type();
  return given ? size_of(*given) : element_layout(handle_).slot_bytes;
}

bool ElementType::is_contiguous() const {
  return given_data_type() || element_layout(handle_).form == ElementLayout::Form::direct;
}

std::string ElementType::name() const {
  const auto given = given_data_type();
  return given ? std::string(name_of(*given)) : type_name(handle_);
}

std::uint8_t ElementType::code() const {
  if (const auto given = given_data_type()) return static_cast<std::uint8_t>(*given);
  const auto known = find_predefined(handle_);
  return known ? static_cast<std::uint8_t>(known->representation) : kDerivedCode;
}

}  // namespace hycoll
