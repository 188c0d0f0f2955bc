#ifndef HYCOLL_CORE_SIMULATION_SHARED_MEMORY_H_
#define HYCOLL_CORE_SIMULATION_SHARED_MEMORY_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <queue>
#include <vector>

namespace hycoll {

/// Bytes that a worker moves through the memory of a NUMA domain.
struct MemoryMove {
  int id;
  int domain;
  double size_bytes;
  double most_bytes_per_us;  ///< What the worker can move.
};

struct MemoryEnd {
  int id;
  double time_us;
};

/// NUMA domains whose workers share its memory by max-min fairness: all are equally fast, but for
/// those who cannot be, whose rest the others get. For one thread.
class SharedMemory {
 public:
  /// All domains are equally fast.
  SharedMemory(int domain_count, double bytes_per_us)
      : bytes_per_us_(bytes_per_us), domains_(static_cast<std::size_t>(domain_count)) {}

  /// Times are in ascending order, over begin() and next(). Requires size_bytes > 0.
  void begin(const MemoryMove& move, double time_us);

  /// When the next move ends; infinite if none is under way.
  double next_time_us();

  /// Ends that one. Requires one.
  MemoryEnd finish_next();

 private:
  struct Part {
    int id;
    double rest_bytes;
    double most_bytes_per_us;
    double bytes_per_us;
  };
  struct Domain {
    std::vector<Part> parts;  // the slowest first
    double time_us = 0;       // of the rests
    int version = 0;          // of the shares: what was foretold with others does not hold
  };
  struct Foretold {
    double time_us;
    int domain;
    int version;
    friend bool operator>(const Foretold& a, const Foretold& b) { return a.time_us > b.time_us; }
  };

  void advance(Domain& domain, double time_us);
  /// Shares the memory among the parts, and foretells the next end.
  void share(int domain);

  double bytes_per_us_;
  std::vector<Domain> domains_;
  std::priority_queue<Foretold, std::vector<Foretold>, std::greater<>> foretold_;
};

}  // namespace hycoll

#endif  // HYCOLL_CORE_SIMULATION_SHARED_MEMORY_H_
