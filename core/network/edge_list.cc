#include "core/network/edge_list.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>
#include <vector>

#include "core/network/host_list.h"
#include "core/network/text_lines.h"

namespace hycoll {
namespace {

constexpr std::string_view kExpectedEdge = "expected 'NAME NAME' or 'NAME NAME CAPACITY'";

class EdgeListReader {
 public:
  explicit EdgeListReader(const std::string& file) : network_(file) {}

  NetworkTree read(std::string_view text) {
    for (const TextLine& line : lines_of(text)) read_line(line);
    network_.make_ends_hosts();
    return std::move(network_).tree(first_switch());
  }

 private:
  void read_line(const TextLine& line) {
    const std::vector<std::string_view> words = words_of(without_comment(line.text));
    if (words.empty()) return;
    if (words.size() > 3) {
      network_.fail(line.number, fmt::format("{} words; {}", words.size(), kExpectedEdge));
    }
    const int a = vertex_of(words[0], line.number);
    if (words.size() == 1) return;
    const int b = vertex_of(words[1], line.number);
    network_.link(a, b, words.size() == 3 ? capacity_of(words[2], line.number) : 1, line.number);
  }

  int vertex_of(std::string_view word, int line) {
    if (!is_network_name(word)) {
      network_.fail(line, fmt::format("'{}' is no name; {}", word, kExpectedEdge));
    }
    const std::string name(word);
    const int known = network_.find(name);
    return known >= 0 ? known : network_.add(name, NetworkVertex::Kind::network_switch, line);
  }

  double capacity_of(std::string_view word, int line) const {
    double capacity = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), capacity);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(capacity) ||
        capacity <= 0) {
      network_.fail(line, fmt::format("capacity '{}'; expected a number above 0, the messages that "
                                      "the link carries at full rate in each direction",
                                      word));
    }
    return capacity;
  }

  int first_switch() const {
    for (int vertex = 0; std::cmp_less(vertex, network_.vertex_count()); ++vertex) {
      if (!network_.is_host(vertex)) return vertex;
    }
    return 0;
  }

  NetworkDescription network_;
};

}  // namespace

NetworkTree read_edge_list(std::string_view text, const std::string& file) {
  return EdgeListReader(file).read(text);
}

}  // namespace hycoll
