#ifndef HYCOLL_TESTS_THREADING_ORDERS_NAMES_H_
#define HYCOLL_TESTS_THREADING_ORDERS_NAMES_H_

#include <string>

namespace hycoll::orders {

/// The function that an instruction is in, without arguments and the project's namespace; "" if
/// that is not known, or in the standard library.
const std::string& function_of(const void* instruction);

/// Whether the order of what is done here is a choice of the C++ library's: how std::atomic waits
/// and notifies, and how std::shared_ptr counts.
bool is_choice_of_the_library(const void* instruction);

}  // namespace hycoll::orders

#endif  // HYCOLL_TESTS_THREADING_ORDERS_NAMES_H_
