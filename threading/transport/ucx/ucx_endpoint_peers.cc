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

/// An answer's first byte, before the address: bits.
constexpr unsigned kIsIntroduced = 1;   ///< who answers has introduced itself, too
constexpr unsigned kHasOpenedMail = 2;  ///< that of the introduction

/// What an introduction says, before the address: plain bytes.
struct IntroductionHead {
  std::uint32_t generation = 0;
  SharedSegment::Handle mail;  ///< of no bytes: none
};

}  // namespace

UcxEndpoint::Peer& UcxEndpoint::peer(int number) {
  if (last_peer_ != nullptr && last_peer_->number == number) return *last_peer_;
  if (const auto known = peers_.find(number); known != peers_.end()) {
    last_peer_ = &known->second;
    return *last_peer_;
  }
  make_room(unknown_);
  make_room(near_, unknown_.size());
  const bool is_own = number == own_rank();
  auto near = !is_own && are_.runs_here(number) ? std::make_unique<Near>() : nullptr;
  Peer& peer = peers_[number];
  peer.number = number;
  peer.near = std::move(near);
  if (is_own) {
    peer.connection = &worker_->connection_to(worker_->address(), true);
  } else {
    unknown_.push_back(&peer);
  }
  return peer;
}

void UcxEndpoint::introduce_to(Peer& peer) {
  IntroductionHead head{.generation = are_.generation, .mail = {}};
  if (peer.near != nullptr && may_have_more_mail()) {
    peer.near->mail = NearMail::make();
    if (peer.near->mail != nullptr) head.mail = peer.near->mail->handle();
  }
  std::vector<std::byte>& bytes = peer.introduction_bytes;
  bytes.resize(sizeof head + worker_->address().size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::ranges::copy(worker_->address(), bytes.data() + sizeof head);
  const std::size_t room_bytes = worker_->address().size() + kAnswerSlackBytes;
  auto room = std::make_unique_for_overwrite<std::byte[]>(room_bytes);
  Operation& answer = take_operation(peer, answer_tag());
  peer.is_introduced = true;
  check_mpi(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer.number,
                      introduction_tag(), messages(), &peer.introduction),
            "MPI_Isend");
  answer.room = std::move(room);
  answer.size_bytes = room_bytes;
  peer.answer = &answer;
  start_receive(answer, answer.room.get());
}

void UcxEndpoint::answer(Peer& peer) {
  const bool has_opened_mail = peer.near != nullptr && peer.near->is_settled;
  const std::span address = worker_->address();
  auto room = std::make_unique_for_overwrite<std::byte[]>(1 + address.size());
  Operation& answer = take_operation(peer, answer_tag());
  answer.size_bytes = 1 + address.size();
  answer.room = std::move(room);
  answer.room[0] = static_cast<std::byte>((peer.is_introduced ? kIsIntroduced : 0) |
                                          (has_opened_mail ? kHasOpenedMail : 0));
  std::ranges::copy(address, answer.room.get() + 1);
  answer.source = answer.room.get();
  answer.is_left_alone = true;
  start(answer);
}

bool UcxEndpoint::is_ready(const Peer& peer) {
  return peer.connection != nullptr && is_settled(peer);
}

void UcxEndpoint::send_waiting(Peer& peer) {
  if (!is_ready(peer)) return;
  for (Operation* const operation : std::exchange(peer.waiting, {})) {
    const bool is_message = operation->acknowledges == nullptr && operation->tag < answer_tag();
    if (is_message && is_mailed(peer, operation->size_bytes)) {
      post(*operation);
    } else {
      start(*operation);
    }
  }
}

void UcxEndpoint::connect(Peer& peer, std::span<const std::byte> address) {
  if (peer.connection != nullptr) return;
  peer.connection = &worker_->connection_to(address, are_.runs_here(peer.number));
  send_waiting(peer);
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
    if (generation == are_.generation) return bytes;
  }
}

void UcxEndpoint::take_answer(Peer& peer) {
  Operation& answer = *peer.answer;
  if (answer.open_parts > 0) return;
  if (answer.status == UCS_OK) {
    const auto said = std::to_integer<unsigned>(answer.room[0]);
    const bool is_introduced = (said & kIsIntroduced) != 0;
    // If both have made mail, that of the lower one is taken.
    if (!is_settled(peer) && !(is_introduced && peer.number < own_rank())) {
      settle(peer, (said & kHasOpenedMail) != 0);
    }
    connect(peer, std::span<const std::byte>(answer.room.get() + 1, answer.received_bytes - 1));
    peer.is_to_introduce_itself = !peer.has_introduced_itself && is_introduced;
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
  IntroductionHead head;
  std::memcpy(&head, peer.address.data(), sizeof head);
  connect(peer, std::span<const std::byte>(peer.address).subspan(sizeof head));
  if (!is_settled(peer) && !(peer.is_introduced && own_rank() < peer.number)) {
    // If UCX itself has been kept from sharing memory, what goes over the network is to be seen.
    const bool may_share =
        head.mail.size_bytes > 0 && may_have_more_mail() && !peer.connection->is_over_tcp;
    peer.near->mail = may_share ? NearMail::open(head.mail) : nullptr;
    settle(peer, peer.near->mail != nullptr);
  }
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
