// The text of prices, as options and machine files have it.

#include "core/base/price_text.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/base/errors.h"

namespace hycoll {
namespace price_text_test {

TEST_CASE("prices are read, in any unit, and written back") {
  const MachinePrices prices = parse_prices("--price", "alpha=1500ns,bandwidth=500MB/s,gap=0us");
  CHECK(prices.alpha_us == doctest::Approx(1.5));
  CHECK(prices.bandwidth_gb_per_s == doctest::Approx(0.5));
  CHECK(prices.gap_us == 0);
  CHECK(prices.reduce_gb_per_s == MachinePrices{}.reduce_gb_per_s);
  CHECK(parse_prices("--price", to_text(prices)) == prices);
  CHECK(parse_prices("--price", "default") == MachinePrices{});
  CHECK(parse_prices("--price", to_text(MachinePrices{})) == MachinePrices{});
  CHECK(std::isinf(parse_prices("--price", "copy=unlimited").copy_gb_per_s));
}

TEST_CASE("what is not named is as before") {
  MachinePrices base;
  base.alpha_us = 20;
  base.copy_gb_per_s = 3;
  const MachinePrices prices = parse_prices("--price", "alpha=2us", base);
  CHECK(prices.alpha_us == 2);
  CHECK(prices.copy_gb_per_s == 3);
  CHECK(parse_prices("--price", "default", base) == base);
}

TEST_CASE("prices that cannot be read are refused by key, value and remedy") {
  for (const char* text :
       {"", "alpha", "alpha=", "alpha=1", "alpha=us", "alpha=-1us", "alpha=nanus", "alpha=1.5usx",
        "bandwidth=0GB/s", "bandwidth=1us", "beta=1us", "=1us", "alpha=1us,,reduce=1GB/s",
        "alpha=1us,alpha=2us", "alpha=1e999us", "alpha=unlimited", "memory=infGB/s"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(static_cast<void>(parse_prices("--price", text)), Error);
  }
  CHECK_THROWS_WITH(
      static_cast<void>(parse_prices("--price", "alpha=1.5")),
      "--price: alpha='1.5' is no time in ns, us, ms or s. Give a time such as 1.5us");
  CHECK_THROWS_WITH(static_cast<void>(parse_prices("--price", "gap=2000s")),
                    "--price: gap='2000s' is more than 1000 s. Give a time such as 1.5us");
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_prices("--price", "copy=1e-300GB/s")),
                       doctest::Contains("less than a kilobyte a second. Give a rate"), Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(parse_prices("--price", "beta=1us")),
                       doctest::Contains("there is no price 'beta'. Give some of alpha, "), Error);
}

}  // namespace price_text_test
}  // namespace hycoll
