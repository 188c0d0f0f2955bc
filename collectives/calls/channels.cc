#include "collectives/calls/channels.h"

#include <algorithm>
#include <bit>
#include <exception>
#include <thread>

namespace hycoll {
namespace {

/// So many calls at most are refused after one for which no channel could be made.
constexpr std::uint32_t kMostToRefuse = 1023;

constexpr std::uint64_t bit_of(std::size_t place) noexcept { return std::uint64_t{1} << place; }

std::size_t first_place(std::uint64_t bits) noexcept {
  return static_cast<std::size_t>(std::countr_zero(bits));
}

}  // namespace

void IdleChannels::put_last(Channels& channels) noexcept {
  const std::lock_guard lock(mutex_);
  if (std::exchange(channels.is_listed_, true)) unlink(channels);
  channels.previous_ = last_;
  channels.next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = &channels;
  last_ = &channels;
}

void IdleChannels::unlink(Channels& channels) noexcept {
  (channels.previous_ == nullptr ? first_ : channels.previous_->next_) = channels.next_;
  (channels.next_ == nullptr ? last_ : channels.next_->previous_) = channels.previous_;
}

void IdleChannels::remove(Channels& channels) noexcept {
  {
    const std::lock_guard lock(mutex_);
    unlink(channels);
  }
  // Pairs with trim().
  while (channels.being_given_up_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

void IdleChannels::trim(std::size_t most) noexcept {
  while (count_.load(std::memory_order_relaxed) > most) {
    Channels* user = nullptr;
    std::unique_ptr<Channel> given_up = take_one(user);
    if (given_up == nullptr) return;
    given_up.reset();  // without the lock: others need not wait
    user->being_given_up_.fetch_sub(1, std::memory_order_release);  // pairs with remove()
  }
}

std::unique_ptr<Channel> IdleChannels::take_one(Channels*& user) noexcept {
  const std::lock_guard lock(mutex_);
  for (user = first_; user != nullptr; user = user->next_) {
    std::unique_ptr<Channel> taken = user->last_idle();
    if (taken == nullptr) continue;
    user->being_given_up_.fetch_add(1, std::memory_order_relaxed);  // remove() needs the lock
    return taken;
  }
  return nullptr;
}

ChannelUse::~ChannelUse() {
  if (channels_ != nullptr) channels_->give_back(place_, is_spoilt_);
}

Channel& ChannelUse::channel() const {
  const std::lock_guard lock(channels_->mutex_);
  return *channels_->places_[place_].channel;
}

/// While it lives, what this process has offered stays.
class Channels::Agreement {
 public:
  explicit Agreement(Channels& channels) : channels_(channels) { set(true); }
  ~Agreement() {
    set(false);
    channels_.idle_.trim();
  }
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;

 private:
  void set(bool is_agreeing) {
    const std::lock_guard lock(channels_.mutex_);
    channels_.is_agreeing_ = is_agreeing;
  }

  Channels& channels_;
};

std::optional<ChannelUse> Channels::take(bool may_make, const Agree& agree, const Make& make) {
  idle_.put_last(*this);
  std::size_t place = 0;
  {
    const Agreement agreement(*this);
    const Offer agreed = agree(offer(may_make));
    if (agreed.idle != 0) return use_idle(first_place(agreed.idle));
    if (agreed.vacant == 0 || refused_ < to_refuse_) {
      ++refused_;
      return std::nullopt;
    }
    place = first_place(agreed.vacant);
  }
  refused_ = 0;
  Made made = make_at(place, agree, make);
  if (made == Made::not_yet) made = make_at(place, agree, make);
  const bool is_made = made == Made::by_all;
  to_refuse_ = is_made ? 0 : std::min(2 * to_refuse_ + 1, kMostToRefuse);
  if (!is_made) return std::nullopt;
  return ChannelUse(*this, place);
}

ChannelUse Channels::use_idle(std::size_t place) {
  const std::lock_guard lock(mutex_);
  places_[place].is_used = true;
  idle_.count_.fetch_sub(1, std::memory_order_relaxed);
  return ChannelUse(*this, place);
}

Channels::~Channels() {
  if (!is_listed_) return;
  idle_.remove(*this);
  for (const Place& place : places_) {
    const bool is_idle = place.channel != nullptr && !place.is_used;
    if (is_idle) idle_.count_.fetch_sub(1, std::memory_order_relaxed);
  }
}

Channels::Offer Channels::offer(bool may_make) {
  const std::lock_guard lock(mutex_);
  Offer offer;
  for (std::size_t place = 0; place < kMost; ++place) {
    if (places_[place].is_used) continue;
    if (places_[place].channel != nullptr) offer.idle |= bit_of(place);
    if (may_make) offer.vacant |= bit_of(place);
  }
  return offer;
}

Channels::Made Channels::make_at(std::size_t place, const Agree& agree, const Make& make) {
  std::unique_ptr<Channel> channel;
  {
    const std::lock_guard lock(mutex_);
    channel = std::move(places_[place].channel);
    if (channel != nullptr) idle_.count_.fetch_sub(1, std::memory_order_relaxed);
  }
  channel.reset();  // of no use any more, for others have none there
  try {
    channel = make();
  } catch (const std::exception&) {
    // Whatever it is that one of them lacks, the others learn.
  }
  // Nothing is vacant where something is idle.
  const bool has_idle = idle_.count_.load(std::memory_order_relaxed) > 0;
  const Offer agreed = agree(
      {.idle = channel != nullptr ? bit_of(place) : 0, .vacant = has_idle ? 0 : bit_of(place)});
  if (agreed.idle == 0) {
    channel.reset();
    idle_.trim(0);
    return agreed.vacant == 0 ? Made::not_yet : Made::never;
  }
  const std::lock_guard lock(mutex_);
  places_[place] = {.channel = std::move(channel), .is_used = true};
  return Made::by_all;
}

void Channels::give_back(std::size_t place, bool is_spoilt) noexcept {
  std::unique_ptr<Channel> spoilt;  // ends without the lock
  {
    const std::lock_guard lock(mutex_);
    places_[place].is_used = false;
    if (is_spoilt) {
      spoilt = std::move(places_[place].channel);
    } else {
      idle_.count_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  idle_.trim();
}

std::unique_ptr<Channel> Channels::last_idle() noexcept {
  const std::lock_guard lock(mutex_);
  if (is_agreeing_) return nullptr;
  // The first ones stay: the same on all processes once they have given back the same, in whatever
  // order.
  for (std::size_t place = kMost; place-- > 0;) {
    if (places_[place].is_used || places_[place].channel == nullptr) continue;
    idle_.count_.fetch_sub(1, std::memory_order_relaxed);
    return std::move(places_[place].channel);
  }
  return nullptr;
}

}  // namespace hycoll
