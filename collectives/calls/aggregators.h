#ifndef HYCOLL_COLLECTIVES_CALLS_AGGREGATORS_H_
#define HYCOLL_COLLECTIVES_CALLS_AGGREGATORS_H_

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "collectives/job/process_group.h"
#include "collectives/node/workers.h"
#include "collectives/plans/plan_cache.h"
#include "core/base/errors.h"
#include "threading/execution/executor.h"

namespace hycoll {

/// What an aggregator is told: a call that it takes part in, with all that its plan depends on;
/// that a call of which it has been told has failed; that there will be no more. Sent as bytes.
struct AggregatorNotice {
  enum class Kind : std::uint8_t { call, failure, end } kind = Kind::end;
  Collective collective = Collective::allreduce;
  OperandOrder order = OperandOrder::any;
  DataType type = DataType::uint8;
  Operator op = Operator::max;
  int root = 0;
  CallNumber call = 0;
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  PackedSignature signature = {};
};
static_assert(std::is_trivially_copyable_v<AggregatorNotice>);

/// On the process of member 0: tells the aggregators of the calls that use them. Aggregators do not
/// call collectives, so they learn from a message which one comes next. Used by one thread at a
/// time.
class CallAnnouncer {
 public:
  /// The group must outlive this object.
  explicit CallAnnouncer(const ProcessGroup& group) : group_(group) {}

  /// Says that there will be no more calls; returns when all notices have been sent.
  ~CallAnnouncer();
  CallAnnouncer(const CallAnnouncer&) = delete;
  CallAnnouncer& operator=(const CallAnnouncer&) = delete;

  /// Requires a plan that uses aggregators, and calls in the order of their numbers. Does not wait.
  void announce(const Plan& plan, const CallArguments& arguments);

  /// Member 0 does not make the call, or one that the other members of its process do not make: the
  /// aggregators give it up. Does nothing if the call has not been announced.
  void retract(CallNumber call);

 private:
  /// One notice on its way to all aggregators.
  struct Message {
    AggregatorNotice notice;
    std::vector<MPI_Request> requests;
  };
  void send(const AggregatorNotice& notice);

  const ProcessGroup& group_;
  CallNumber last_call_ = 0;     // announced
  std::list<Message> messages_;  // in the order in which they were sent
};

/// On an aggregator: a thread that takes part in every call that it is told of, until the members
/// destroy their communicator or team. Being a thread it serves one communicator while its process
/// is busy with another one, so that members may use several in any order.
class AggregatorService {
 public:
  /// Starts the thread. What is passed must outlive this object.
  AggregatorService(const ProcessGroup& group, NodeWorkers& workers, PlanCache& plans);

  /// As finish(); but an error that nobody has been told of is reported, and ends the job.
  ~AggregatorService();
  AggregatorService(const AggregatorService&) = delete;
  AggregatorService& operator=(const AggregatorService&) = delete;

  /// Returns when the members have made their last call. Throws the Error that the aggregator met,
  /// after which it serves no more. By one thread at a time.
  void finish();

 private:
  void thread_main();
  void serve();
  void receive_notices();
  AggregatorNotice next_notice();
  bool is_retracted(CallNumber call) const;
  void take_part(const AggregatorNotice& notice);
  void execute(const AggregatorNotice& notice);

  const ProcessGroup& group_;
  NodeWorkers& workers_;
  RecentPlans plans_;  // of the thread
  AggregatorNotice incoming_;
  MPI_Request request_ = MPI_REQUEST_NULL;  // of the incoming notice
  std::deque<AggregatorNotice> notices_;    // that have come in
  std::optional<Error> error_;              // written by the thread, read after its end
  bool is_reported_ = false;
  std::thread thread_;  // last: it uses the others
};

/// What Communicator::serve() and Team::serve() do; the service is null on other processes.
void serve_with(AggregatorService* service);

/// For calls on an aggregator, which has no member to make them.
[[noreturn]] void throw_aggregator_calls(const ProcessGroup& group);

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_CALLS_AGGREGATORS_H_
