#include "tests/threading/orders/names.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace hycoll::orders {
namespace {

std::string demangled(const char* mangled) {
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), std::free);
  std::string name = text == nullptr ? mangled : text.get();
  constexpr std::string_view kNamespace = "hycoll::";
  if (name.starts_with(kNamespace)) name.erase(0, kNamespace.size());
  return name.substr(0, name.find('('));
}

bool is_of_the_standard_library(std::string_view mangled) {
  constexpr std::array<std::string_view, 5> kBeginnings = {"_ZNSt", "_ZNKSt", "_ZSt", "_ZZNSt",
                                                           "_ZZNKSt"};
  return std::ranges::any_of(kBeginnings,
                             [&](std::string_view begin) { return mangled.starts_with(begin); });
}

std::string mangled_name_of(const void* instruction) {
  Dl_info info{};
  // A return address may lie behind the function's end.
  const bool is_known = dladdr(static_cast<const std::byte*>(instruction) - 1, &info) != 0;
  return is_known && info.dli_sname != nullptr ? info.dli_sname : "";
}

}  // namespace

const std::string& function_of(const void* instruction) {
  static std::unordered_map<const void*, std::string> known;
  const auto [place, is_new] = known.try_emplace(instruction);
  if (!is_new) return place->second;
  const std::string name = mangled_name_of(instruction);
  if (!is_of_the_standard_library(name)) place->second = demangled(name.c_str());
  return place->second;
}

bool is_choice_of_the_library(const void* instruction) {
  static std::unordered_map<const void*, bool> known;
  const auto [place, is_new] = known.try_emplace(instruction);
  if (is_new) {
    const std::string name = mangled_name_of(instruction);
    place->second = name.starts_with("_ZNSt8__detail") || name.starts_with("_ZNKSt8__detail") ||
                    name.starts_with("_ZNSt16_Sp_counted") ||
                    name.starts_with("_ZNKSt16_Sp_counted");
  }
  return place->second;
}

}  // namespace hycoll::orders
