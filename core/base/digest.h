#ifndef HYCOLL_CORE_BASE_DIGEST_H_
#define HYCOLL_CORE_BASE_DIGEST_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hycoll {

/// FNV-1a over bytes: a number by which processes compare what they have, not for whoever tries to
/// deceive.
class Digest {
 public:
  /// Byte by byte, the lowest one first.
  template <std::unsigned_integral Number>
  void add(Number number) noexcept {
    for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
      add_byte(static_cast<unsigned char>(number >> 8 * byte));
    }
  }
  void add(std::string_view text) noexcept {
    for (const char letter : text) add_byte(static_cast<unsigned char>(letter));
  }

  std::uint64_t value() const noexcept { return value_; }

 private:
  void add_byte(unsigned char byte) noexcept { value_ = (value_ ^ byte) * 0x100000001b3u; }

  std::uint64_t value_ = 0xcbf29ce484222325u;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_DIGEST_H_
