#include "collectives/processes/lane_transport.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/errors.h"
#include "threading/transport/ucx/transport_race.h"

namespace hycoll {
namespace {

/// What a process knows of UCX, in the order in which the others give way.
enum Knowledge : int { kMissing, kUnmeasured, kSlower, kFaster };

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

}  // namespace

LaneTransport LaneTransport::agreed(const ProcessGroup& group) {
  const Options::Transport asked = group.options().transport;
  LaneTransport transport;
  if (asked == Options::Transport::mpi) return transport;
  const UcxContext* ucx = nullptr;
  std::optional<Error> failure;
  try {
    ucx = &UcxContext::shared();
  } catch (const Error& error) {
    failure = error;
  }
  std::optional<TransportRace> race = known_race();
  const Knowledge own = failure ? kMissing : race ? knowledge_from(*race) : kUnmeasured;
  // The least that anybody knows, and the largest generation.
  std::array<int, 2> least = {own, -1 - last_generation.load(std::memory_order_relaxed)};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, least.data(), static_cast<int>(least.size()), MPI_INT,
                          MPI_MIN, group.control()),
            "MPI_Allreduce");
  auto [knowledge, negative_generation] = least;
  if (asked == Options::Transport::ucx && knowledge == kMissing) group.agree(failure);
  transport.peers_ = next_lanes(group, -negative_generation);
  std::string why = "asked for";
  if (asked == Options::Transport::automatic) {
    if (knowledge == kUnmeasured) {
      race = race_transports(*ucx, group.control(), transport.peers_);
      keep(*race);
      knowledge = knowledge_from(*race);
      transport.peers_ = next_lanes(group, 1 - negative_generation);
    }
    why = failure                 ? failure->what()
          : knowledge == kMissing ? "a process cannot use UCX"
                                  : race->text();
  }
  if (asked == Options::Transport::ucx || knowledge == kFaster) transport.ucx_ = ucx;
  transport.description_ = fmt::format(
      "{} ({})", transport.ucx_ == nullptr ? "MPI" : "UCX " + ucx->library().version, why);
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
