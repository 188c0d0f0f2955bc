// Where the launcher has put the processes, said for people.

#include "numa/placement/process_places.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace hycoll {
namespace process_places_test {

TEST_CASE("a process alone has its CPUs to itself") {
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {3}}}) == "  a: 1 process, on CPU 3\n");
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {0, 1, 2, 8}}}) ==
        "  a: 1 process, on CPUs 0-2,8\n");
}

TEST_CASE("processes of a host divide its CPUs, have all of them, or share some") {
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {0}}, {"a", {1}}}) ==
        "  a: 2 processes, on CPUs 0-1, 1 for each\n");
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {0, 1}}, {"a", {2}}}) ==
        "  a: 2 processes, on CPUs 0-2, 1 to 2 for each\n");
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {0, 1}}, {"a", {0, 1}}}) ==
        "  a: 2 processes, on CPUs 0-1, all of them for each\n");
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {0, 1}}, {"a", {1, 2}}}) ==
        "  a: 2 processes, on CPUs 0-2, 2 for each, some of them shared\n");
}

TEST_CASE("hosts that are alike have one line, wherever their ranks are") {
  CHECK(describe_places(std::vector<ProcessPlace>{
            {"b", {0}}, {"c", {0, 1}}, {"a", {0}}, {"b", {1}}, {"a", {1}}}) ==
        "  b, a: 2 processes each, on CPUs 0-1, 1 for each\n"
        "  c: 1 process, on CPUs 0-1\n");
}

TEST_CASE("hosts whose processes have the same CPUs in another order are not alike") {
  CHECK(describe_places(
            std::vector<ProcessPlace>{{"a", {0}}, {"a", {1, 2}}, {"b", {1, 2}}, {"b", {0}}}) ==
        "  a: 2 processes, on CPUs 0-2, 1 to 2 for each\n"
        "  b: 2 processes, on CPUs 0-2, 1 to 2 for each\n");
}

TEST_CASE("where masks are not known the text says so") {
  CHECK(describe_places(std::vector<ProcessPlace>{{"a", {}}, {"a", {}}}) ==
        "  a: 2 processes, on CPUs that are not known\n");
}

TEST_CASE("of many hosts the first four are named") {
  std::vector<ProcessPlace> places;
  for (int host = 0; host < 100; ++host) places.push_back({"n" + std::to_string(host), {0}});
  CHECK(describe_places(places) == "  n0, n1, n2, n3 and 96 more: 1 process each, on CPU 0\n");
}

TEST_CASE("without processes there is nothing to say") { CHECK(describe_places({}).empty()); }

}  // namespace process_places_test
}  // namespace hycoll
