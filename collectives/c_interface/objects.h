#ifndef HYCOLL_COLLECTIVES_C_INTERFACE_OBJECTS_H_
#define HYCOLL_COLLECTIVES_C_INTERFACE_OBJECTS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/c_interface/handles.h"

namespace hycoll::c_interface {

/// What a hycoll_member stands for.
class MemberObject {
 public:
  explicit MemberObject(std::unique_ptr<Communicator> communicator)
      : communicator_(std::move(communicator)) {}
  /// Of a team, whose member comes with the first join().
  MemberObject() = default;

  void join(Member member) noexcept { member_.emplace(member); }

  /// Null: a team's member.
  Communicator* communicator() const noexcept { return communicator_.get(); }

  int rank() const noexcept { return communicator_ ? communicator_->rank() : member_->rank(); }
  int size() const noexcept { return communicator_ ? communicator_->size() : member_->size(); }

  void run(const Call& call) { communicator_ ? communicator_->run(call) : member_->run(call); }
  Request start(const Call& call) {
    return communicator_ ? communicator_->start(call) : member_->start(call);
  }
  Persistent prepare(const Call& call) {
    return communicator_ ? communicator_->prepare(call) : member_->prepare(call);
  }

  /// The requests that have not been waited for or freed.
  int request_count() const noexcept { return requests_.load(std::memory_order_relaxed); }
  void count_request(int change) noexcept {
    // Orders nothing: who frees a communicator or a team has met its threads.
    requests_.fetch_add(change, std::memory_order_relaxed);
  }

 private:
  std::unique_ptr<Communicator> communicator_;
  std::optional<Member> member_;
  std::atomic<int> requests_ = 0;
};

/// What a hycoll_team stands for.
struct TeamObject {
  TeamObject(MPI_Comm parent, int thread_count, const Options& options)
      : team(parent, thread_count, options),
        members(static_cast<std::size_t>(team.thread_count())),
        handles(members.size()) {}

  Team team;
  std::vector<MemberObject> members;   ///< By thread.
  std::vector<std::uint64_t> handles;  ///< Of the members.
};

/// What a call refers to as long as it lasts, and the program has in another form.
struct CallLists {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> received_counts;
  std::vector<std::ptrdiff_t> displacements;
  std::vector<std::ptrdiff_t> received_displacements;
  std::vector<ElementType> types;
  std::vector<ElementType> received_types;
  /// Copies the member's own block, which it describes in two ways, before each call. Null: no.
  std::function<void()> copy_own_block = nullptr;

  void make_ready() const {
    if (copy_own_block) copy_own_block();
  }
};

/// What a hycoll_request stands for.
class RequestObject {
 public:
  explicit RequestObject(MemberObject& member) : member_(&member) { member.count_request(1); }
  ~RequestObject() { member_->count_request(-1); }
  RequestObject(const RequestObject&) = delete;
  RequestObject& operator=(const RequestObject&) = delete;

  CallLists& lists() noexcept { return lists_; }
  bool is_persistent() const noexcept { return persistent_.has_value(); }
  /// Whether there is anything to wait for.
  bool is_active() const noexcept { return is_active_; }

  void start_nonblocking(const Call& call) {
    lists_.make_ready();
    request_ = member_->start(call);
    is_active_ = true;
  }
  void prepare(const Call& call) { persistent_.emplace(member_->prepare(call)); }
  /// Of a persistent call. Requires that it is not active.
  void start() {
    lists_.make_ready();
    persistent_->start();
    is_active_ = true;
  }

  /// Whether wait() would return, or throw, at once. Requires that it is active.
  bool has_completed() {
    return persistent_ ? persistent_->has_completed() : request_.has_completed();
  }
  /// Returns when the call has completed, or throws what it has met; not active then.
  void wait() {
    is_active_ = false;
    persistent_ ? persistent_->wait() : request_.wait();
  }

 private:
  MemberObject* member_;
  CallLists lists_;
  Request request_;
  std::optional<Persistent> persistent_;
  bool is_active_ = false;
};

}  // namespace hycoll::c_interface

#endif  // HYCOLL_COLLECTIVES_C_INTERFACE_OBJECTS_H_
