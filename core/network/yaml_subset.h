#ifndef HYCOLL_CORE_NETWORK_YAML_SUBSET_H_
#define HYCOLL_CORE_NETWORK_YAML_SUBSET_H_

#include <string>
#include <string_view>
#include <vector>

namespace hycoll {

struct YamlEntry;

/// A value of a YAML document, and the line in which it begins.
struct YamlNode {
  enum class Kind { scalar, sequence, mapping };

  Kind kind = Kind::scalar;
  int line = 0;
  std::string text;                ///< Of a scalar, without its quotes.
  std::vector<YamlNode> items;     ///< Of a sequence.
  std::vector<YamlEntry> entries;  ///< Of a mapping, in their order.

  /// The value of a key; null if there is none.
  const YamlNode* find(std::string_view key) const;
};

struct YamlEntry {
  std::string key;
  int line = 0;
  YamlNode value;
};

/// Reads one document in the part of YAML that Slurm's documents use: mappings and sequences in
/// lines of their own, nested by blanks; scalars on one line, plain or in quotes without escapes;
/// sequences of scalars in brackets; comments; "---" before the document and "..." behind it.
/// Anchors, tags, block scalars, braces and a second document are refused, and so is what YAML does
/// not allow: tabs that indent, keys that stand twice.
///
/// Pure. `file` is what messages call the text. Throws Error (invalid_argument) with "FILE:LINE: ".
YamlNode parse_yaml_subset(std::string_view text, const std::string& file);

}  // namespace hycoll

#endif  // HYCOLL_CORE_NETWORK_YAML_SUBSET_H_
