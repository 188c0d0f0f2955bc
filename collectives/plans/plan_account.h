#ifndef HYCOLL_COLLECTIVES_PLANS_PLAN_ACCOUNT_H_
#define HYCOLL_COLLECTIVES_PLANS_PLAN_ACCOUNT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hycoll {

/// What the plans of this process have come to, over all communicators and teams.
struct PlanStatistics {
  std::uint64_t made = 0;     ///< Plans that were generated.
  std::uint64_t found = 0;    ///< Times that a call unlike the one before needed none.
  std::uint64_t evicted = 0;  ///< Plans given up because of the bound.
  std::size_t peak_bytes = 0;
  double seconds = 0;  ///< Spent on generating.
};
PlanStatistics plan_statistics() noexcept;

/// Adds to these; the bytes are those that are held now.
void add_to_plan_statistics(const PlanStatistics& more) noexcept;

/// The bytes that the plans of one communicator or team take, and their bound. Thread-safe.
class PlanAccount {
 public:
  explicit PlanAccount(std::size_t limit_bytes) noexcept : limit_bytes_(limit_bytes) {}

  std::size_t limit_bytes() const noexcept { return limit_bytes_; }
  std::size_t held_bytes() const noexcept { return held_bytes_.load(std::memory_order_relaxed); }
  bool is_exceeded() const noexcept { return held_bytes() > limit_bytes_; }

  /// What something takes, as long as it lives.
  class Entry {
   public:
    Entry() noexcept = default;
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;
    ~Entry() { set({}, 0); }

    /// It takes so much from now on, in this account, which outlives it if it is not null.
    void set(const std::shared_ptr<PlanAccount>& account, std::size_t bytes) noexcept {
      if (account == account_ && bytes == bytes_) return;
      if (account_ != nullptr) account_->add(std::size_t{0} - bytes_);
      account_ = account;
      bytes_ = bytes;
      if (account_ != nullptr) account_->add(bytes_);
    }

   private:
    std::shared_ptr<PlanAccount> account_;
    std::size_t bytes_ = 0;
  };

 private:
  /// Modulo 2^64, as differences are.
  void add(std::size_t bytes) noexcept;

  std::size_t limit_bytes_;
  std::atomic<std::size_t> held_bytes_{0};
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_PLANS_PLAN_ACCOUNT_H_
