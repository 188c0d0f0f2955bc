#include "collectives/calls/aggregators.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <utility>

#include "core/base/errors.h"
#include "core/kernels/kernels.h"
#include "numa/placement/binding.h"
#include "threading/execution/run_failure.h"
#include "threading/memory/waiter.h"
#include "threading/transport/mpi/end_job.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {
namespace {

constexpr int kNoticeTag = 0;

/// How long an aggregator looks for the next call before it naps in between: far above the time
/// between the calls of a busy program.
constexpr std::chrono::milliseconds kBusyTime{2};
constexpr std::chrono::microseconds kNap{100};

}  // namespace

CallAnnouncer::~CallAnnouncer() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  try {
    send({.kind = AggregatorNotice::Kind::end});
    for (Message& message : messages_) {
      MPI_Waitall(static_cast<int>(message.requests.size()), message.requests.data(),
                  MPI_STATUSES_IGNORE);
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "hycoll: aggregators cannot be told that they are done: %s\n",
                 error.what());
  }
}

void CallAnnouncer::announce(const Plan& plan, const CallArguments& arguments) {
  HYCOLL_ASSERT(plan.selected.aggregators > 0 && plan.block_counts.empty(),
                "aggregators know no unequal blocks");
  last_call_ = arguments.call;
  send({.kind = AggregatorNotice::Kind::call,
        .collective = plan.query.collective,
        .order = plan.query.order,
        .type = arguments.type,
        .op = arguments.op,
        .root = plan.query.root,
        .call = arguments.call,
        .count = plan.query.extent.count,
        .element_bytes = plan.query.element_bytes,
        .signature = arguments.signature});
}

void CallAnnouncer::retract(CallNumber call) {
  if (call > last_call_) return;
  send({.kind = AggregatorNotice::Kind::failure, .call = call});
}

void CallAnnouncer::send(const AggregatorNotice& notice) {
  int is_sent = 0;
  if (!messages_.empty()) {
    Message& oldest = messages_.front();
    check_mpi(MPI_Testall(static_cast<int>(oldest.requests.size()), oldest.requests.data(),
                          &is_sent, MPI_STATUSES_IGNORE),
              "MPI_Testall");
  }
  if (is_sent != 0) {
    messages_.splice(messages_.end(), messages_, messages_.begin());
  } else {
    messages_.emplace_back();
  }
  Message& message = messages_.back();
  message.notice = notice;
  message.requests.assign(static_cast<std::size_t>(group_.aggregator_count()), MPI_REQUEST_NULL);
  int process = group_.member_process_count();
  for (MPI_Request& request : message.requests) {
    check_mpi(MPI_Isend(&message.notice, sizeof(message.notice), MPI_BYTE, process++, kNoticeTag,
                        group_.control(), &request),
              "MPI_Isend");
  }
}

AggregatorService::AggregatorService(const ProcessGroup& group, NodeWorkers& workers,
                                     PlanCache& plans)
    : group_(group), workers_(workers), plans_(plans), thread_([this] { thread_main(); }) {}

AggregatorService::~AggregatorService() {
  if (thread_.joinable()) thread_.join();
  if (!error_ || is_reported_) return;
  end_job(fmt::format("hycoll: an aggregator, process {}, serves no more: {}. hycoll ends the job",
                      group_.rank(), error_->what()),
          1);
}

void AggregatorService::finish() {
  if (thread_.joinable()) thread_.join();
  is_reported_ = true;
  if (error_) throw Error(*error_);
}

void AggregatorService::thread_main() {
  if (group_.options().pinning == Options::Pinning::pinned && !group_.cores_are_shared()) {
    try {
      bind_this_thread(group_.topology(), workers_.cores().front());
    } catch (const Error&) {
      // A container may forbid binding; the thread then runs wherever the process may.
    }
  }
  try {
    serve();
  } catch (const std::exception&) {
    error_ = handled_failure();
    if (request_ == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request_);  // or it would write to an object that is gone
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
}

void AggregatorService::serve() {
  for (;;) {
    const AggregatorNotice notice = next_notice();
    if (notice.kind == AggregatorNotice::Kind::end) return;
    // A failure of a call that has been finished here means nothing.
    if (notice.kind == AggregatorNotice::Kind::call) take_part(notice);
  }
}

void AggregatorService::take_part(const AggregatorNotice& notice) {
  try {
    execute(notice);
  } catch (const RunFailure& failure) {
    // Members have failed, and tell their callers why. They make the next call nevertheless.
    if (failure.kind() != ErrorKind::mismatch) throw;
  }
}

void AggregatorService::receive_notices() {
  for (;;) {
    if (request_ == MPI_REQUEST_NULL) {
      const bool is_last = !notices_.empty() && notices_.back().kind == AggregatorNotice::Kind::end;
      if (is_last) return;
      check_mpi(MPI_Irecv(&incoming_, sizeof(incoming_), MPI_BYTE, 0, kNoticeTag, group_.control(),
                          &request_),
                "MPI_Irecv");
    }
    int has_arrived = 0;
    check_mpi(MPI_Test(&request_, &has_arrived, MPI_STATUS_IGNORE), "MPI_Test");
    if (has_arrived == 0) return;
    notices_.push_back(incoming_);
  }
}

AggregatorNotice AggregatorService::next_notice() {
  Waiter waiter(workers_.wait_policy());
  for (receive_notices(); notices_.empty(); receive_notices()) {
    if (!waiter.turn()) continue;
    if (waiter.slow_time() < kBusyTime) {
      waiter.give_way();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
  const AggregatorNotice notice = notices_.front();
  notices_.pop_front();
  return notice;
}

bool AggregatorService::is_retracted(CallNumber call) const {
  return std::ranges::any_of(notices_, [&](const AggregatorNotice& notice) {
    return notice.kind == AggregatorNotice::Kind::failure && notice.call == call;
  });
}

void AggregatorService::execute(const AggregatorNotice& notice) {
  const Plan& plan = plans_.find({.collective = notice.collective,
                                  .order = notice.order,
                                  .root = notice.root,
                                  .element_bytes = notice.element_bytes,
                                  .extent = {.count = notice.count}});
  WorkerExecutor& executor = workers_.executor(0);
  executor.start(plan.programs.front(),
                 {.call = notice.call,
                  .type = notice.type,
                  .op = notice.op,
                  .reducer = {.kernel = reduce_kernel(notice.op, notice.type)},
                  .signature = notice.signature});
  Waiter waiter(workers_.wait_policy());
  for (;;) {
    const WorkerExecutor::Progress progress = executor.advance();
    if (progress == WorkerExecutor::Progress::finished) return;
    if (progress == WorkerExecutor::Progress::advanced) waiter.reset();
    if (!waiter.turn()) continue;
    executor.slow_turn(waiter);
    receive_notices();
    if (is_retracted(notice.call)) return executor.abandon();
  }
}

void serve_with(AggregatorService* service) {
  if (service != nullptr) return service->finish();
  throw Error(ErrorKind::invalid_argument,
              "serve: this process is no aggregator, and has calls to make; call serve() where "
              "is_aggregator() is true");
}

void throw_aggregator_calls(const ProcessGroup& group) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("process {} of {} is an aggregator (Options::aggregators is {}): it has "
                          "no member, and takes part in the calls of the others in the "
                          "background. Make calls where is_aggregator() is false, and serve() "
                          "where it is true",
                          group.rank(), group.size(), group.aggregator_count()));
}

}  // namespace hycoll
