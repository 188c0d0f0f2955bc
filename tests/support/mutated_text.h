#ifndef HYCOLL_TESTS_SUPPORT_MUTATED_TEXT_H_
#define HYCOLL_TESTS_SUPPORT_MUTATED_TEXT_H_

#include <cstddef>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace hycoll::tests {

using Random = std::mt19937_64;

inline int drawn(Random& random, int least, int most) {
  return std::uniform_int_distribution(least, most)(random);
}

/// A text with some bytes, words or lines changed, taken away, repeated or moved: for readers,
/// which accept or refuse it.
inline std::string mutated(std::string text, Random& random) {
  constexpr std::string_view kBytes = "[]-,=:#'\"\\ \t\n{}&|s0n9\xff";
  for (int change = drawn(random, 1, 4); change > 0 && !text.empty(); --change) {
    const auto last = static_cast<int>(text.size()) - 1;
    const auto from = static_cast<std::size_t>(drawn(random, 0, last));
    const auto size = static_cast<std::size_t>(drawn(random, 1, 12));
    switch (drawn(random, 0, 4)) {
      case 0:
        text[from] = kBytes[static_cast<std::size_t>(drawn(random, 0, std::ssize(kBytes) - 1))];
        break;
      case 1:
        text.erase(from, size);
        break;
      case 2:
        text.insert(from, text.substr(static_cast<std::size_t>(drawn(random, 0, last)), size));
        break;
      case 3:
        text.resize(from);
        break;
      default: {
        // A line once more.
        const std::size_t begin = text.rfind('\n', from) + 1;
        const std::string line = text.substr(begin, text.find('\n', from) - begin + 1);
        text.insert(begin, line);
      }
    }
  }
  return text;
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_SUPPORT_MUTATED_TEXT_H_
