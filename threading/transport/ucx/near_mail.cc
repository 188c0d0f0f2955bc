#include "threading/transport/ucx/near_mail.h"

#include <utility>

#include "core/base/errors.h"

namespace hycoll {

NearMail::NearMail(SharedSegment segment, bool has_made_it)
    : segment_(std::move(segment)),
      outgoing_(segment_.bytes().data() + (has_made_it ? 0 : MessageRing::kBytes)),
      incoming_(segment_.bytes().data() + (has_made_it ? MessageRing::kBytes : 0)) {}

std::unique_ptr<NearMail> NearMail::make() {
  try {
    SharedSegment segment(SharedSegment::Kind::anonymous, 2 * MessageRing::kBytes);
    segment.reserve(0, 2 * MessageRing::kBytes);
    return std::unique_ptr<NearMail>(new NearMail(std::move(segment), true));
  } catch (const Error&) {
    return nullptr;
  }
}

std::unique_ptr<NearMail> NearMail::open(const SharedSegment::Handle& handle) {
  try {
    auto mail = std::unique_ptr<NearMail>(new NearMail(SharedSegment(handle), false));
    mail->close();
    return mail;
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace hycoll
