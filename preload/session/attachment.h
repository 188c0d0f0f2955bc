#ifndef HYCOLL_PRELOAD_SESSION_ATTACHMENT_H_
#define HYCOLL_PRELOAD_SESSION_ATTACHMENT_H_

#include <mpi.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "collectives/api/hycoll.h"
#include "preload/session/consent.h"
#include "preload/session/device_memory.h"
#include "preload/session/mistake.h"
#include "preload/session/nonblocking_calls.h"
#include "preload/session/payback.h"
#include "preload/session/report.h"
#include "preload/session/routine.h"
#include "preload/session/settings.h"

namespace hycoll::preload {

/// A call of the program's, as far as it decides who serves it. What MPI demands to be the same on
/// all processes is the same here too, so all decide alike.
struct Candidate {
  Routine routine = Routine::allreduce;
  MPI_Comm communicator = MPI_COMM_NULL;
  /// Of every process's input; negative if a count is, so that the MPI library reports it.
  MPI_Count element_count = 0;
  /// Not of calls of which each process knows its own part only; their count is 0 or negative.
  bool has_size = true;
  MPI_Datatype type = MPI_INT;
  MPI_Op op = MPI_MAX;
  int root = 0;
  /// This process's own, which others do not know of.
  Mistake mistake = Mistake::none;
  /// Of calls without a size, where reports are wanted: what they say. It decides nothing.
  std::size_t reported_bytes = 0;

  /// Whether the calls are served alike.
  friend bool operator==(const Candidate& a, const Candidate& b) {
    const auto deciding = [](const Candidate& call) {
      return std::tie(call.routine, call.communicator, call.element_count, call.has_size, call.type,
                      call.op);
    };
    return deciding(a) == deciding(b);
  }
};

/// An operator and a type of a reduction's.
struct Combination {
  MPI_Op op = MPI_OP_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool handles_stay = false;  ///< Both are predefined: the handles always mean the same.
  bool is_allowed = false;    ///< By MPI.
  bool has_predefined_op = false;
  bool has_kernel = false;
  std::size_t type_bytes = 0;
};

/// Either hycoll's communicator, or why the MPI library serves the call. The reason lives as long
/// as the attachment.
struct Verdict {
  Communicator* server = nullptr;
  std::string_view reason = {};
  Mistake refused_for = Mistake::none;  ///< By hycoll, unless none.
  bool is_timed = false;  ///< Attachment::add_library_time() is to be told what the call has taken.
};

/// What the preload library keeps for one communicator of the program's. Used as MPI demands of
/// collectives: by one thread at a time.
class Attachment {
 public:
  /// Local, and cheap: most communicators see few collectives.
  /// `report`: as Session::report.
  Attachment(MPI_Comm communicator, Report* report);
  ~Attachment();
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;

  /// One more owner, by one, or one less: the session is one until the communicator is freed, and
  /// so is every call that is pending or persistent. Whoever gives it up and is told that it was
  /// the last owner deletes it, or lets Session::retire() do so.
  void own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool give_up() noexcept {
    // Releases what this owner has done to the one that deletes, and acquires what others have.
    return owners_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }

  /// Before the session gives it up: the program has no such communicator any more.
  void lose_communicator() noexcept { has_communicator_.store(false, std::memory_order_relaxed); }
  /// Orders nothing: whether the error handler of the communicator can be called.
  bool has_communicator() const noexcept {
    return has_communicator_.load(std::memory_order_relaxed);
  }

  /// This process's rank in the communicator; MPI_PROC_NULL if that is an intercommunicator, where
  /// roots are those of the other group.
  int rank() const noexcept { return rank_; }
  int process_count() const noexcept { return size_; }

  /// hycoll's communicator if it has served a call like this one lately; null: decide() tells. Does
  /// what decide() would do.
  Communicator* server_of_like(const Candidate& candidate) const noexcept {
    const bool is_like = candidate == served_[place_of(candidate)] && has_root(candidate) &&
                         candidate.mistake == Mistake::none;
    return is_like ? server_ : nullptr;
  }

  /// Who serves a call. Counts it. Calls at which Settings::attach_after or Payback says so are
  /// collective over the communicator, for hycoll prepares itself then, or asks whether it pays.
  Verdict decide(const Candidate& candidate, const Settings& settings);

  Report* report() const noexcept { return report_; }

  void add_library_time(std::uint64_t ticks) noexcept { payback_.add(ticks); }

  /// Whether some process passes a buffer in a GPU's memory in a call that hycoll is to serve: then
  /// the MPI library serves it. Collective, by a call of hycoll's, where some process had a driver
  /// of GPUs when hycoll prepared itself; elsewhere no call does.
  bool meets_device_memory(Routine routine, const Call& call) {
    return has_devices_ && routine != Routine::barrier && asks_for_device_memory(call);
  }

