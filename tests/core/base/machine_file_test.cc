// Machine files: what is read, and what is refused, where.

#include "core/base/machine_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "core/base/errors.h"
#include "tests/support/mutated_text.h"
#include "tests/support/seed.h"

namespace hycoll {
namespace machine_file_test {

const std::string kFile = R"({
  "hycoll_machine": 1,
  "about": {"processor": "one of two", "date": "2026-01-31"},
  "prices": {
    "alpha": "2.5us",
    "bandwidth": "3GB/s",
    "endpoint": "unlimited",
    "gap": "40ns"
  },
  "measured": {"copy": [{"workers": 1, "gb_per_s": 9.5}]}
}
)";

TEST_CASE("prices are read; what a file does not name has its default") {
  const MachinePrices prices = read_machine_prices(kFile, "file");
  CHECK(prices.alpha_us == 2.5);
  CHECK(prices.bandwidth_gb_per_s == 3);
  CHECK(std::isinf(prices.endpoint_gb_per_s));
  CHECK(prices.gap_us == doctest::Approx(0.04));
  CHECK(prices.copy_gb_per_s == MachinePrices{}.copy_gb_per_s);
  CHECK(read_machine_prices(R"({"hycoll_machine": 1, "prices": {}})", "file") == MachinePrices{});
}

struct Broken {
  std::string text;
  const char* message;
};

/// A file with these prices.
std::string with_prices(std::string_view prices) {
  return fmt::format("{{\"hycoll_machine\": 1,\n \"prices\": {{{}}}}}", prices);
}

TEST_CASE("broken files are refused by file, line or key, value, and what was expected") {
  for (const auto& [text, message] : {
           Broken{"", "file:1: "},
           Broken{"alpha=1us", "file:1: "},
           Broken{"{\"hycoll_machine\": 1,\n\"prices\": {\n", "file:3: "},
           Broken{kFile.substr(0, 100), "file:4: "},
           Broken{kFile + "x", "file:12: "},
           Broken{"{\"hycoll_machine\": 1e999}", "expected a machine file, which is JSON"},
           Broken{"[1]", "file: it holds an array; expected an object"},
           Broken{"7", "file: it holds 7; expected an object"},
           Broken{"{}", "file: this is no machine file; expected \"hycoll_machine\": 1"},
           Broken{R"({"hycoll_machine": 2})", "hycoll_machine is 2, a version"},
           Broken{R"({"hycoll_machine": "1"})", "hycoll_machine is \"1\", a version"},
           Broken{R"({"hycoll_machine": 1})", "prices is missing; expected \"prices\": {"},
           Broken{R"({"hycoll_machine": 1, "prices": [1]})", "prices is an array; expected an"},
           Broken{R"({"hycoll_machine": 1, "prices": {}, "about": 3})", "about is 3; expected an"},
           Broken{R"({"hycoll_machine": 1, "prices": {}, "price": {}})",
                  "key 'price' is not known; expected some of hycoll_machine, prices,"},
           Broken{R"({"hycoll_machine": 1, "prices": {}, "prices": {}})",
                  "\"prices\" stands twice in an object"},
           Broken{with_prices(R"("alpha": "1us", "alpha": "2us")"), "\"alpha\" stands twice"},
           Broken{with_prices(R"("beta": "1us")"),
                  "file: prices: there is no price 'beta'. Give some of alpha,"},
           Broken{with_prices(R"("alpha": 1.5)"), "file: prices: alpha is 1.5; expected a text"},
           Broken{with_prices(R"("alpha": null)"), "alpha is null; expected a text with a unit"},
           Broken{with_prices(R"("alpha": {"us": 1})"), "alpha is an object; expected a text"},
           Broken{with_prices(R"("alpha": "1.5")"), "file: prices: alpha='1.5' is no time in"},
           Broken{with_prices(R"("alpha": "-1us")"), "alpha='-1us' is no time"},
           Broken{with_prices(R"("alpha": "1GB/s")"), "alpha='1GB/s' is no time"},
           Broken{with_prices(R"("memory": "0GB/s")"), "memory='0GB/s' is no rate above 0"},
           Broken{with_prices(R"("memory": "nanGB/s")"), "memory='nanGB/s' is no rate above 0"},
           Broken{with_prices(R"("memory": "1e-9MB/s")"), "is less than a kilobyte a second"},
           Broken{with_prices(R"("wait": "1e30s")"), "wait='1e30s' is more than 1000 s"},
           Broken{with_prices("\"wait\": \"\xff\""), "file:2: "},
           // Nested deeper than a stack is long.
           Broken{std::string(100'000, '['), "file:1: "},
           Broken{std::string(100'000, '[') + std::string(100'000, ']'), "holds an array"},
       }) {
    CAPTURE(text.substr(0, 200));
    try {
      static_cast<void>(read_machine_prices(text, "file"));
      FAIL_CHECK("is not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::invalid_argument);
      const std::string found = error.what();
      CHECK_MESSAGE(found.starts_with("file:"), found);
      CHECK_MESSAGE(found.find(message) != std::string::npos, found);
      const bool says_what =
          found.find("expected") != std::string::npos || found.find("Give") != std::string::npos;
      CHECK_MESSAGE(says_what, found);
    }
  }
}

TEST_CASE("files that cannot be read are named with the argument") {
  CHECK_THROWS_WITH_AS(static_cast<void>(read_machine_file("--machine", "/nowhere/file")),
                       doctest::Contains("--machine '/nowhere/file' cannot be read: No such file"),
                       Error);
  CHECK_THROWS_WITH_AS(static_cast<void>(read_machine_file("--machine", "/")),
                       doctest::Contains("Is a directory"), Error);
}

TEST_CASE("mutated files have prices that can be reckoned with, or are refused by name") {
  tests::Random random(41 + tests::seed_offset());
  int read = 0;
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::string text = tests::mutated(kFile, "{}[]\":,.-+e019us GMB/\\\n\xff", random);
    CAPTURE(text);
    try {
      const MachinePrices prices = read_machine_prices(text, "file");
      ++read;
      CHECK((prices.alpha_us >= 0 && prices.alpha_us <= 1e9));
      CHECK((prices.gap_us >= 0 && prices.gap_us <= 1e9));
      CHECK(prices.bandwidth_gb_per_s >= 1e-6);
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() == ErrorKind::invalid_argument);
      CHECK(std::string_view(error.what()).starts_with("file:"));
    }
  }
  CHECK(read > 20);
  CHECK(refused > 1000);
}

}  // namespace machine_file_test
}  // namespace hycoll
