// ONMPML's section 6, with values computed by hand.

#include "core/models/onmpml.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace hycoll::models {
namespace onmpml_test {

/// 5 nodes of 4 processes on 2 NUMA domains, 2 leaders; 3 bytes from each to each: 12 from a
/// process to a node, 48 from a node to another one.
constexpr OnmpmlSymbols kSymbols{.M = 5,
                                 .ppn = 4,
                                 .nn = 2,
                                 .ln = 2,
                                 .sz = 3,
                                 .b_prime = 0.5,
                                 .network = {.L = 100, .o = 6, .g = 4, .G = 2},
                                 .inside = {.o = 1, .copy = 0.25, .memory = 0.2}};

TEST_CASE("equation 1: concurrent transfers cost no less than one, and no more than all in turn") {
  const TauLop& inside = kSymbols.inside;
  const double one = concurrent_transfers_us(inside, 12, 1, 1);
  CHECK(one == doctest::Approx(3));
  for (const double A : {1.0, 2.0, 7.0, 100.0}) {
    for (const double of_one_core : {1.0, A}) {
      CAPTURE(A);
      CAPTURE(of_one_core);
      CHECK(one <= concurrent_transfers_us(inside, 12, A, of_one_core));
      CHECK(concurrent_transfers_us(inside, 12, A, of_one_core) <= A * one);
    }
  }
}

TEST_CASE("equation 5: A || T(m) is no more than A T(m)") {
  const double one = concurrent_messages_us(kSymbols.inside, 12, 1, 1);
  CHECK(one == doctest::Approx(4));
  CHECK(concurrent_messages_us(kSymbols.inside, 12, 8, 4) <= 8 * one);
}

TEST_CASE("equation 6: 4 (20 - 4) (100 + 2 (3 - 1)) + 19 (6 + 4)") {
  CHECK(direct_us(kSymbols) == doctest::Approx(64 * 104 + 190));
}

TEST_CASE("equation 6 is the sum over the steps") {
  const LogP& net = kSymbols.network;
  const int p = kSymbols.M * kSymbols.ppn;
  double sum = 0;
  const auto step = [&](int messages) {
    return messages * net.L + net.o + messages * (kSymbols.sz - 1) * net.G + net.g;
  };
  for (int i = 1; i <= kSymbols.ppn - 1; ++i) sum += 2 * step(i);
  for (int i = 1; i <= p + 1 - 2 * kSymbols.ppn; ++i) sum += step(kSymbols.ppn);
  CHECK(direct_us(kSymbols) == doctest::Approx(sum));
}

TEST_CASE(
    "gathering a block: 12 bytes of 4 processes by one core, or all that the memory carries") {
  CHECK(leader_gather_us(kSymbols) == doctest::Approx(1 + 12 * 4 * 0.25));
  CHECK(contiguous_gather_us(kSymbols) == doctest::Approx(1 + 12 * 8 * 0.2));  // 4 ln = 8
  CHECK(spread_gather_us(kSymbols) == doctest::Approx(1 + 12 * 6 * 0.2));      // 4 + n1 = 6
  OnmpmlSymbols one_domain = kSymbols;
  one_domain.nn = 1;
  CHECK(spread_gather_us(one_domain) == doctest::Approx(contiguous_gather_us(one_domain)));
}

TEST_CASE("equations 7, 8 and 9") {
  CHECK(transposition_us(kSymbols) == doctest::Approx(24));
  CHECK(leader_exchange_us(kSymbols) == doctest::Approx(4 * (100 + 6 + 47 * 2 + 4)));
  CHECK(multi_port_exchange_us(kSymbols) == doctest::Approx(4 * (100 + 3 + 47 * 2 + 2)));
  CHECK(l_a2a_us(kSymbols) == doctest::Approx(5 * 13 + 5 * 24 + 816 + 5 * 13));
  CHECK(mpml_us(kSymbols) == doctest::Approx(2 * 2.5 * 20.2 + 2.5 * 24 + 796));
  CHECK(nmpml_us(kSymbols) == doctest::Approx(2 * 2.5 * 15.4 + 2.5 * 24 + 796));
}

TEST_CASE("section 6.6: the longer one of T_inter and T_intra is what counts") {
  CHECK(start_us(kSymbols) == doctest::Approx(15.4));
  CHECK(end_us(kSymbols) == doctest::Approx(39.4));
  CHECK(overlapped_inside_us(kSymbols) == doctest::Approx(4 * 15.4 + 1.5 * 24));
  CHECK(onmpml_us(kSymbols) == doctest::Approx(15.4 + 796 + 39.4));
  OnmpmlSymbols fast = kSymbols;
  fast.network = {};
  CHECK(onmpml_us(fast) == doctest::Approx(15.4 + 97.6 + 39.4));
}

TEST_CASE(
    "section 6.6: all parts together are equation 9 only with two gathers in T_start and T_end") {
  const double others = start_us(kSymbols) + multi_port_exchange_us(kSymbols) + end_us(kSymbols);
  CHECK(others + overlapped_inside_by_the_text_us(kSymbols) == doctest::Approx(nmpml_us(kSymbols)));
  CHECK(others + overlapped_inside_us(kSymbols) ==
        doctest::Approx(nmpml_us(kSymbols) + spread_gather_us(kSymbols)));
}

}  // namespace onmpml_test
}  // namespace hycoll::models
