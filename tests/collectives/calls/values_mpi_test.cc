// Values of all C++ types that collectives take, on the members of every layout: one at a time, in
// the background, and in containers.
#include <doctest/doctest.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <complex>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/every_layout.h"

namespace hycoll::tests {
namespace {

/// A small whole number as a value of the type: exact in all of them.
template <class T>
T made_of(int number) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(number));
  } else {
    return static_cast<T>(number);
  }
}

template <class T>
bool are_equal(const T& left, const T& right) {
  if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
    return left.bits() == right.bits();
  } else {
    return left == right;
  }
}

/// The sums and copies of a member's numbers; a complaint if one is wrong.
template <class T, class Caller>
std::string complaint_about_numbers(Caller& caller) {
  constexpr int kCount = 300;
  const int rank = caller.rank();
  const int size = caller.size();
  const T expected = made_of<T>(size * (size + 1) / 2);
  if (!are_equal(caller.allreduce(made_of<T>(rank + 1)), expected)) return "the sum of one";
  PendingValue<T> pending = caller.iallreduce(made_of<T>(rank + 1));
  if (!are_equal(pending.get(), expected)) return "the sum of one in the background";
  if (!are_equal(pending.get(), expected)) return "the same once more";
  if (!are_equal(caller.broadcast(made_of<T>(rank + 7), size - 1), made_of<T>(size + 6))) {
    return "a broadcast of one";
  }
  if (!are_equal(caller.ibroadcast(made_of<T>(rank + 7), 0).get(), made_of<T>(7))) {
    return "a broadcast of one in the background";
  }
  const std::vector<T> own(kCount, made_of<T>(rank + 1));
  std::vector<T> sums(kCount);
  caller.allreduce(own, sums);
  for (const T& sum : sums) {
    if (!are_equal(sum, expected)) return "the sum of vectors";
  }
  caller.scan(own, sums);
  if (!are_equal(sums.back(), made_of<T>((rank + 1) * (rank + 2) / 2))) return "a scan";
  std::vector<T> all(static_cast<std::size_t>(size) * kCount);
  caller.allgather(own, all);
  if (!are_equal(all.back(), made_of<T>(size))) return "an allgather";
  return "";
}

TEST_CASE_TEMPLATE("numbers of every type", T, short, unsigned long long, float, double,
                   long double, float16, bfloat16, std::complex<float>, std::complex<double>,
                   std::complex<long double>) {
  in_every_layout([](auto& caller) { return complaint_about_numbers<T>(caller); });
}

TEST_CASE("extrema of numbers of 16 bits, and what they have no operators for") {
  in_every_layout([](auto& caller) -> std::string {
    const float own = static_cast<float>(caller.rank());
    const float most = static_cast<float>(caller.allreduce(float16(own), Operator::max));
    if (most != static_cast<float>(caller.size() - 1)) return "the most";
    if (static_cast<float>(caller.allreduce(bfloat16(own), Operator::min)) != 0) return "the least";
    try {
      static_cast<void>(caller.allreduce(bfloat16(own), Operator::bit_or));
      return "bits are combined";
    } catch (const Error& error) {
      const std::string said = error.what();
      return said.find("bfloat16") != std::string::npos ? "" : said;
    }
  });
}

TEST_CASE("truth values") {
  in_every_layout([](auto& caller) -> std::string {
    const bool is_first = caller.rank() == 0;
    if (caller.allreduce(is_first, Operator::logical_and) != (caller.size() == 1)) return "and";
    if (!caller.allreduce(is_first, Operator::logical_or)) return "or";
    if (!caller.allreduce(is_first, Operator::logical_xor)) return "xor";
    return caller.broadcast(!is_first, 0) ? "a broadcast" : "";
  });
}

TEST_CASE_TEMPLATE("the least and the largest value, and where it is", T, short, int, long, float,
                   double, long double) {
  in_every_layout([](auto& caller) -> std::string {
    const int rank = caller.rank();
    const int size = caller.size();
    const auto own = ValueIndex{static_cast<T>(10 + (rank + 1) % size), rank};
    const auto least = caller.allreduce(own, Operation::min_location());
    if (least != ValueIndex{static_cast<T>(10), size - 1}) return "the least";
    const auto largest = caller.iallreduce(own, Operation::max_location()).get();
    if (largest != ValueIndex{static_cast<T>(10 + size - 1), (2 * size - 2) % size}) {
      return "the largest";
    }
    const auto same = caller.allreduce(ValueIndex{T{3}, rank + 5}, Operation::max_location());
    if (same.index != 5) return "of equal values the least index";
    const std::vector<ValueIndex<T>> many(40, own);
    std::vector<ValueIndex<T>> results(many.size());
    caller.allreduce(many, results, Operation::min_location());
    return results.back() == least ? "" : "a vector of pairs";
  });
}

TEST_CASE("a communicator tells what it was made of") {
  const Communicator communicator(MPI_COMM_WORLD);
  CHECK(communicator.parent() == MPI_COMM_WORLD);
}

}  // namespace
}  // namespace hycoll::tests
