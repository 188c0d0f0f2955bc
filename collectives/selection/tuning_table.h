#ifndef HYCOLL_COLLECTIVES_SELECTION_TUNING_TABLE_H_
#define HYCOLL_COLLECTIVES_SELECTION_TUNING_TABLE_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/collective.h"
#include "core/schedule/shape.h"

namespace hycoll {

/// A tuning file is JSON (docs/tune.md), as `hycoll tune` writes it:
///   {"hycoll_tuning": 1, "cells": [{"collective": "allreduce", "memory": "direct", "nodes": 1,
///    "members": 2, "workers": 2, "bytes": 1024, "algorithm": "dpml-ring", "lanes": 2}]}
/// Cells may have further keys, and "about" may stand beside them, for people and other programs.

inline constexpr const char* kTuningKey = "hycoll_tuning";
inline constexpr int kTuningFileVersion = 1;

/// The calls that cells are about.
struct TunedShape {
  Collective collective = Collective::allreduce;
  Visibility visibility = Visibility::direct;
  int nodes = 1;
  int members = 1;  ///< Of each node.
  int workers = 1;  ///< The same.

  friend auto operator<=>(const TunedShape&, const TunedShape&) = default;
};

/// What was fastest at a size.
struct TunedCell {
  std::size_t size_bytes = 0;  ///< As SelectionQuery has it.
  std::string_view algorithm;  ///< Of all that there are: the name stays.
  int lanes = 1;

  friend bool operator==(const TunedCell&, const TunedCell&) = default;
};

/// What has been measured to be fastest, by shape and size. Immutable.
class TuningTable {
 public:
  /// Throws Error (invalid_argument) that names `file`, the cell, the key, the value and what was
  /// expected.
  static std::shared_ptr<const TuningTable> read(std::string_view text, const std::string& file);

  /// The measured size that is nearest, by ratio; null if the shape has not been measured, or the
  /// size is more than twice as far as the last one that has.
  const TunedCell* find(const TunedShape& shape, std::size_t size_bytes) const;

  /// Of two tables that are alike, the same.
  std::uint64_t digest() const noexcept { return digest_; }

 private:
  std::map<TunedShape, std::vector<TunedCell>> cells_;  // by ascending size
  std::uint64_t digest_ = 0;
};

/// "direct", "staged": how workers of a node reach one another's buffers, in tuning files.
std::string_view tuning_name_of(Visibility visibility) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_SELECTION_TUNING_TABLE_H_
