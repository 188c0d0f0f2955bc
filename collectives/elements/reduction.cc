#include "collectives/elements/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "collectives/elements/mpi_reducer.h"
#include "collectives/elements/wide_reducer.h"
#include "core/base/errors.h"
#include "core/kernels/kernels.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

/// What users can do about an operator and a type that do not go together.
std::string_view remedy_for(const Operation& operation, const std::optional<PredefinedType>& type) {
  const MPI_Op op = operation.handle();
  if (op == MPI_REPLACE || op == MPI_NO_OP || op == MPI_OP_NULL) {
    return "pass an operator for collectives, such as MPI_SUM or one of MPI_Op_create";
  }
  if (!type) {
    return "predefined operators act on predefined types only; pass an operator of MPI_Op_create "
           "or Operation::custom with a derived datatype";
  }
  if (type->group == TypeGroup::text) {
    return "characters and packed data have no arithmetic; pass MPI_SIGNED_CHAR or MPI_INT8_T for "
           "small integers";
  }
  if (op == MPI_MINLOC || op == MPI_MAXLOC) {
    return "it needs a pair of value and index, such as MPI_DOUBLE_INT or MPI_2INT";
  }
  switch (operation.built_in().value()) {
    case Operator::min:
    case Operator::max:
      return "minimum and maximum need an integer or floating-point type";
    case Operator::sum:
    case Operator::prod:
      return "sum and product need an integer, floating-point or complex type";
    case Operator::logical_and:
    case Operator::logical_or:
    case Operator::logical_xor:
      return "logical operators need an integer type of C or a logical type";
    case Operator::bit_and:
    case Operator::bit_or:
    case Operator::bit_xor:
      return "bitwise operators need an integer type or MPI_BYTE";
  }
  return "";
}

void require_handles(const ElementType& type, const Operation& operation,
                     std::string_view collective) {
  require_type(type, collective);
  if (operation.handle() == MPI_OP_NULL && !operation.is_custom()) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: operator is MPI_OP_NULL; pass a predefined one, or one of "
                            "MPI_Op_create that has not been freed",
                            collective));
  }
}

/// For hycoll's own types MPI is not asked: they are looked up before it is initialised, too.
std::optional<PredefinedType> describe(const ElementType& type) {
  if (const auto half = type.given_half_type()) {
    return PredefinedType{TypeGroup::floating_point, representation_of(*half)};
  }
  const std::optional<DataType> given = type.given_data_type();
  if (!given) return find_predefined(type.handle());
  return PredefinedType{
      is_floating_point(*given) ? TypeGroup::floating_point : TypeGroup::c_integer,
      static_cast<Representation>(*given)};
}

/// Reducers of hycoll's own for a predefined type without kernels; null if MPI has to do it.
std::shared_ptr<const ForeignReducer> make_own_reducer(Operator op, Representation representation) {
  if (op == Operator::sum && representation == Representation::complex_float32) {
    return std::make_shared<PartsReducer>(reduce_kernel(op, DataType::float32), 2);
  }
  if (op == Operator::sum && representation == Representation::complex_float64) {
    return std::make_shared<PartsReducer>(reduce_kernel(op, DataType::float64), 2);
  }
  if (const auto half = half_type_of(representation)) {
    return std::make_shared<PartsReducer>(half_kernel(op, *half), 1);
  }
  return make_wide_reducer(op, representation);
}

void set_foreign(Reduction& reduction, std::shared_ptr<const ForeignReducer> reducer) {
  reduction.reducer.foreign = reducer.get();
  reduction.foreign_owner = std::move(reducer);
}

/// A predefined operator, which MPI defines on predefined types only.
void set_predefined(Reduction& reduction, const ElementType& type, const Operation& operation,
                    std::string_view collective) {
  const std::optional<PredefinedType> known = describe(type);
  if (!known || !is_allowed(operation.handle(), known->group)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("{}: operator {} is not defined for type {}: {}", collective,
                            operation.name(), type.name(), remedy_for(operation, known)));
  }
  const std::optional<Operator> op = operation.built_in();
  const std::optional<DataType> data_type = data_type_of(known->representation);
  if (op && data_type) {
    reduction.reducer.kernel = reduce_kernel(*op, *data_type);
    reduction.op = op;
    reduction.data_type = data_type;
    return;
  }
  std::shared_ptr<const ForeignReducer> reducer;
  if (op) reducer = make_own_reducer(*op, known->representation);
  if (!reducer) {
    reducer = std::make_shared<MpiReducer>(operation.handle(), type.handle(), reduction);
  }
  set_foreign(reduction, std::move(reducer));
}

/// An operator that the user brought along, on elements of any type.
void set_user_defined(Reduction& reduction, const ElementType& type, const Operation& operation) {
  // Members may describe the same elements by a predefined type and by a derived one.
  reduction.type_code = ElementType::kDerivedCode;
  if (operation.is_custom()) {
    set_foreign(reduction, std::make_shared<CustomReducer>(operation, reduction));
  } else {
    set_foreign(reduction,
                std::make_shared<MpiReducer>(operation.handle(), type.handle(), reduction));
  }
}

}  // namespace

Reduction resolve_reduction(const ElementType& type, const Operation& operation,
                            std::string_view collective) {
  require_handles(type, operation, collective);
  Reduction reduction;
  static_cast<VectorElements&>(reduction) = elements_of(type, collective);
  reduction.element_bytes = std::max<std::size_t>(1, reduction.element_bytes);
  if (operation.is_user_defined()) {
    set_user_defined(reduction, type, operation);
  } else {
    set_predefined(reduction, type, operation, collective);
  }
  reduction.operator_code = operation.code();
  reduction.is_commutative = operation.is_commutative();
  return reduction;
}

const Reduction& RecentReductions::find_older(const ElementType& type, const Operation& operation,
                                              std::string_view collective) {
  if (operation.is_user_defined()) {
    // Derived datatypes are among these: no other operators act on them.
    passing_ = resolve_reduction(type, operation, collective);
    return passing_;
  }
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.type == type && entry.operation == operation;
  });
  if (found != entries_.end()) {
    recent_ = static_cast<std::size_t>(found - entries_.begin());
    return found->reduction;
  }
  Reduction reduction = resolve_reduction(type, operation, collective);
  oldest_ = (oldest_ + 1) % entries_.size();
  entries_[oldest_] = {.type = type, .operation = operation, .reduction = std::move(reduction)};
  recent_ = oldest_;
  return entries_[recent_].reduction;
}

}  // namespace hycoll
