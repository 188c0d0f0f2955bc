#include "collectives/api/element_type.h"

#include <algorithm>

#include "collectives/elements/type_decoding.h"
#include "threading/transport/mpi/check_mpi.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
MPI_Datatype ElementType::handle() const noexcept {
  if (given_half_type()) return MPI_UINT16_T;
  const auto given = given_data_type();
  return given ? mpi_type_of(*given) : handle_;
}

std::optional<DataType> ElementType::data_type() const {
  if (const auto given = given_data_type()) return given;
  if (given_half_type()) return std::nullopt;
  const auto known = find_predefined(handle_);
  return known ? data_type_of(known->representation) : std::nullopt;
}

std::size_t ElementType::slot_bytes() const {
  const auto given = given_data_type();
  if (given) return size_of(*given);
  if (given_half_type()) return sizeof(std::uint16_t);
  MPI_Count size_bytes = 0;
  check_mpi(MPI_Type_size_x(handle_, &size_bytes), "MPI_Type_size_x");
  return std::max<std::size_t>(1, static_cast<std::size_t>(size_bytes));
}

bool ElementType::is_contiguous() const {
  return given_data_type() || given_half_type() || type_map_of(handle_)->is_plain();
}

std::string ElementType::name() const {
  if (const auto half = given_half_type()) {
    return half == HalfType::float16 ? "float16" : "bfloat16";
  }
  const auto given = given_data_type();
  return given ? std::string(name_of(*given)) : type_name(handle_);
}

std::uint8_t ElementType::code() const {
  if (const auto given = given_data_type()) return static_cast<std::uint8_t>(*given);
  if (const auto half = given_half_type())
    return static_cast<std::uint8_t>(representation_of(*half));
  const auto known = find_predefined(handle_);
  return known ? static_cast<std::uint8_t>(known->representation) : kDerivedCode;
}

}  // namespace hycoll
