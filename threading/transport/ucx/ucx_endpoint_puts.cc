// Long messages of a lane over UCX that are put into landings.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll {
std::atomic<std::uint64_t> UcxEndpoint::put_count_{0};

bool UcxEndpoint::is_behind(const Peer& peer, int tag, std::size_t place) {
  return std::any_of(peer.held.begin(), peer.held.begin() + static_cast<std::ptrdiff_t>(place),
                     [tag](const Operation* held) { return held->tag == tag; });
}

bool UcxEndpoint::put(Operation& operation) {
  if (++long_send_count_ % are_.long_unused == 0) return_unused_targets();
  Peer& peer = *operation.peer;
  if (operation.size_bytes > UcxLanding::kMostBytes || !is_ready(peer)) return false;
  // Nothing is refused once it is on its way.
  make_room(holding_);
  auto notice = peer.target == nullptr ? std::nullopt : peer.target->take(operation.size_bytes);
  if (!notice) {
    hear_of_landing(peer);
    if (peer.target == nullptr) return false;
    notice = peer.target->take(operation.size_bytes);
    if (!notice) return false;
  }
  peer.target->last_use = long_send_count_;
  const ucp_request_param_t params{};
  ucp_ep_h const connection = peer.connection->handle;
  operation.puts[0] = ucx().put(connection, operation.source, operation.size_bytes,
                                peer.target->address_of(*notice), peer.target->key(), &params);
  if (UCS_PTR_IS_ERR(operation.puts[0])) {
    // Its blocks stay taken. It goes as other messages do, which may be possible.
    operation.puts[0] = nullptr;
    return false;
  }
  // Puts and messages may go over different networks, between which only this makes an order.
  operation.puts[1] = ucx().ep_flush(connection, &params);
  operation.notice = *notice;
  if (peer.held.empty()) holding_.push_back(&peer);
  peer.held.push_back(&operation);
  put_count_.fetch_add(1, std::memory_order_relaxed);  // a mere count
  advance_held(peer);
  if (peer.held.empty()) std::erase(holding_, &peer);
  return true;
}

bool UcxEndpoint::has_landed(Operation& operation) {
  for (ucs_status_ptr_t& request : operation.puts) {
    ucs_status_t status = UCS_PTR_STATUS(request);
    if (UCS_PTR_IS_PTR(request)) {
      status = ucx().request_status(request);
      if (status == UCS_INPROGRESS) return false;
      ucx().request_free(request);
    }
    request = nullptr;
    if (operation.status == UCS_OK) operation.status = status;
  }
  return true;
}

void UcxEndpoint::advance_held(Peer& peer) {
  for (std::size_t place = 0; place < peer.held.size();) {
    Operation& operation = *peer.held[place];
    if (!has_landed(operation) || is_behind(peer, operation.tag, place)) {
      ++place;
      continue;
    }
    peer.held.erase(peer.held.begin() + static_cast<std::ptrdiff_t>(place));
    if (operation.status != UCS_OK) {
      end_part(operation, operation.status);
      continue;
    }
    if (operation.notice.size_bytes > 0) {
      operation.source = &operation.notice;
      operation.size_bytes = sizeof operation.notice;
    }
    start(operation);
  }
}

void UcxEndpoint::advance_held() {
  for (Peer* const peer : holding_) advance_held(*peer);
  std::erase_if(holding_, [](const Peer* peer) { return peer->held.empty(); });
}

ucp_tag_message_h UcxEndpoint::probe(const Peer& peer, int tag, bool removes,
                                     ucp_tag_recv_info_t& info) {
  return ucx().tag_probe(worker_->handle(), ucx_tag(tag, peer.number), ~ucp_tag_t{0},
                         removes ? 1 : 0, &info);
}

std::vector<std::byte> UcxEndpoint::arrived(const Peer& peer, int tag) {
  ucp_tag_recv_info_t info;
  if (probe(peer, tag, false, info) == nullptr) return {};
  std::vector<std::byte> bytes(info.length);  // before it is nowhere else
  ucp_tag_message_h const message = probe(peer, tag, true, info);
  const ucp_request_param_t params{};
  ucs_status_ptr_t const request =
      ucx().tag_receive_probed(worker_->handle(), bytes.data(), bytes.size(), message, &params);
  if (UCS_PTR_IS_PTR(request)) {
    while (ucx().request_status(request) == UCS_INPROGRESS) worker_->progress();
    ucx().request_free(request);
  }
  return bytes;
}

void UcxEndpoint::tell(Peer& peer, int tag, std::span<const std::byte> bytes) {
  auto room = std::make_unique_for_overwrite<std::byte[]>(bytes.size());
  make_room(peer.waiting);
  make_room(peer.held);
  Operation& message = take_operation(peer, tag);
  std::ranges::copy(bytes, room.get());
  message.room = std::move(room);
  message.source = message.room.get();
  message.size_bytes = bytes.size();
  message.is_left_alone = true;
  send(message);
}

