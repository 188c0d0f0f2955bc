#ifndef HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_H_
#define HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_H_

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/machine_prices.h"
#include "core/base/transfer_times.h"
#include "tools/measure/concurrent_runs.h"
#include "tools/measure/message_streams.h"

namespace hycoll::command {

/// What repeated measurements of one thing say.
struct Spread {
  double low = 0;  ///< The first quartile,
  double median = 0;
  double high = 0;     ///< and the third.
  int samples = 0;     ///< They are of so many, whose threads had their cores.
  double running = 1;  ///< The part of the time for which threads had them: the median of all.

  /// Whether there were enough: otherwise the machine was busy, or has too few cores.
  bool is_told() const noexcept { return samples >= kFewest; }
  static constexpr int kFewest = 3;

  friend bool operator==(const Spread&, const Spread&) = default;
};

/// Repeated measurements of one thing, of which those count whose threads had their cores.
class Samples {
 public:
  void add(double value, const measure::RunTime& time = {});
  /// Of all, if too few count: then it is not told. Without any, zeros.
  Spread spread() const;

 private:
  std::vector<double> quiet_;
  std::vector<double> all_;
  std::vector<double> running_;
};

/// Streams of messages of one size by so many pairs of lanes at once.
struct StreamPoint {
  std::size_t size_bytes;
  int pairs;
  Spread messages_per_s;  ///< Of all pairs together.

  double gb_per_s() const { return messages_per_s.median * static_cast<double>(size_bytes) / 1e9; }
};

struct MessageCosts {
  measure::Reach reach;
  Spread latency_us;                ///< Of 8 bytes, one way.
  Spread message_us;                ///< Each further one of 8 bytes.
  std::vector<StreamPoint> points;  ///< By size, then pairs from 1 on, both ascending.

  int most_pairs() const { return points.empty() ? 0 : points.back().pairs; }
  std::size_t most_bytes() const { return points.empty() ? 0 : points.back().size_bytes; }
  /// Requires that it is there.
  const StreamPoint& at(std::size_t size_bytes, int pairs) const;
  /// The throughput of so many pairs, of that of one.
  double relative(const StreamPoint& point) const;
};

/// So many workers at once, all together.
struct MemoryPoint {
  int workers;
  Spread copy_gb_per_s;
  Spread reduce_gb_per_s;
};

struct LineLatency {
  Proximity proximity;
  Spread ns;  ///< From a write on one core to who looks for it on the other.
};

/// What `hycoll calibrate` has measured.
struct Calibration {
  std::vector<MemoryPoint> memory;     ///< By workers from 1 on, ascending.
  std::vector<LineLatency> latencies;  ///< From near to far, of those distances that there are.
  Spread gap_ns;
  std::vector<MessageCosts> messages;  ///< Of each reach that the job's processes have.

  /// Null if it has not been measured.
  const MessageCosts* messages_of(measure::Reach reach) const;
};

/// A price, and where it comes from.
struct CalibratedPrice {
  std::string key;
  bool is_measured = false;  ///< Otherwise it is the default.
  std::string origin;        ///< For people: what it is of, or why it could not be told.
};

struct CalibratedPrices {
  MachinePrices prices;
  std::vector<CalibratedPrice> all;  ///< One for each, as price_texts() lists them.
};

/// The prices that follow from measurements. What has not been measured, or could not be told,
/// keeps its default. Pure.
CalibratedPrices prices_of(const Calibration& calibration);

/// "1.41 (1.38 to 1.52)"; why it could not be told, if so.
std::string to_text(const Spread& spread);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_CALIBRATING_CALIBRATION_H_
