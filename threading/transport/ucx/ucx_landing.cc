#include "threading/transport/ucx/ucx_landing.h"

#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace hycoll {
namespace {

/// What an offer begins with; the remote key follows.
struct OfferHead {
  std::uint64_t cookie[2];
  std::uint64_t start;
};

LandingBlocks blocks_of(std::uint64_t first, std::size_t size_bytes) noexcept {
  const std::size_t count = (size_bytes + UcxLanding::kBlockBytes - 1) / UcxLanding::kBlockBytes;
  return ((LandingBlocks{1} << count) - 1) << first;
}

}  // namespace

LandingBlocks LandingNotice::blocks() const noexcept { return blocks_of(first_block, size_bytes); }

std::unique_ptr<UcxLanding> UcxLanding::make(const UcxContext& context) {
  std::unique_ptr<UcxLanding> landing(new UcxLanding(context));
  if (getrandom(landing->cookie_, sizeof landing->cookie_, GRND_NONBLOCK) !=
      sizeof landing->cookie_) {
    return nullptr;
  }
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.length = kBlockBytes * kBlockCount;
  // In a segment, where that is how peers reach it. Pages come when they are written.
  params.flags = UCP_MEM_MAP_ALLOCATE | UCP_MEM_MAP_NONBLOCK;
  const UcxLibrary& ucx = context.library();
  if (ucx.mem_map(context.handle(), &params, &landing->memory_) != UCS_OK) return nullptr;
  ucp_mem_attr_t is{};
  is.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  if (ucx.mem_query(landing->memory_, &is) != UCS_OK) return nullptr;
  landing->start_ = static_cast<const std::byte*>(is.address);
  return landing;
}

UcxLanding::~UcxLanding() {
  if (memory_ != nullptr) context_->library().mem_unmap(context_->handle(), memory_);
}

std::vector<std::byte> UcxLanding::offer() const {
  void* key = nullptr;
  std::size_t key_bytes = 0;
  if (context_->library().rkey_pack(context_->handle(), memory_, &key, &key_bytes) != UCS_OK) {
    return {};
  }
  const auto release = [&](void* packed) { context_->library().rkey_buffer_release(packed); };
  const std::unique_ptr<void, decltype(release)> packed(key, release);
  const OfferHead head = {.cookie = {cookie_[0], cookie_[1]},
                          .start = reinterpret_cast<std::uintptr_t>(start_)};
  std::vector<std::byte> offer(sizeof head + key_bytes);
  std::memcpy(offer.data(), &head, sizeof head);
  std::memcpy(offer.data() + sizeof head, key, key_bytes);
  return offer;
}

std::optional<LandingNotice> UcxLanding::notice_in(
    std::span<const std::byte> bytes) const noexcept {
  LandingNotice notice;
  if (bytes.size() != sizeof notice) return std::nullopt;
  std::memcpy(&notice, bytes.data(), sizeof notice);
  if (!std::ranges::equal(notice.cookie, cookie_)) return std::nullopt;
  return notice;
}

void UcxLanding::read(const LandingNotice& notice, std::span<std::byte> destination) noexcept {
  std::memcpy(destination.data(), start_ + notice.first_block * kBlockBytes,
              std::min<std::size_t>(notice.size_bytes, destination.size()));
  read_ |= notice.blocks();
}

std::unique_ptr<UcxTarget> UcxTarget::from_offer(const UcxLibrary& ucx, ucp_ep_h connection,
                                                 std::span<const std::byte> offer,
                                                 bool may_have_puts) {
  OfferHead head;
  std::memcpy(&head, offer.data(), sizeof head);
  std::unique_ptr<UcxTarget> target(new UcxTarget(ucx));
  target->start_ = head.start;
  std::ranges::copy(head.cookie, target->cookie_);
  if (ucx.ep_rkey_unpack(connection, offer.data() + sizeof head, &target->key_) != UCS_OK) {
    target->key_ = nullptr;
    return nullptr;
  }
  void* mapped = nullptr;
  const bool is_shared = ucx.rkey_ptr(target->key_, head.start, &mapped) == UCS_OK;
  return is_shared || may_have_puts ? std::move(target) : nullptr;
}

UcxTarget::~UcxTarget() {
  if (key_ != nullptr) ucx_->rkey_destroy(key_);
}

std::optional<LandingNotice> UcxTarget::take(std::size_t size_bytes) noexcept {
  constexpr LandingBlocks kAll = (LandingBlocks{1} << UcxLanding::kBlockCount) - 1;
  for (std::uint64_t first = 0; first < UcxLanding::kBlockCount; ++first) {
    const LandingBlocks blocks = blocks_of(first, size_bytes);
    if ((blocks & ~kAll) != 0) break;
    if ((blocks & used_) != 0) continue;
    used_ |= blocks;
    return LandingNotice{
        .cookie = {cookie_[0], cookie_[1]}, .first_block = first, .size_bytes = size_bytes};
  }
  return std::nullopt;
}

}  // namespace hycoll
