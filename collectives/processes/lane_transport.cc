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
  std::mutex mutex;
  std::optional<TransportRace> race;  // guarded by mutex
};
Measured measured;

std::optional<TransportRace> known_race() {
  const std::scoped_lock lock(measured.mutex);
  return measured.race;
}

Knowledge knowledge_from(const TransportRace& race) {
  if (!race.ucx_arrives()) return kSilent;
  return race.ucx_is_faster() ? kFaster : kSlower;
}

void keep(const TransportRace& race) {
  const std::scoped_lock lock(measured.mutex);
  measured.race = race;
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

OwnUcx look_for_ucx(bool may_have_lanes) {
  OwnUcx own;
  try {
    own.context = &UcxContext::shared();
    if (may_have_lanes) own.worker = UcxWorker::take(*own.context);
  } catch (const Error& error) {
    own.failure = error;
  }
  return own;
}

}  // namespace

LaneTransport LaneTransport::agreed(const ProcessGroup& group) {
  const Options::Transport asked = group.options().transport;
  LaneTransport transport;
  if (asked == Options::Transport::mpi) return transport;
  const bool is_asked_for = asked == Options::Transport::ucx;
  std::optional<TransportRace> race = known_race();
  OwnUcx own = look_for_ucx(is_asked_for || !race || race->ucx_is_faster());
  const Knowledge known = own.failure ? kMissing : race ? knowledge_from(*race) : kUnmeasured;
  // The least that anybody knows, and the largest generation.
  std::array<int, 2> least = {known, -1 - last_generation.load(std::memory_order_relaxed)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT,
                          MPI_MIN, group.control()),
            "MPI_Allreduce");
  auto [knowledge, negative_generation] = least;
  if (is_asked_for && knowledge == kMissing) group.agree(own.failure);
  transport.peers_ = next_lanes(group, -negative_generation);
  if (knowledge == kUnmeasured) {
    if (own.worker != nullptr) UcxWorker::hand_on(std::move(own.worker));
    race = race_transports(*own.context, group.control(), transport.peers_);
    own.worker = UcxWorker::take(*own.context);
    keep(*race);
    knowledge = knowledge_from(*race);
    transport.peers_ = next_lanes(group, 1 - negative_generation);
  }
  if (is_asked_for && knowledge == kSilent) throw_silent();
  const std::string why = own.failure             ? own.failure->what()
                          : knowledge == kMissing ? "a process cannot use UCX"
                          : is_asked_for          ? "asked for"
                                                  : race->text();
  if (is_asked_for || knowledge == kFaster) {
    transport.ucx_ = own.context;
    if (own.worker != nullptr) UcxWorker::hand_on(std::move(own.worker));
  }
  transport.description_ = fmt::format(
      "{} ({})", transport.ucx_ == nullptr ? "MPI" : "UCX " + own.context->library().version, why);
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