void UcxEndpoint::hear_of_landing(Peer& peer) {
  for (;;) {
    const std::vector<std::byte> bytes = arrived(peer, landing_tag());
    if (bytes.empty()) return;
    if (bytes.size() > sizeof(LandingBlocks)) {
      accept_offer(peer, bytes);
    } else if (peer.target != nullptr) {
      LandingBlocks read = 0;
      std::memcpy(&read, bytes.data(), sizeof read);
      peer.target->give_back(read);
    }
  }
}

void UcxEndpoint::accept_offer(Peer& peer, std::span<const std::byte> offer) {
  if (targets_.size() < are_.most_landings) {
    const bool may_have_puts = !are_.runs_here(peer.number) && !peer.connection->is_over_tcp;
    peer.target = UcxTarget::from_offer(ucx(), peer.connection->handle, offer, may_have_puts);
  }
  if (peer.target == nullptr) {
    tell_of_return(peer);
  } else {
    peer.target->last_use = long_send_count_;
    targets_.push_back(&peer);
  }
}

void UcxEndpoint::return_unused_targets() {
  std::erase_if(targets_, [this](Peer* peer) {
    if (long_send_count_ - peer->target->last_use < are_.long_unused) return false;
    hear_of_landing(*peer);
    if (!peer->target->is_idle()) return false;
    peer->target.reset();
    tell_of_return(*peer);
    return true;
  });
}

void UcxEndpoint::tell_of_return(Peer& peer) {
  constexpr std::byte kAnything{};
  tell(peer, return_tag(), std::span(&kAnything, 1));
}

void UcxEndpoint::offer_landing(Peer& peer) {
  if (peer.connection == nullptr || peer.connection->is_over_tcp || peer.number == own_rank()) {
    return;
  }
  if (peer.landing != nullptr) {
    if (peer.uses_landing || !take_return(peer)) return;
    std::erase(landings_, &peer);
  }
  if (peer.receives_until_offer > 0) {
    --peer.receives_until_offer;
    return;
  }
  if (!make_room_for_landing()) {
    peer.receives_until_offer = are_.long_unused;
    return;
  }
  auto landing = UcxLanding::make(*context_);
  const std::vector<std::byte> offer =
      landing == nullptr ? std::vector<std::byte>{} : landing->offer();
  if (offer.empty()) {
    // It is not going to be better next time, and UCX may have said so.
    may_land_ = false;
    return;
  }
  read_from_.reserve(peers_.size());
  make_room(landings_);
  tell(peer, landing_tag(), offer);
  peer.landing = std::move(landing);
  landings_.push_back(&peer);
}

bool UcxEndpoint::take_return(Peer& peer) {
  if (arrived(peer, return_tag()).empty()) return false;
  peer.landing.reset();
  peer.receives_until_offer = are_.long_unused;
  return true;
}

bool UcxEndpoint::make_room_for_landing() {
  if (landings_.size() == are_.most_landings) {
    std::erase_if(landings_, [this](Peer* peer) { return take_return(*peer); });
  }
  return landings_.size() < are_.most_landings;
}

void UcxEndpoint::read_landed(Operation& received) {
  Peer& peer = *received.peer;
  if (peer.landing == nullptr) return;
  const std::span destination(static_cast<std::byte*>(received.destination), received.size_bytes);
  const auto notice = peer.landing->notice_in(destination.first(received.received_bytes));
  if (!notice) return;
  peer.landing->read(*notice, destination);
  received.received_bytes = notice->size_bytes;
  peer.uses_landing = true;
  // Once for each peer: there is room, for what UCX calls must not throw.
  if (std::ranges::find(read_from_, &peer) == read_from_.end()) read_from_.push_back(&peer);
}

void UcxEndpoint::tell_read() {
  Peer& peer = *read_from_.back();
  const LandingBlocks blocks = peer.landing == nullptr ? 0 : peer.landing->read_blocks();
  if (blocks != 0) {
    tell(peer, landing_tag(), std::as_bytes(std::span(&blocks, 1)));
    peer.landing->forget_read();
  }
  read_from_.pop_back();
}

bool UcxEndpoint::drop_landings() {
  const auto until = std::chrono::steady_clock::now() + UcxWorker::kPatience;
  const auto is_idle = [this](Peer* peer) {
    hear_of_landing(*peer);
    return peer->target->is_idle();
  };
  bool are_idle = std::ranges::all_of(targets_, is_idle);
  while (!are_idle && worker_->ended_count() == 0 && std::chrono::steady_clock::now() < until) {
    worker_->progress();
    are_idle = std::ranges::all_of(targets_, is_idle);
  }
  for (auto& [number, peer] : peers_) {
    // The worker may serve another lane, which is not to keep this one's messages.
    if (peer.connection != nullptr && context_->has_puts()) {
      while (!arrived(peer, landing_tag()).empty()) continue;
      while (!arrived(peer, return_tag()).empty()) continue;
    }
    peer.target.reset();
    peer.landing.reset();
  }
  return are_idle;
}

}  // namespace hycoll
