// Slurm's host lists, and the order of hosts.

#include "core/network/host_list.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/errors.h"

namespace hycoll {
namespace host_list_test {

using Names = std::vector<std::string>;

Names expanded(std::string_view text) { return expand_host_list(text, "f:1"); }

TEST_CASE("host lists expand as Slurm expands them") {
  CHECK(expanded("n1") == Names{"n1"});
  CHECK(expanded("n[1-3,7],m01") == Names{"n1", "n2", "n3", "n7", "m01"});
  CHECK(expanded("n[08-11]") == Names{"n08", "n09", "n10", "n11"});
  CHECK(expanded("r[1-2]n[08-09]") == Names{"r1n08", "r1n09", "r2n08", "r2n09"});
  CHECK(expanded("a[0]-ib,b") == Names{"a0-ib", "b"});
  CHECK(expanded("[1-2]") == Names{"1", "2"});
  CHECK(expanded("n[98-101]") == Names{"n98", "n99", "n100", "n101"});
}

TEST_CASE("what is no host list is refused, with its place") {
  for (const char* text :
       {"",       ",",     "n1,",   ",n1",    "n1,,n2", "n[",   "n]",       "n[]",
        "n[1",    "n[1-]", "n[-1]", "n[3-1]", "n[1,]",  "n[a]", "n[1-2",    "n[1]]",
        "n[[1]]", "n 1",   "n\t1",  "n\x01",  "n{1}",   "n=1",  "n[1-2-3]", "n[0000000001]"}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(expanded(text), doctest::Contains("f:1: host list '"), Error);
  }
}

TEST_CASE("absurdly many names are refused before they are made") {
  for (const char* text :
       {"n[0-999999999]", "n[0-999]m[0-999]k[0-9]", "m,n[0-999999]", "n[0-9,0-999999]"}) {
    CHECK_THROWS_WITH_AS(expanded(text), doctest::Contains("more than 1000000 names"), Error);
  }
  CHECK(expanded("n[1-1000]m[1-1000]").size() == kMostNames);
}

TEST_CASE("numbers in names count as numbers") {
  const Names sorted = {"a", "a1", "a2", "a10", "a10b2", "a10b10", "b", "n08", "n9", "n010", "n10"};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    for (std::size_t j = 0; j < sorted.size(); ++j) {
      CAPTURE(sorted[i]);
      CAPTURE(sorted[j]);
      CHECK(is_before_as_host(sorted[i], sorted[j]) == (i < j));
    }
  }
}

}  // namespace host_list_test
}  // namespace hycoll
