// Short messages between the lanes of two processes on one machine.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "threading/transport/ucx/ucx_endpoint.h"

namespace hycoll {
namespace {

/// So often is UCX driven, which takes several times as long, by one who waits for mail: what it
/// brings may be needed by others.
constexpr std::uint32_t kLooksPerDrive = 16;
/// And so often does he look whether something that is too long has come instead.
constexpr std::uint32_t kLooksForLongMessages = 1024;

/// How long UCX may take to bring what has been sent before some mail.
constexpr std::chrono::milliseconds kStrayPatience{50};

}  // namespace

std::atomic<std::uint64_t> UcxEndpoint::mail_count_{0};

bool UcxEndpoint::is_mailed(const Peer& peer, std::size_t size_bytes) {
  return peer.near != nullptr && peer.near->is_settled && size_bytes <= NearMail::kMostBytes;
}

void UcxEndpoint::settle(Peer& peer, bool has_mail) {
  Near& near = *peer.near;
  near.is_settled = true;
  std::unique_ptr<Near> without_mail;
  if (has_mail) {
    near.mail->close();
    near_.push_back(&peer);
    mail_count_.fetch_add(1, std::memory_order_relaxed);  // a mere count
  } else {
    without_mail = std::move(peer.near);
  }
  std::erase_if(near.expected, [&](Operation* operation) {
    if (is_mailed(peer, operation->size_bytes)) return false;
    operation->is_by_mail = false;
    start_receive(*operation, operation->destination);
    list_long_receive(*operation);
    return true;
  });
  send_waiting(peer);
}

void UcxEndpoint::list_long_receive(Operation& operation) {
  if (operation.open_parts == 0 || operation.peer->near == nullptr) return;
  operation.is_listed = true;
  operation.peer->near->long_ones.push_back(&operation);
}

void UcxEndpoint::post(Operation& operation) {
  operation.is_by_mail = true;
  operation.peer->near->unposted.push_back(&operation);
  post_rest(*operation.peer->near);
}

void UcxEndpoint::post_rest(Near& near) {
  std::size_t posted = 0;
  while (posted < near.unposted.size()) {
    Operation& operation = *near.unposted[posted];
    const auto* const source = static_cast<const std::byte*>(operation.source);
    if (!near.mail->outgoing().try_write(operation.tag, {source, operation.size_bytes})) break;
    ++posted;
    end_part(operation, UCS_OK);
  }
  near.unposted.erase(near.unposted.begin(),
                      near.unposted.begin() + static_cast<std::ptrdiff_t>(posted));
}

void UcxEndpoint::expect_mail(Operation& operation) {
  operation.is_receive = true;
  operation.is_by_mail = true;
  Near& near = *operation.peer->near;
  const auto letter = std::ranges::find(near.unasked, operation.tag, &Letter::tag);
  if (letter != near.unasked.end()) {
    deliver(operation, letter->bytes);
    near.unasked.erase(letter);
    return;
  }
  // Not looked for yet: what this side is going to send should not have to wait for that line.
  near.expected.push_back(&operation);
}

void UcxEndpoint::deliver(Operation& operation, std::span<const std::byte> bytes) {
  const std::size_t fitting = std::min(bytes.size(), operation.size_bytes);
  if (fitting > 0) std::memcpy(operation.destination, bytes.data(), fitting);
  operation.received_bytes = bytes.size();
  end_part(operation, UCS_OK);
}

void UcxEndpoint::take_mail(Near& near) {
  MessageRing& incoming = near.mail->incoming();
  while (const auto message = incoming.front()) {
    const auto whose = std::ranges::find(near.expected, message->tag, &Operation::tag);
    if (whose != near.expected.end()) {
      Operation& operation = **whose;
      near.expected.erase(whose);
      deliver(operation, message->bytes);
    } else {
      try {
        near.unasked.push_back(
            {.tag = message->tag, .bytes = {message->bytes.begin(), message->bytes.end()}});
      } catch (const std::bad_alloc&) {
        return;  // It stays where it is until next time.
      }
    }
    incoming.pop();
  }
}

void UcxEndpoint::look_for_mail(Operation& operation) {
  Near& near = *operation.peer->near;
  if (!near.is_settled) return drive();
  if (operation.is_receive) {
    take_mail(near);
  } else {
    post_rest(near);
  }
  if (operation.open_parts == 0) return;
  ++mail_looks_;
  if (mail_looks_ % kLooksPerDrive == 0) drive();
  // Of all: whoever asks at just this look may be always the same one.
  if (mail_looks_ % kLooksForLongMessages == 0) {
    for (Peer* const peer : near_) look_for_long_messages(*peer->near);
  }
}

void UcxEndpoint::look_for_long_messages(Near& near) {
  for (std::size_t i = 0; i < near.expected.size(); ++i) {
    const int tag = near.expected[i]->tag;
    ucp_tag_recv_info_t info;
    if (probe(*near.expected[i]->peer, tag, false, info) == nullptr) continue;
    // Mail that was sent before that is there, too.
    take_mail(near);
    const auto whose = std::ranges::find(near.expected, tag, &Operation::tag);
    if (whose == near.expected.end()) return;  // Others are looked at next time.
    Operation& receive = **whose;
    near.expected.erase(whose);
    receive.is_by_mail = false;
    return start_receive(receive, receive.destination);
  }
}

void UcxEndpoint::end_strays(Near& near) {
  const auto now = std::chrono::steady_clock::now();
  for (auto letter = near.unasked.begin(); letter != near.unasked.end(); ++letter) {
    const auto whose = std::ranges::find_if(near.long_ones, [&](const Operation* operation) {
      return operation->open_parts > 0 && operation->tag == letter->tag;
    });
    if (whose == near.long_ones.end()) {
      letter->stray_since.reset();
      continue;
    }
    if (!letter->stray_since) letter->stray_since = now;
    if (now - *letter->stray_since >= kStrayPatience) return end_with(**whose, letter);
  }
}

void UcxEndpoint::end_with(Operation& operation, std::vector<Letter>::iterator letter) {
  Near& near = *operation.peer->near;
  // Until it is over it is nobody else's.
  ++operation.open_parts;
  ucx().request_cancel(worker_->handle(), operation.request);
  while (ucx().request_status(operation.request) == UCS_INPROGRESS) worker_->progress();
  if (operation.status == UCS_ERR_CANCELED) {
    operation.status = UCS_OK;
    deliver(operation, letter->bytes);
    near.unasked.erase(letter);
  } else {
    end_part(operation, UCS_OK);
  }
}

void UcxEndpoint::drive_mail() {
  for (Peer* const peer : near_) {
    Near& near = *peer->near;
    take_mail(near);
    if (!near.unposted.empty()) post_rest(near);
    if (!near.unasked.empty()) end_strays(near);
  }
}

}  // namespace hycoll