  /// Returns when no nonblocking call of hycoll's is under way.
  void finish_nonblocking() {
    if (queue_ != nullptr && queue_->is_busy()) NonblockingCalls::instance().finish(*queue_);
  }

  /// Where this communicator's nonblocking calls wait for one another.
  CallQueue& queue();
  /// One for other calls of this communicator, which wait for no others.
  CallQueue& another_queue() const { return NonblockingCalls::instance().take_queue(wait_policy_); }

  /// At the beginning of MPI_Finalize: lets others that wait for this process go on.
  void leave() noexcept;

  /// Gives up hycoll's communicator, after its nonblocking calls; what follows goes to the MPI
  /// library.
  void close() noexcept;

 private:
  /// Why hycoll cannot serve this communicator, ever; empty if it can.
  static std::string_view obstacle_of(MPI_Comm communicator);
  /// What is known of an operator and a type. Remembers the last ones if they are predefined: a
  /// program may free others, and get the same handles again, on some processes.
  const Combination& combination_of(MPI_Op op, MPI_Datatype type);
  bool has_root(const Candidate& candidate) const noexcept {
    return static_cast<unsigned>(candidate.root) < static_cast<unsigned>(size_);
  }
  /// Why the MPI library is to make a call.
  struct Objection {
    std::string_view reason = {};
    bool is_mistake = false;  ///< Of this process, perhaps alone.
  };
  static Objection mistake(std::string_view reason);
  /// Whether MPI does not allow the call, or it is nothing to serve. Notes its size.
  Objection examine(const Candidate& candidate);
  /// examine() of a call that moves data, and combines nothing.
  Objection examine_movement(const Candidate& candidate);
  /// Why hycoll cannot serve a call that has been examined, and is not blocking, or a start of such
  /// a one; empty if it can.
  std::string_view nonblocking_obstacle(Routine routine) const;
  /// What becomes of a call in which this process makes a mistake; nothing of others.
  std::optional<Verdict> refusal(const Candidate& candidate, const Settings& settings) const;
  /// Why hycoll is not to prepare itself for the communicator in this call, if it is not.
  std::optional<Verdict> deferral(const Candidate& candidate, const Settings& settings);
  /// Collective. Without it the MPI library serves the communicator from now on.
  bool have_consent(MPI_Comm communicator);
  void attach(MPI_Comm communicator, const Settings& settings);
  /// hycoll cannot serve the communicator, ever: `reason` and, behind it, `detail` say why.
  void refuse(std::string_view reason, std::string_view detail = {}) noexcept;
  void find_nonblocking_obstacle(const Options& options, bool has_threads, bool has_hooks);
  bool asks_for_device_memory(const Call& call);

  static constexpr std::size_t kServedKept = 32;
  /// Calls that differ by a little have places of their own.
  static std::size_t place_of(const Candidate& candidate) noexcept {
    return (static_cast<std::size_t>(candidate.routine) +
            7 * static_cast<std::size_t>(candidate.element_count)) %
           kServedKept;
  }

  Report* report_;
  int rank_ = 0;
  int size_ = 0;
  std::optional<Communicator> communicator_;  ///< hycoll's.
  Communicator* server_ = nullptr;            ///< It, or null.
  std::string obstacle_;
  CallQueue* queue_ = nullptr;
  WaitPolicy wait_policy_;  ///< Of its nonblocking calls.
  std::string_view nonblocking_obstacle_;
  bool has_duplicate_ = false;  ///< Of the program's communicator, for messages.
  bool has_devices_ = false;    ///< Some process has a driver of GPUs.
  DeviceDrivers devices_;       ///< Those of this one.
  bool needs_kernels_ = false;  ///< For nonblocking calls, where only one thread may call MPI.
  Payback payback_;
  Consent consent_;
  /// Calls that hycoll has served lately, of handles that stay; where there is none, of
  /// MPI_COMM_NULL.
  std::array<Candidate, kServedKept> served_;
  Combination combination_;
  // Of the call that has been examined.
  std::size_t size_bytes_ = 0;
  bool handles_stay_ = false;  ///< They are predefined, and always mean the same.
  friend class Session;
  Attachment* next_retired_ = nullptr;  // guarded by the session's mutex
  std::atomic<bool> has_communicator_{true};
  std::atomic<int> owners_{1};
};

}  // namespace hycoll::preload

#endif  // HYCOLL_PRELOAD_SESSION_ATTACHMENT_H_
