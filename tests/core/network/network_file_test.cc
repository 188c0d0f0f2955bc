// The three formats of networks: what is read, and what is refused, where.

#include "core/network/network_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/network/link_loads.h"
#include "core/network/ring_order.h"
#include "tests/core/network/network_texts.h"
#include "tests/support/mutated_text.h"
#include "tests/support/seed.h"

namespace hycoll {
namespace network_file_test {

/// "core(leaf1(n1 n2) leaf2(n3))", with capacities other than 1 behind a colon.
std::string outline(const NetworkTree& tree, int vertex) {
  const NetworkVertex& here = tree.at(vertex);
  std::string text = here.name;
  if (here.capacity != 1) text += fmt::format(":{}", here.capacity);
  if (here.children.empty()) return text;
  std::vector<std::string> below;
  for (const int child : here.children) {
    CHECK(tree.at(child).parent == vertex);
    below.push_back(outline(tree, child));
  }
  return fmt::format("{}({})", text, fmt::join(below, " "));
}

std::string outline(std::string_view text) {
  const NetworkTree tree = read_network(text, "file");
  CHECK(tree.at(tree.root()).parent == -1);
  return outline(tree, tree.root());
}

TEST_CASE("all formats describe the same network") {
  CHECK(outline(tests::kConf) == "core(leaf1(n1 n2 n3) leaf2(n4 n5 m01) login)");
  CHECK(outline(tests::kYaml) == "core(leaf1(n1 n2 n3) leaf2(n4 n5 m01) login)");
  CHECK(outline(tests::kEdges) == "core(leaf1(n1 n2 n3) leaf2(n4 n5 m01) login)");
  const NetworkTree tree = read_network(tests::kConf, "file");
  CHECK(tree.hosts().size() == 7);
  CHECK(tree.at(tree.find_host("m01")).name == "m01");
  CHECK(tree.find_host("core") == -1);
  CHECK(tree.find_host("n6") == -1);
}

TEST_CASE("one host, two hosts, links of several messages, switches in any order") {
  CHECK(outline("alone\n") == "alone");
  CHECK(outline("a b") == "a(b)");
  CHECK(read_network("a b", "file").hosts().size() == 2);
  CHECK(outline("s a\ns b 4\ns t 2.5\nt c\nt d\n") == "s(a b:4 t:2.5(c d))");
  CHECK(outline("SwitchName=s Nodes=n") == "s(n)");
  CHECK(outline("SwitchName=a Nodes=n1\r\nSwitchName=b Nodes=n2\r\nSWITCHNAME=top Switches=a,b") ==
        "top(a(n1) b(n2))");
}

TEST_CASE("of several topologies Slurm's default is taken, else the first tree") {
  const auto yaml = [](const char* first_default, const char* second_default) {
    return fmt::format(
        "- topology: a\n  cluster_default: {}\n  tree:\n    switches:\n      - switch: s\n"
        "        nodes: x[1-2]\n- topology: b\n  cluster_default: {}\n  tree:\n    switches:\n"
        "      -\n        switch: t\n        nodes:\n          y\n...\nnot YAML: [\n",
        first_default, second_default);
  };
  CHECK(outline(yaml("false", "false")) == "s(x1 x2)");
  CHECK(outline(yaml("true", "true")) == "s(x1 x2)");
  CHECK(outline(yaml("False", "TRUE")) == "t(y)");
}

struct Broken {
  std::string text;
  int line;
  const char* words;
};

void check_refused(const std::vector<Broken>& corpus) {
  for (const auto& [text, line, words] : corpus) {
    CAPTURE(text);
    try {
      read_network(text, "file");
      FAIL_CHECK("is not refused");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::invalid_argument);
      const std::string message = error.what();
      CHECK_MESSAGE(message.starts_with(fmt::format("file:{}: ", line)), message);
      CHECK_MESSAGE(message.find(words) != std::string::npos, message);
      CHECK_MESSAGE(message.find("expected") != std::string::npos, message);
    }
  }
}

TEST_CASE("broken lists of links are refused where they are broken") {
  check_refused({
      {"", 1, "no host"},
      {"# nothing\n\n", 1, "no host"},
      {"s a\ns b\n\nt c\nt d\n", 4, "switch 't' is not connected with switch 's'"},
      {"s a\ns b\nlonely\n", 3, "host 'lonely' is not connected"},
      {"s a\ns b\nb s\n", 3, "closes a cycle"},
      {"s a\na a\n", 2, "closes a cycle"},
      {"a b\nb c\nc d\nd a\n", 4, "between 'd' and 'a' closes a cycle"},
      {"s a 0\n", 1, "capacity '0'"},
      {"s a\ns b -1\n", 2, "capacity '-1'"},
      {"s a x\n", 1, "capacity 'x'"},
      {"s a inf\n", 1, "capacity 'inf'"},
      {"s a nan\n", 1, "capacity 'nan'"},
      {"s a 1e999\n", 1, "capacity '1e999'"},
      {"s a 2GB\n", 1, "capacity '2GB'"},
      {"s a 1 2\n", 1, "4 words"},
      {"s n[1-2]\n", 1, "'n[1-2]' is no name"},
  });
}

TEST_CASE("broken files of Slurm's topology/tree are refused where they are broken") {
  check_refused({
      {"SwitchName=s\n", 1, "nothing below it"},
      {"SwitchName=s Nodes=\n", 1, "Nodes has no value"},
      {"SwitchName=s Nodes=a,a\n", 1, "'a' is already the name of a host in line 1"},
      {"SwitchName=s Nodes=a\nSwitchName=t Nodes=a\n", 2, "a host in line 1"},
      {"SwitchName=s Nodes=a\nSwitchName=s Nodes=b\n", 2, "a switch in line 1"},
      {"SwitchName=s Nodes=s\n", 1, "a switch in line 1"},
      {"SwitchName=s Switches=t\n", 1, "'t', which is below 's', is not described"},
      {"SwitchName=s Nodes=a\nSwitchName=t Switches=s,a\n", 2, "'a', which is below 't'"},
      {"SwitchName=s Switches=s\n", 1, "closes a cycle"},
      {"SwitchName=s Switches=t\nSwitchName=t Switches=s\n", 2, "closes a cycle"},
      {"SwitchName=s Switches=t,t\nSwitchName=t Nodes=a\n", 1, "closes a cycle"},
      {"SwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\nSwitchName=c Switches=a,b\n"
       "SwitchName=d Switches=a,b\n",
       4, "closes a cycle"},
      {"SwitchName=s Nodes=a\n\nSwitchName=t Nodes=b\n", 3, "switch 't' is not connected"},
      {"Nodes=a SwitchName=s\n", 1, "'Nodes' is not SwitchName"},
      {"SwitchName=s SwitchName=t Nodes=a\n", 1, "'SwitchName' is there twice"},
      {"SwitchName=s Nodes=a Nodes=b\n", 1, "Nodes stands there twice"},
      {"SwitchName=s[1-2] Nodes=a\n", 1, "'s[1-2]' is no name"},
      {"SwitchName=s Nodes=a[1-\n", 1, "host list 'a[1-'"},
      {"SwitchName=s Nodes=a Speed=3\n", 1, "'Speed' is not known"},
      {"SwitchName=s Nodes=\"a\n", 1, "the quote of Nodes is not closed"},
      {"SwitchName=s Nodes=a b\n", 1, "'b' has no value"},
      {"SwitchName=s \\\n  Nodes=a \\\n  x\n", 1, "'x' has no value"},
      {"BlockName=b Nodes=a\n", 1, "topology/block"},
      {"=\n", 1, "'=' has no value"},
  });
}

std::string yaml_tree(std::string_view switches) {
  return fmt::format("- topology: t\n  tree:\n    switches:\n{}", switches);
}

TEST_CASE("broken files in YAML are refused where they are broken") {
  check_refused({
      {"---\n", 1, "empty"},
      {"- a\n", 1, "has no entries"},
      {"- topology: t\n", 1, "no tree"},
      {"- topology: t\n  flat: true\n", 1, "no tree"},
      {"- topology: t\n  cluster_default: yes\n", 2, "'yes' is no truth value"},
      {"- topology: t\n  tree: yes\n", 2, "'tree' has no entries"},
      {"- topology: t\n  tree:\n    switches: s\n", 3, "no list of switches"},
      {"- topology: t\n  trees:\n", 2, "'trees' is not known"},
      {"- topology: t\n  topology: u\n", 2, "stands in line 1 already"},
      {"- topology: t\n   tree:\n", 2, "indented by 3 blanks"},
      {"- topology: t\n tree:\n", 2, "indented by 1 blanks"},
      {"- topology: t\n\ttree:\n", 2, "a tab"},
      {"- topology: 't\n", 1, "quote"},
      {"- topology: \"t\\n\"\n", 1, "without escapes"},
      {"- topology: &anchor t\n", 1, "'&anchor t'"},
      {"- topology: |\n    t\n", 1, "'|'"},
      {"- topology: {a: b}\n", 1, "'{a: b}'"},
      {"- topology: [a\n", 1, "no ]"},
      {"- topology: [[a]]\n", 1, "brackets in brackets"},
      {"- topology: [a,,b]\n", 1, "is empty"},
      {"- topology: t\n---\n- topology: u\n", 2, "second document"},
      {"- - - - - - - - - - - - - - - - - - - - a\n", 1, "more than 16 levels"},
      {yaml_tree("    - switch: s\n"), 4, "nothing below it"},
      {yaml_tree("    - nodes: a\n"), 4, "no name of a switch"},
      {yaml_tree("    - switch: s t\n      nodes: a\n"), 4, "'s t' is no name"},
      {yaml_tree("    - switch: s\n      node: a\n"), 5, "'node' is not known in a switch"},
      {yaml_tree("    - switch: s\n      nodes:\n"), 5, "host list ''"},
      {yaml_tree("    - switch: s\n      nodes: a[3-1]\n"), 5, "descends"},
      {yaml_tree("    - switch: s\n      nodes: [a, a]\n"), 4, "'a' is already"},
      {yaml_tree("    - switch: s\n      nodes: []\n"), 5, "no names"},
      {yaml_tree("    - switch: s\n      children: t\n"), 4, "'t', which is below 's'"},
      {yaml_tree("    - switch: s\n      nodes: a\n    - switch: t\n      nodes: b\n"), 6,
       "not connected"},
      {yaml_tree("    - switch: s\n      children: t\n    - switch: t\n      children: s\n"), 6,
       "closes a cycle"},
  });
}

TEST_CASE("files that cannot be read are named with the argument") {
  CHECK_THROWS_WITH_AS(read_network_file("--topology", "/nowhere/file"),
                       doctest::Contains("--topology '/nowhere/file' cannot be read: No such file"),
                       Error);
  CHECK_THROWS_WITH_AS(read_network_file("--topology", "/"), doctest::Contains("Is a directory"),
                       Error);
}

TEST_CASE("mutated files are read as trees, or refused with file and line") {
  tests::Random random(43 + tests::seed_offset());
  int read = 0;
  int refused = 0;
  for (int trial = 0; trial < 6000; ++trial) {
    const std::string_view texts[] = {tests::kConf, tests::kYaml, tests::kEdges};
    const std::string text = tests::mutated(std::string(texts[trial % 3]), random);
    CAPTURE(text);
    try {
      const NetworkTree tree = read_network(text, "file");
      ++read;
      CHECK(most_messages(ring_loads(tree, ring_order(tree, tree.hosts()))) <= 1);
    } catch (const Error& error) {
      ++refused;
      CHECK(error.kind() == ErrorKind::invalid_argument);
      const std::string message = error.what();
      const std::size_t digits = message.find_first_not_of("0123456789", 5);
      CHECK_MESSAGE((message.starts_with("file:") && digits > 5 && message[digits] == ':'),
                    message);
    }
  }
  CHECK(read > 100);
  CHECK(refused > 1000);
}

}  // namespace network_file_test
}  // namespace hycoll
