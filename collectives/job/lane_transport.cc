#include "collectives/job/lane_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/errors.h"
#include "threading/transport/ucx/transport_race.h"
#include "threading/transport/ucx/ucx_endpoint.h"
#include "threading/transport/ucx/ucx_library.h"
#include "threading/transport/ucx/ucx_worker.h"

namespace hycoll {
namespace {

/// What a process knows of UCX, in the order in which the others give way.
enum Knowledge : int { kMissing, kUnmeasured, kSilent, kSlower, kFaster };

/// What this process has measured, if anything.
struct Measured {
  std::optional<TransportRace> ucx;   ///< Against MPI.
  std::optional<TransportRace> puts;  ///< Against UCX without.

  /// Whether nothing that is known says that MPI is faster.
  bool may_take_ucx(Options::Puts asked) const {
    if (!ucx) return true;
    if (!ucx->new_arrives()) return false;
    const bool may_help = asked != Options::Puts::off;
    return ucx->ratio() < 1 || (may_help && (!puts || ucx->ratio() * puts->ratio() < 1));
  }
  bool may_put(Options::Puts asked) const {
    return asked == Options::Puts::on ||
           (asked == Options::Puts::automatic && (!puts || puts->ratio() < 1));
  }
};

class MeasuredOnce {
 public:
  Measured known() {
    const std::scoped_lock lock(mutex_);
    return measured_;
  }
  void keep(const Measured& measured) {
    const std::scoped_lock lock(mutex_);
    measured_ = measured;
  }

