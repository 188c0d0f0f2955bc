#include "collectives/processes/lane_transport.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/errors.h"
#include "threading/transport/ucx/transport_race.h"
#include "threading/transport/ucx/ucx_worker.h"

namespace hycoll {
namespace {

/// What a process knows of UCX, in the order in which the others give way.
enum Knowledge : int { kMissing, kUnmeasured, kSilent, kSlower, kFaster };

/// What this process has measured, if anything.
struct Measured {
  std::optional<TransportRace> ucx;
  std::optional<TransportRace> puts;
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

Knowledge knowledge_from(const TransportRace& race) {
  if (!race.new_arrives()) return kSilent;
  return race.new_is_faster() ? kFaster : kSlower;
}

/// `cannot_use`: this process cannot use what the race is about.
Knowledge knowledge_from(const std::optional<TransportRace>& race, bool cannot_use) {
  if (cannot_use) return kMissing;
  return race ? knowledge_from(*race) : kUnmeasured;
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
  /// Proves that workers can be made, whose descriptors and memory may be refused, while there is
  /// MPI instead. The first lane takes it. Null where there will be no lane.
  std::unique_ptr<UcxWorker> worker;
  std::optional<Error> failure;
};

[[noreturn]] void throw_silent() {
  throw Error(
      ErrorKind::environment,
      "no message has come over UCX between the first and the last process. Look at UCX_TLS "
      "and UCX_NET_DEVICES, or do without UCX: HYCOLL_TRANSPORT=mpi");
}

/// What `context` gives this process.
OwnUcx look_for_ucx(const UcxContext& (*context)(), bool may_have_lanes) {
  OwnUcx own;
  try {
    own.context = &context();
    if (may_have_lanes) own.worker = UcxWorker::take(*own.context);
  } catch (const Error& error) {
    own.failure = error;
  }
  return own;
}

void hand_on(OwnUcx& own) {
  if (own.worker != nullptr) UcxWorker::hand_on(std::move(own.worker));
}

}  // namespace

LaneTransport LaneTransport::agreed(const ProcessGroup& group) {
  const Options::Transport asked = group.options().transport;
  LaneTransport transport;
  if (asked == Options::Transport::mpi) return transport;
  const bool is_asked_for = asked == Options::Transport::ucx;
  Measured measured = measured_once.known();
  const bool may_have_lanes = is_asked_for || !measured.ucx || measured.ucx->new_is_faster();
  OwnUcx own = look_for_ucx(&UcxContext::shared, may_have_lanes);
  const Options::Puts asked_puts = group.options().puts;
  const bool may_put = may_have_lanes && (asked_puts == Options::Puts::on ||
                                          (asked_puts == Options::Puts::automatic &&
                                           (!measured.puts || measured.puts->new_is_faster())));
  OwnUcx own_puts;
  if (may_put) own_puts = look_for_ucx(&UcxContext::with_puts, true);
  // The least that anybody knows, and the largest generation.
  std::array<int, 3> least = {
      knowledge_from(measured.ucx, own.failure.has_value()),
      knowledge_from(measured.puts, own_puts.context == nullptr || own_puts.failure),
      -1 - last_generation.load(std::memory_order_relaxed)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT,
                          MPI_MIN, group.control()),
            "MPI_Allreduce");
  auto [knowledge, knowledge_of_puts, negative_generation] = least;
  int generation = -negative_generation;
  if (is_asked_for && knowledge == kMissing) group.agree(own.failure);
  if (knowledge == kUnmeasured) {
    hand_on(own);
    measured.ucx = race_transports(*own.context, group.control(), next_lanes(group, generation++));
    own.worker = UcxWorker::take(*own.context);
    knowledge = knowledge_from(*measured.ucx);
  }
  if (is_asked_for && knowledge == kSilent) throw_silent();
  const bool takes_ucx = is_asked_for || knowledge == kFaster;
  if (takes_ucx && asked_puts == Options::Puts::automatic && knowledge_of_puts == kUnmeasured) {
    hand_on(own);
    hand_on(own_puts);
    measured.puts = race_puts(group.control(), next_lanes(group, generation));
    generation += 2;
    knowledge_of_puts = knowledge_from(*measured.puts);
  }
  measured_once.keep(measured);
  transport.peers_ = next_lanes(group, generation);
  std::string why = own.failure             ? own.failure->what()
                    : knowledge == kMissing ? "a process cannot use UCX"
                    : is_asked_for          ? "asked for"
                                            : measured.ucx->text("over UCX", "over MPI");
  if (takes_ucx) {
    hand_on(own);
    hand_on(own_puts);
    transport.takes_puts_ = knowledge_of_puts != kMissing && asked_puts != Options::Puts::off &&
                            (asked_puts == Options::Puts::on || knowledge_of_puts == kFaster);
    transport.ucx_ = transport.takes_puts_ ? own_puts.context : own.context;
    if (asked_puts == Options::Puts::automatic && measured.puts) {
      why += "; " + measured.puts->text("with puts", "without");
    }
  }
  transport.description_ = transport.ucx_ == nullptr
                               ? fmt::format("MPI ({})", why)
                               : fmt::format("UCX {}{} ({})", own.context->library().version,
                                             transport.takes_puts_ ? " with puts" : "", why);
  return transport;
}

std::unique_ptr<Endpoint> LaneTransport::open(std::shared_ptr<const MpiCommunicator> messages,
                                              std::shared_ptr<const MpiCommunicator> leaders,
                                              int lane, int lane_count,
                                              const PeerNames& names) const {
  if (ucx_ == nullptr) {
    return std::make_unique<MpiEndpoint>(std::move(messages), std::move(leaders), lane, lane_count,
                                         names);
  }
  return std::make_unique<UcxEndpoint>(*ucx_, std::move(messages), std::move(leaders), lane,
                                       lane_count, names, peers_);
}

}  // namespace hycoll
