#ifndef HYCOLL_TESTS_THREADING_ORDERS_CHECK_ORDERS_H_
#define HYCOLL_TESTS_THREADING_ORDERS_CHECK_ORDERS_H_

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/threading/orders/orders.h"

namespace hycoll::orders {

/// A line for each.
inline std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += "\n" + text;
  return lines;
}

/// Checks that a program is right in all executions, that it fails without any of the orders
/// `needed`, and that it has no others but those `not_needed`: by it, which says nothing about
/// other programs. Both in the words of Ordered::what, sorted.
inline void check_orders(const Setup& setup, const std::vector<std::string>& needed,
                         const std::vector<std::string>& not_needed = {}) {
  const Result result = explore(setup);
  const Failure failure = result.failure.value_or(Failure{});
  INFO(failure.what, "\n", failure.trace);
  CHECK_FALSE(result.failure);
  CHECK(result.executions > 0);
  const Weakened weakened = weaken_each(setup);
  CHECK(lines_of(weakened.needed) == lines_of(needed));
  CHECK(lines_of(weakened.not_needed) == lines_of(not_needed));
}

}  // namespace hycoll::orders

#endif  // HYCOLL_TESTS_THREADING_ORDERS_CHECK_ORDERS_H_