 private:
  std::mutex mutex_;
  Measured measured_;  // guarded by mutex_
};
MeasuredOnce measured_once;

Knowledge knowledge_from(double ratio) { return ratio < 1 ? kFaster : kSlower; }

/// `cannot_use`: this process cannot use what the race is about.
Knowledge knowledge_from(const std::optional<TransportRace>& race, bool cannot_use) {
  if (cannot_use) return kMissing;
  if (!race) return kUnmeasured;
  return race->new_arrives() ? knowledge_from(race->ratio()) : kSilent;
}

/// Of the last lanes over UCX that this process has opened.
std::atomic<int> last_generation{0};

void raise(std::atomic<int>& value, int to) {
  int old = value.load(std::memory_order_relaxed);
  while (old < to && !value.compare_exchange_weak(old, to, std::memory_order_relaxed)) continue;
}

UcxPeers next_lanes(const ProcessGroup& group, int generation) {
  raise(last_generation, generation);
  return {.runs_here = group.neighbours(), .generation = static_cast<std::uint32_t>(generation)};
}

/// What a process needs to make lanes over UCX.
struct OwnUcx {
  const UcxContext* context = nullptr;
  /// Workers can be made, whose descriptors and memory may be refused: known while there is MPI
  /// instead. The lanes take them. None where there will be no lane.
  std::vector<UcxWorker::Handle> workers;
  std::optional<Error> failure;
};

/// UCX is asked for, and some process has failed to get what it needs of it. Throws on all.
void give_up(const ProcessGroup& group, const OwnUcx& own) {
  if (own.failure) throw Error(*own.failure);
  group.setup().meet();  // with those who have
}

[[noreturn]] void throw_silent() {
  throw Error(
      ErrorKind::environment,
      "no message has come over UCX between the first and the last process. Look at UCX_TLS "
      "and UCX_NET_DEVICES, or do without UCX: HYCOLL_TRANSPORT=mpi");
}

void take_workers(OwnUcx& own, int count) {
  while (std::ssize(own.workers) < count) own.workers.push_back(UcxWorker::take(*own.context));
}

/// What `context` gives this process.
OwnUcx look_for_ucx(const UcxContext& (*context)(), bool may_have_lanes) {
  OwnUcx own;
  try {
    own.context = &context();
    if (may_have_lanes) take_workers(own, 1);
  } catch (const Error& error) {
    own.failure = error;
  }
  return own;
}

void close(OwnUcx& own) {
  for (UcxWorker::Handle& worker : own.workers) UcxWorker::close(std::move(worker));
}

/// Whether each process of the group gets one worker for each lane that it drives.
bool all_have_workers(const ProcessGroup& group, OwnUcx& own, int led_lanes) {
  try {
    take_workers(own, led_lanes);
  } catch (const Error& error) {
    own.failure = error;
  }
  return group.setup().all(!own.failure);
}

/// What one process knows, or, agreed on, all of them.
struct AllKnowledge {
  Knowledge ucx;            ///< Without puts, against MPI.
  Knowledge puts;           ///< Against UCX without.
  Knowledge ucx_with_puts;  ///< Against MPI.
};

/// Puts are missing where they are not wanted, too.
AllKnowledge knowledge_of(const Measured& measured, const OwnUcx& own, const OwnUcx& own_puts) {
  const bool cannot_put = own_puts.context == nullptr || own_puts.failure;
  const Knowledge ucx = knowledge_from(measured.ucx, own.failure.has_value());
  const Knowledge puts = knowledge_from(measured.puts, cannot_put);
  const bool has_both = std::min(ucx, puts) >= kSlower;
  return {.ucx = ucx,
          .puts = puts,
          .ucx_with_puts = has_both ? knowledge_from(measured.ucx->ratio() * measured.puts->ratio())
                                    : std::min(ucx, puts)};
}

/// The least that anybody knows; raises the generation to the largest one.
AllKnowledge agree(const AllKnowledge& own, int& generation, JointSetup& setup) {
  const JointSetup::Numbers least =
      setup.least({own.ucx, own.puts, own.ucx_with_puts, -generation});
  generation = static_cast<int>(-least[3]);
  return {.ucx = static_cast<Knowledge>(least[0]),
          .puts = static_cast<Knowledge>(least[1]),
          .ucx_with_puts = static_cast<Knowledge>(least[2])};
}

/// Whether UCX is faster than MPI, in the way in which it may be taken.
bool is_faster(const AllKnowledge& known, Options::Puts asked) {
  const bool has_to_put = asked == Options::Puts::on && known.puts != kMissing;
  return known.ucx_with_puts == kFaster || (known.ucx == kFaster && !has_to_put);
}

}  // namespace

struct LaneTransport::Ucx {
  const UcxContext& context;
  UcxPeers peers;
};

LaneTransport LaneTransport::agreed(const ProcessGroup& group, int led_lanes) {
  const Options::Transport asked = group.options().transport;
  LaneTransport transport;
  if (asked == Options::Transport::mpi) return transport;
  const bool is_asked_for = asked == Options::Transport::ucx;
  const Options::Puts asked_puts = group.options().puts;
  const bool races_puts =
      asked_puts == Options::Puts::automatic || (asked_puts == Options::Puts::on && !is_asked_for);
  Measured measured = measured_once.known();
  const bool may_have_lanes = is_asked_for || measured.may_take_ucx(asked_puts);
  OwnUcx own = look_for_ucx(&UcxContext::shared, may_have_lanes);
  OwnUcx own_puts;
  if (may_have_lanes && measured.may_put(asked_puts)) {
    own_puts = look_for_ucx(&UcxContext::with_puts, true);
  }
  int generation = 1 + last_generation.load(std::memory_order_relaxed);
  const auto agree_on_known = [&] {
    return agree(knowledge_of(measured, own, own_puts), generation, group.setup());
  };
  AllKnowledge known = agree_on_known();
  if (is_asked_for && known.ucx == kMissing) give_up(group, own);
  if (known.ucx == kUnmeasured) {
    own.workers.clear();
    measured.ucx = race_transports(group.setup(), *own.context, group.control(),
                                   next_lanes(group, generation++));
    take_workers(own, 1);
    known = agree_on_known();
  }
  if (is_asked_for && known.ucx == kSilent) throw_silent();
  if (races_puts && known.puts == kUnmeasured && known.ucx >= kSlower) {
    own.workers.clear();
    own_puts.workers.clear();
    measured.puts = race_puts(group.setup(), group.control(), next_lanes(group, generation));
    generation += 2;
    take_workers(own, 1);
    take_workers(own_puts, 1);
    known = agree_on_known();
  }
  measured_once.keep(measured);
  bool takes_ucx = is_asked_for || is_faster(known, asked_puts);
  const bool puts_are_worth_it = known.puts == kFaster || (!is_asked_for && known.ucx != kFaster);
  const bool takes_puts =
      known.puts != kMissing && (asked_puts == Options::Puts::on || puts_are_worth_it);
  OwnUcx& taken = takes_puts ? own_puts : own;
  bool is_refused = known.ucx == kMissing;
  if (takes_ucx && !all_have_workers(group, taken, led_lanes)) {
    if (is_asked_for) give_up(group, taken);
    takes_ucx = false;
    is_refused = true;
    own.failure = taken.failure;
  }
  std::string why = own.failure    ? own.failure->what()
                    : is_refused   ? "a process cannot use UCX"
                    : is_asked_for ? "asked for"
                                   : measured.ucx->text("over UCX", "over MPI");
  if (measured.puts && known.puts >= kSlower && races_puts) {
    why += "; " + measured.puts->text("with puts", "without");
  }
  if (!takes_ucx) {
    close(own);
    close(own_puts);
  } else {
    transport.takes_puts_ = takes_puts;
    transport.ucx_ = std::make_shared<Ucx>(*taken.context, next_lanes(group, generation));
  }
  transport.description_ = transport.ucx_ == nullptr
                               ? fmt::format("MPI ({})", why)
                               : fmt::format("UCX {}{} ({})", own.context->library().version,
                                             transport.takes_puts_ ? " with puts" : "", why);
  return transport;
}

std::unique_ptr<Endpoint> LaneTransport::open(std::shared_ptr<const MpiCommunicator> messages,
                                              std::shared_ptr<const MpiCommunicator> leaders,
                                              int lane, int lane_count, const PeerNames& names,
                                              Leading leading) const {
  if (ucx_ == nullptr) {
    return std::make_unique<MpiEndpoint>(std::move(messages), std::move(leaders), lane, lane_count,
                                         names);
  }
  UcxPeers peers = ucx_->peers;
  peers.drives_lane = leading == Leading::here;
  return std::make_unique<UcxEndpoint>(ucx_->context, std::move(messages), std::move(leaders), lane,
                                       lane_count, names, std::move(peers));
}

UcxPresence ucx_presence() {
  const FoundUcx& found = found_ucx();
  return {.version = found.library == nullptr ? "" : found.library->version,
          .why_not = found.why_not};
}

}  // namespace hycoll
