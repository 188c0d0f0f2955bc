// How the lanes of two processes over UCX get to know one another.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll {
namespace {

/// Room for a peer's answer, beyond what the lane's own address takes: those of one job differ
/// little.
constexpr std::size_t kAnswerSlackBytes = 4096;

}  // namespace

UcxEndpoint::Peer& UcxEndpoint::peer(int number) {
  make_room(unknown_);
  const auto [known, is_new] = peers_.try_emplace(number);
  Peer& peer = known->second;
  if (!is_new) return peer;
  peer.number = number;
  if (number == own_rank()) {
    peer.connection = &worker_->connection_to(worker_->address(), true);
  } else {
    unknown_.push_back(&peer);
  }
  return peer;
}

void UcxEndpoint::introduce_to(Peer& peer) {
  const std::size_t room_bytes = introduction_.size() + kAnswerSlackBytes;
  auto room = std::make_unique_for_overwrite<std::byte[]>(room_bytes);
  Operation& answer = take_operation(peer, answer_tag());
  peer.is_introduced = true;
  check_mpi(MPI_Isend(introduction_.data(), static_cast<int>(introduction_.size()), MPI_BYTE,
                      peer.number, introduction_tag(), messages(), &peer.introduction),
            "MPI_Isend");
  answer.room = std::move(room);
  answer.size_bytes = room_bytes;
  peer.answer = &answer;
  start_receive(answer, answer.room.get());
}

void UcxEndpoint::answer(Peer& peer) {
  const std::span address = worker_->address();
  auto room = std::make_unique_for_overwrite<std::byte[]>(1 + address.size());
  make_room(peer.held);
  Operation& answer = take_operation(peer, answer_tag());
  answer.size_bytes = 1 + address.size();
  answer.room = std::move(room);
  answer.room[0] = std::byte{peer.is_introduced};
  std::ranges::copy(address, answer.room.get() + 1);
  answer.source = answer.room.get();
  answer.is_left_alone = true;
  send(answer);
}

void UcxEndpoint::connect(Peer& peer, std::span<const std::byte> address) {
  if (peer.connection != nullptr) return;
  peer.connection = &worker_->connection_to(address, are_.runs_here(peer.number));
  for (Operation* const operation : std::exchange(peer.waiting, {})) start(*operation);
}

std::vector<std::byte> UcxEndpoint::arrived_address(int number) const {
  for (;;) {
    int has_arrived = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(number, introduction_tag(), messages(), &has_arrived, &status),
              "MPI_Iprobe");
    if (has_arrived == 0) return {};
    int size_bytes = 0;
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &size_bytes), "MPI_Get_count");
    std::vector<std::byte> bytes(static_cast<std::size_t>(size_bytes));  // before it is taken
    MPI_Message message = MPI_MESSAGE_NULL;
    check_mpi(MPI_Improbe(number, introduction_tag(), messages(), &has_arrived, &message, &status),
              "MPI_Improbe");
    if (has_arrived == 0) return {};
    check_mpi(MPI_Get_count(&status, MPI_BYTE, &size_bytes), "MPI_Get_count");
    bytes.resize(static_cast<std::size_t>(size_bytes));
    check_mpi(MPI_Mrecv(bytes.data(), size_bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE),
              "MPI_Mrecv");
    std::uint32_t generation = 0;
    std::memcpy(&generation, bytes.data(), sizeof generation);
    if (generation != are_.generation) continue;
    bytes.erase(bytes.begin(), bytes.begin() + sizeof generation);
    return bytes;
  }
}

void UcxEndpoint::take_answer(Peer& peer) {
  Operation& answer = *peer.answer;
  if (answer.open_parts > 0) return;
  if (answer.status == UCS_OK) {
    connect(peer, std::span<const std::byte>(answer.room.get() + 1, answer.received_bytes - 1));
    peer.is_to_introduce_itself = !peer.has_introduced_itself && answer.room[0] != std::byte{0};
  }
  peer.answer = nullptr;
  const ucs_status_t status = answer.status;
  give_back(answer);
  if (status != UCS_OK) throw_failed(peer.number, status);
}

bool UcxEndpoint::meet(Peer& peer) {
  if (peer.answer != nullptr) take_answer(peer);
  if (peer.address.empty()) {
    const bool is_acquainted = peer.is_introduced && peer.answer == nullptr;
    if (is_acquainted && !peer.is_to_introduce_itself) return true;
    peer.address = arrived_address(peer.number);
    if (peer.address.empty()) return false;
    peer.has_introduced_itself = true;
    peer.is_to_introduce_itself = false;
  }
  connect(peer, peer.address);
  answer(peer);
  peer.address = {};
  return peer.answer == nullptr;
}

void UcxEndpoint::take_addresses() {
  for (std::size_t i = 0; i < unknown_.size();) {
    if (!meet(*unknown_[i])) {
      ++i;
      continue;
    }
    unknown_[i] = unknown_.back();
    unknown_.pop_back();
  }
}

void UcxEndpoint::await_last_addresses() {
  const auto until = std::chrono::steady_clock::now() + UcxWorker::kPatience;
  const auto is_to_come = [](const Peer* peer) {
    return peer->answer != nullptr || peer->is_to_introduce_itself;
  };
  while (std::ranges::any_of(unknown_, is_to_come) && std::chrono::steady_clock::now() < until) {
    drive();
  }
}

}  // namespace hycoll
