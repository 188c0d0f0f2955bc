// What kernels_test checks by formulas, spelled out.

#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/kernels/kernels.h"
#include "tests/core/kernels/fixture.h"

namespace hycoll {
namespace {

template <Element T>
std::vector<T> reduced(Operator op, const std::vector<std::vector<T>>& sources) {
  std::vector<T> result(sources[0].size());
  std::vector<const void*> source_addresses;
  for (const auto& source : sources) source_addresses.push_back(source.data());
  const std::array<void*, 1> destination = {result.data()};
  reduce_kernel(op, data_type_of<T>())(destination, source_addresses, result.size(),
                                       Stores::cached);
  return result;
}

TEST_CASE("integer sums and products wrap around and never saturate") {
  on_every_instruction_set([] {
    const std::vector<std::int8_t> high(100, 127);
    const std::vector<std::int8_t> low(100, -128);
    const std::vector<std::int8_t> ones(100, 1);
    CHECK(reduced<std::int8_t>(Operator::sum, {high, ones}) == low);
    CHECK(reduced<std::int8_t>(Operator::sum, {low, low}) == std::vector<std::int8_t>(100, 0));
    CHECK(reduced<std::int8_t>(Operator::prod, {low, std::vector<std::int8_t>(100, -1)}) == low);
    const std::vector<std::uint16_t> most(70, 65535);
    CHECK(reduced<std::uint16_t>(Operator::sum, {most, most}) ==
          std::vector<std::uint16_t>(70, 65534));
    CHECK(reduced<std::uint16_t>(Operator::prod, {most, most}) ==
          std::vector<std::uint16_t>(70, 1));
    const std::vector<std::int64_t> minimum(9, std::numeric_limits<std::int64_t>::min());
    CHECK(reduced<std::int64_t>(Operator::sum, {minimum, minimum}) ==
          std::vector<std::int64_t>(9, 0));
  });
}

TEST_CASE("floating-point sums are folded from the left") {
  on_every_instruction_set([] {
    // (1 + tiny) + tiny = 1, whereas 1 + (tiny + tiny) is larger.
    const double tiny = std::numeric_limits<double>::epsilon() / 2;
    const std::vector<double> one(50, 1.0);
    const std::vector<double> small(50, tiny);
    CHECK(reduced<double>(Operator::sum, {one, small, small}) == one);
    CHECK(reduced<double>(Operator::sum, {small, small, one}) ==
          std::vector<double>(50, 1.0 + 2 * tiny));
  });
}

/// Every length of a vector of any instruction set, one more and one less.
constexpr auto kLengths =
    std::to_array<std::size_t>({1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200});

TEST_CASE_TEMPLATE("min and max: a NaN stays, wherever it stands", T, float, double) {
  on_every_instruction_set([] {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto quiet = std::bit_cast<Bits>(std::numeric_limits<T>::quiet_NaN());
    for (const std::size_t count : kLengths) {
      const std::vector<T> number(count, T{1});
      const std::vector<T> infinite(count, -std::numeric_limits<T>::infinity());
      const std::vector<T> nan(count, std::bit_cast<T>(quiet | 1));
      const std::vector<T> other_nan(count, std::bit_cast<T>(quiet | 2));
      for (const Operator op : {Operator::min, Operator::max}) {
        for (const auto& sources :
             {std::vector{nan, number}, std::vector{number, nan}, std::vector{other_nan, nan},
              std::vector{nan, infinite}, std::vector{number, other_nan, nan, infinite}}) {
          for (const T value : reduced<T>(op, sources))
            CHECK(std::bit_cast<Bits>(value) == (quiet | 1));
        }
      }
    }
  });
}

TEST_CASE_TEMPLATE("min and max: the first of two zeros stays", T, float, double) {
  on_every_instruction_set([] {
    for (const std::size_t count : kLengths) {
      const std::vector<T> zero(count, T{0});
      const std::vector<T> minus_zero(count, -T{0});
      for (const Operator op : {Operator::min, Operator::max}) {
        for (const T value : reduced<T>(op, {zero, minus_zero})) CHECK(!std::signbit(value));
        for (const T value : reduced<T>(op, {minus_zero, zero})) CHECK(std::signbit(value));
      }
    }
  });
}

TEST_CASE("logical operators yield 0 or 1, whichever bits are set") {
  on_every_instruction_set([] {
    const std::vector<std::int32_t> left = {0, 0, 256, 256, -5, 1 << 30};
    const std::vector<std::int32_t> right = {0, 7, 0, 512, 1 << 31, 0};
    CHECK(reduced<std::int32_t>(Operator::logical_and, {left, right}) ==
          std::vector<std::int32_t>{0, 0, 0, 1, 1, 0});
    CHECK(reduced<std::int32_t>(Operator::logical_or, {left, right}) ==
          std::vector<std::int32_t>{0, 1, 1, 1, 1, 1});
    CHECK(reduced<std::int32_t>(Operator::logical_xor, {left, right}) ==
          std::vector<std::int32_t>{0, 1, 1, 0, 0, 1});
  });
}

TEST_CASE("a single source is copied unchanged, even for logical operators") {
  on_every_instruction_set([] {
    for (const std::size_t count : {1, 3, 700}) {
      const std::vector<std::int16_t> source(count, 300);
      CHECK(reduced<std::int16_t>(Operator::logical_and, {source}) == source);
    }
  });
}

TEST_CASE("neighbouring ranges belong to different threads") {
  // ThreadSanitizer reports any access beyond a thread's own elements.
  on_every_instruction_set([] {
    for (const Stores stores : {Stores::cached, Stores::streaming}) {
      for (const std::size_t border : {1, 7, 33, 64, 199, 299}) {
        std::vector<std::int16_t> left(300, 1), right(300, 2), sum(300, 0);
        const auto reduce_part = [&](std::size_t begin, std::size_t end) {
          const std::array<const void*, 2> sources = {left.data() + begin, right.data() + begin};
          const std::array<void*, 2> destinations = {sum.data() + begin, left.data() + begin};
          reduce_kernel(Operator::sum, DataType::int16)(destinations, sources, end - begin, stores);
        };
        std::thread other([&] { reduce_part(0, border); });
        reduce_part(border, 300);
        other.join();
        CHECK(sum == std::vector<std::int16_t>(300, 3));
        CHECK(left == sum);
      }
    }
  });
}

}  // namespace
}  // namespace hycoll
