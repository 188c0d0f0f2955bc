#include "collectives/api/operation.h"

#include <fmt/format.h>

#include <exception>
#include <mutex>
#include <utility>

#include "collectives/elements/mpi_reducer.h"
#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_endpoint.h"
#include "threading/transport/mpi/mpi_types.h"

namespace hycoll {
namespace {

// The codes after those of Operator.
constexpr std::uint8_t kMinlocCode = 10;
constexpr std::uint8_t kMaxlocCode = 11;
constexpr std::uint8_t kCommutativeCode = 12;
constexpr std::uint8_t kNonCommutativeCode = 13;
constexpr std::uint8_t kUnusableCode = 14;  // MPI_REPLACE and others that no collective accepts
static_assert(kOperatorCount <= kMinlocCode);

}  // namespace

struct Operation::Custom {
  Function function;
  Commutativity commutativity;
  Concurrency concurrency;
};

Operation Operation::custom(Function function, Commutativity commutativity,
                            Concurrency concurrency) {
  if (!function) {
    throw Error(ErrorKind::invalid_argument,
                "Operation::custom: function is empty; pass one that sets right = left op right "
                "for `count` elements");
  }
  Operation operation(MPI_OP_NULL);
  operation.custom_ = std::make_shared<const Custom>(Custom{
      .function = std::move(function), .commutativity = commutativity, .concurrency = concurrency});
  return operation;
}

bool Operation::is_commutative() const {
  if (custom_) return custom_->commutativity == Commutativity::commutative;
  if (operator_ != kNoOperator || is_predefined(handle_)) return true;
  int commutes = 0;
  check_mpi(MPI_Op_commutative(handle_, &commutes), "MPI_Op_commutative");
  return commutes != 0;
}

bool Operation::is_user_defined() const {
  return custom_ != nullptr || (operator_ == kNoOperator && !is_predefined(handle_));
}

bool Operation::is_concurrent() const noexcept {
  return custom_ != nullptr && custom_->concurrency == Concurrency::any_thread;
}

std::optional<Operator> Operation::built_in() const noexcept {
  if (operator_ != kNoOperator) return static_cast<Operator>(operator_);
  return custom_ ? std::nullopt : operator_of(handle_);
}

MPI_Op Operation::handle() const noexcept {
  return operator_ == kNoOperator ? handle_ : mpi_operator_of(static_cast<Operator>(operator_));
}

void Operation::apply(const void* left, void* right_and_result, std::size_t count) const {
  HYCOLL_ASSERT(custom_ != nullptr, "only a custom operation has a function");
  std::unique_lock lock(user_operator_mutex(), std::defer_lock);
  if (!is_concurrent()) lock.lock();
  try {
    custom_->function(left, right_and_result, count);
  } catch (const std::exception& exception) {
    throw Error(ErrorKind::user_operator,
                fmt::format("the custom operator threw an exception: {}; results are undefined",
                            exception.what()));
  } catch (...) {
    throw Error(ErrorKind::user_operator,
                "the custom operator threw something that is no std::exception; results are "
                "undefined");
  }
}

std::string Operation::name() const {
  if (custom_) return "custom operator";
  if (operator_ != kNoOperator) return std::string(name_of(static_cast<Operator>(operator_)));
  return operator_name(handle_);
}

std::uint8_t Operation::code() const {
  if (const auto known = built_in()) return static_cast<std::uint8_t>(*known);
  if (is_user_defined()) return is_commutative() ? kCommutativeCode : kNonCommutativeCode;
  if (handle_ == MPI_MINLOC) return kMinlocCode;
  return handle_ == MPI_MAXLOC ? kMaxlocCode : kUnusableCode;
}

}  // namespace hycoll
