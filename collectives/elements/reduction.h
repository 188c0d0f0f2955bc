#ifndef HYCOLL_COLLECTIVES_ELEMENTS_REDUCTION_H_
#define HYCOLL_COLLECTIVES_ELEMENTS_REDUCTION_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "collectives/api/element_type.h"
#include "collectives/api/operation.h"
#include "collectives/elements/vector_elements.h"
#include "core/base/types.h"
#include "core/kernels/reducer.h"

namespace hycoll {

/// Everything that a call needs to know about its elements and its operator. A copy keeps alive
/// what it refers to, except the user's MPI handles.
struct Reduction : VectorElements {
  /// Acts on vectors whose elements are element_bytes apart. Thread-safe.
  Reducer reducer;

  /// As Operation::code, for the call's signature.
  std::uint8_t operator_code = 0;

  bool is_commutative = true;

  /// hycoll's own type and operator; set if, and only if, the reducer is a kernel.
  std::optional<DataType> data_type;
  std::optional<Operator> op;

  /// Owns reducer.foreign, if there is one.
  std::shared_ptr<const ForeignReducer> foreign_owner;
};

/// Throws Error (invalid_argument), which begins with the collective's name and names operator,
/// type and remedy, if MPI does not allow them together in a collective.
Reduction resolve_reduction(const ElementType& type, const Operation& operation,
                            std::string_view collective);

/// Resolves reductions, remembering the last few. Used by one thread at a time.
///
/// User-defined operators and derived datatypes are resolved anew each time: a program may free
/// one, and get another one with the same handle.
class RecentReductions {
 public:
  /// As resolve_reduction. The result is valid until the next call of find; calls that go on after
  /// that copy it.
  const Reduction& find(const ElementType& type, const Operation& operation,
                        std::string_view collective) {
    const Entry& recent = entries_[recent_];
    if (recent.type == type && recent.operation == operation) [[likely]]
      return recent.reduction;
    return find_older(type, operation, collective);
  }

 private:
  struct Entry {
    ElementType type = DataType::uint8;
    Operation operation = Operator::max;
    Reduction reduction = resolve_reduction(DataType::uint8, Operator::max, "");
  };

  const Reduction& find_older(const ElementType& type, const Operation& operation,
                              std::string_view collective);

  std::array<Entry, 4> entries_;
  std::size_t recent_ = 0;
  std::size_t oldest_ = 0;
  Reduction passing_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ELEMENTS_REDUCTION_H_
