#include "core/staging/strand_knowledge.h"

#include <algorithm>

#include "core/base/at.h"
#include "core/base/errors.h"

namespace hycoll {
StrandKnowledge::StrandKnowledge(int strand_count)
    : strands_(at(strand_count)), furthest_(at(strand_count), 0) {}

bool StrandKnowledge::knows(int by, const StrandMoment& moment) {
  Known& known = strands_[at(by)];
  if (known.clock.empty()) return false;
  const int& reached = known.clock[at(moment.strand)];
  if (reached >= moment.position) return true;
  if (known.rows.empty() || furthest_[at(moment.strand)] < moment.position) return false;
  look_up(known);
  return reached >= moment.position;
}

void StrandKnowledge::look_up(Known& known) const {
  for (const NumberRange& learned : known.rows) {
    for (const int r : learned) {
      const std::vector<int>& row = rows_[at(r)];
      for (std::size_t i = 0; i < row.size(); ++i) {
        known.clock[i] = std::max(known.clock[i], row[i]);
      }
    }
  }
  known.rows.clear();
}

void StrandKnowledge::keep(const StrandMoment& moment) {
  Known& known = strands_[at(moment.strand)];
  if (known.clock.empty()) return;
  if (!known.kept.empty() && known.kept.back().position == moment.position) return;
  if (known.row == kNothing) {
    look_up(known);
    known.row = static_cast<int>(rows_.size());
    rows_.push_back(known.clock);
    for (std::size_t i = 0; i < furthest_.size(); ++i) {
      furthest_[i] = std::max(furthest_[i], known.clock[i]);
    }
  }
  known.kept.push_back({.position = moment.position, .row = known.row});
}

int StrandKnowledge::row_of(const StrandMoment& moment) const {
  const Known& known = strands_[at(moment.strand)];
  const auto found = std::ranges::lower_bound(known.kept, moment.position, {}, &Moments::position);
  if (found != known.kept.end() && found->position == moment.position) return found->row;
  HYCOLL_ASSERT(known.clock.empty() || moment.position <= known.first_learned,
                "what others may wait for is kept");
  return kNothing;
}

std::span<const int> StrandKnowledge::of(const StrandMoment& moment) const {
  const int row = row_of(moment);
  if (row == kNothing) return {};
  return rows_[at(row)];
}

void StrandKnowledge::learn(int strand, int position, const StrandMoment& moment) {
  const int row = row_of(moment);
  Known& known = strands_[at(strand)];
  if (known.clock.empty()) {
    known.clock.resize(strands_.size(), 0);
    known.first_learned = position;
  }
  if (row != kNothing) {
    // Most often one after the other.
    const bool continues =
        !known.rows.empty() && known.rows.back().first + known.rows.back().count == row;
    if (!continues) known.rows.push_back({.first = row, .count = 0});
    ++known.rows.back().count;
  }
  int& reached = known.clock[at(moment.strand)];
  reached = std::max(reached, moment.position);
  known.row = kNothing;
}

}  // namespace hycoll
