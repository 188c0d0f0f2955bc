#include "tools/command/line/sizes.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll::command {
namespace sizes_test {

using Sizes = std::vector<std::size_t>;
using Numbers = std::vector<int>;

/// The message of the error that `function` throws; "" if it throws none.
template <class Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::invalid_argument);
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a size is a number with a binary unit") {
  CHECK(parse_size("--bytes", "0") == 0);
  CHECK(parse_size("--bytes", "8") == 8);
  CHECK(parse_size("--bytes", "8B") == 8);
  CHECK(parse_size("--bytes", "1Ki") == 1024);
  CHECK(parse_size("--bytes", "16MiB") == std::size_t{16} << 20);
  CHECK(parse_size("--bytes", "3Gi") == std::size_t{3} << 30);
}

TEST_CASE("a range of sizes is its start and the doublings up to its end") {
  CHECK(parse_sizes("--sizes", "8:64") == Sizes{8, 16, 32, 64});
  CHECK(parse_sizes("--sizes", "8:63") == Sizes{8, 16, 32});
  CHECK(parse_sizes("--sizes", "24:100") == Sizes{24, 48, 96});
  CHECK(parse_sizes("--sizes", "8:8") == Sizes{8});
  const Sizes whole = parse_sizes("--sizes", "8:16Mi");
  CHECK(whole.size() == 22);
  CHECK(whole.front() == 8);
  CHECK(whole.back() == std::size_t{16} << 20);
}

TEST_CASE("a list of sizes keeps its order and drops repetitions") {
  CHECK(parse_sizes("--sizes", "8,24,1Ki") == Sizes{8, 24, 1024});
  CHECK(parse_sizes("--sizes", "1Ki,8,1Ki") == Sizes{1024, 8});
  CHECK(parse_sizes("--sizes", "0,8:32,12") == Sizes{0, 8, 16, 32, 12});
}

TEST_CASE("the largest sizes do not overflow") {
  const Sizes sizes = parse_sizes("--sizes", "1:8589934591Gi");
  CHECK(sizes.back() == std::size_t{1} << 62);
  CHECK(message_of([] { parse_size("--bytes", "8589934592Gi"); }) != "");
  CHECK(message_of([] { parse_size("--bytes", "99999999999999999999"); }) != "");
}

TEST_CASE("a malformed list of sizes is an error that names argument, value and remedy") {
  for (const char* text :
       {"",   ",",  "8,", "x",     "8:x", "8:",  ":8", "8:16:32", "16:8", "-8",
        "+8", "8 ", " 8", "1.5Ki", "8K",  "8ki", "Ki", "0:8",     "0x10", "8:16Ti"}) {
    CAPTURE(text);
    const std::string message = message_of([&] { parse_sizes("--sizes", text); });
    CHECK(contains(message, "--sizes"));
    CHECK(contains(message, std::string("'") + text + "'"));
    CHECK(contains(message, "Give"));
  }
}

TEST_CASE("numbers are ranges and lists, ascending and without repetitions") {
  CHECK(parse_numbers("--nodes", "1:4", 1, 8) == Numbers{1, 2, 3, 4});
  CHECK(parse_numbers("--nodes", "5", 1, 8) == Numbers{5});
  CHECK(parse_numbers("--nodes", "7,2:3,2", 1, 8) == Numbers{2, 3, 7});
}

TEST_CASE("numbers out of range or malformed are errors that name argument, value and remedy") {
  for (const char* text : {"", "0", "9", "0:3", "1:9", "4:2", "1:2:3", "x", "1,", "-1", "1.0",
                           "99999999999", "99999999999999999999999"}) {
    CAPTURE(text);
    const std::string message = message_of([&] { parse_numbers("--nodes", text, 1, 8); });
    CHECK(contains(message, "--nodes"));
    CHECK(contains(message, std::string("'") + text + "'"));
    CHECK(contains(message, "from 1 to 8"));
  }
}

TEST_CASE("short sizes read back as they were") {
  for (std::size_t size = 0; size < 5000; ++size) {
    CHECK(parse_size("--bytes", short_size(size)) == size);
  }
  CHECK(short_size(0) == "0");
  CHECK(short_size(1023) == "1023");
  CHECK(short_size(1024) == "1Ki");
  CHECK(short_size(1536) == "1536");
  CHECK(short_size(std::size_t{16} << 20) == "16Mi");
}

}  // namespace sizes_test
}  // namespace hycoll::command
