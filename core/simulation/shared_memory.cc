#include "core/simulation/shared_memory.h"

#include <algorithm>
#include <limits>

#include "core/base/at.h"
#include "core/base/errors.h"

namespace hycoll {
void SharedMemory::begin(const MemoryMove& move, double time_us) {
  Domain& domain = domains_[at(move.domain)];
  advance(domain, time_us);
  const auto after =
      std::ranges::upper_bound(domain.parts, move.most_bytes_per_us, {}, &Part::most_bytes_per_us);
  domain.parts.insert(after, {.id = move.id,
                              .rest_bytes = move.size_bytes,
                              .most_bytes_per_us = move.most_bytes_per_us,
                              .bytes_per_us = 0});
  share(move.domain);
}

double SharedMemory::next_time_us() {
  while (!foretold_.empty() &&
         foretold_.top().version != domains_[at(foretold_.top().domain)].version) {
    foretold_.pop();
  }
  return foretold_.empty() ? std::numeric_limits<double>::infinity() : foretold_.top().time_us;
}

MemoryEnd SharedMemory::finish_next() {
  const double time_us = next_time_us();
  HYCOLL_ASSERT(!foretold_.empty(), "nothing is under way");
  const int number = foretold_.top().domain;
  Domain& domain = domains_[at(number)];
  advance(domain, time_us);
  const auto done = std::ranges::min_element(
      domain.parts, {}, [](const Part& part) { return part.rest_bytes / part.bytes_per_us; });
  const int id = done->id;
  domain.parts.erase(done);
  share(number);
  return {id, time_us};
}

void SharedMemory::advance(Domain& domain, double time_us) {
  for (Part& part : domain.parts) {
    part.rest_bytes =
        std::max(0.0, part.rest_bytes - part.bytes_per_us * (time_us - domain.time_us));
  }
  domain.time_us = time_us;
}

void SharedMemory::share(int number) {
  Domain& domain = domains_[at(number)];
  ++domain.version;
  double left = bytes_per_us_;
  auto sharers = static_cast<double>(domain.parts.size());
  double first_us = std::numeric_limits<double>::infinity();
  for (Part& part : domain.parts) {
    part.bytes_per_us = std::min(part.most_bytes_per_us, left / sharers--);
    left -= part.bytes_per_us;
    first_us = std::min(first_us, part.rest_bytes / part.bytes_per_us);
  }
  if (domain.parts.empty()) return;
  foretold_.push({domain.time_us + first_us, number, domain.version});
}

}  // namespace hycoll
