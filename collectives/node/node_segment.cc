#include "collectives/node/node_segment.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "collectives/node/arena_exchange.h"
#include "collectives/node/memory_homes.h"
#include "collectives/node/node_distance.h"
#include "collectives/node/single_copy.h"
#include "core/base/byte_sizes.h"

namespace hycoll {
namespace {

/// All processes of a node call this; worker 0 says it, and whoever has heard it does not say it
/// again.
void say_heaps_are_apart(const ProcessGroup& group, int worker) {
  static std::atomic<bool> said{false};
  // Orders nothing but itself.
  if (said.exchange(true, std::memory_order_relaxed) || worker != 0) return;
  std::fprintf(stderr,
               "hycoll: long vectors go through staging although they lie in the shared heap: %s "
               "and its neighbours cannot map one another's heaps; let them run as one user, in "
               "one process namespace, with room for shared memory\n",
               group.process_name(group.rank()).c_str());
}

}  // namespace

NodeMemory::Extent NodeSegment::own_extent(NodeMemory::Section section, const NodeMembership& node,
                                           std::size_t staging_bytes) {
  return NodeMemory::extent_of(section, node.first_worker(), node.thread_count(),
                               node.threads.count(), staging_bytes);
}

SegmentBytes NodeSegment::own_bytes(const NodeMembership& node, std::size_t staging_bytes) {
  const auto bytes_of = [&](NodeMemory::Section section) {
    return own_extent(section, node, staging_bytes).size_bytes;
  };
  return {.compact = ProcessWatch::size_bytes(1) + bytes_of(NodeMemory::Section::compact),
          .rest = bytes_of(NodeMemory::Section::rest)};
}

void NodeSegment::provide_rest(MemoryCharge charge) {
  try {
    if (SharedSegment::can_reserve_mapped()) {
      segment_.reserve_mapped(rest_extent_.offset_bytes, rest_extent_.size_bytes);
    }
  } catch (const Error&) {
    segment_.release_mapped(rest_extent_.offset_bytes, rest_extent_.size_bytes);
    throw;
  }
  for (std::size_t thread = 0; thread < executors_.size(); ++thread) {
    memory_->construct_worker(first_worker_ + static_cast<int>(thread), NodeMemory::Section::rest);
  }
  rest_.emplace(std::move(charge));
}

void NodeSegment::withdraw_rest() noexcept {
  rest_.reset();
  segment_.release_mapped(rest_extent_.offset_bytes, rest_extent_.size_bytes);
}

NodeSegment::NodeSegment(const NodeMembership& node, std::size_t staging_bytes, MemoryCharge charge)
    : staging_bytes_(staging_bytes),
      charge_(std::move(charge)),
      own_bytes_(own_bytes(node, staging_bytes)),
      rest_extent_(own_extent(NodeMemory::Section::rest, node, staging_bytes)),
      process_(node.process),
      first_worker_(node.first_worker()),
      runs_(static_cast<std::size_t>(node.thread_count())) {
  for (int process = 0; process < node.process_count(); ++process) {
    first_workers_.push_back(node.threads.first_of(process));
  }
}

std::shared_ptr<NodeSegment> NodeSegment::make(JointSetup& setup, const ProcessGroup& group,
                                               const NodeMembership& node, MemoryCharge charge) {
  const std::size_t staging_bytes = static_cast<std::size_t>(group.options().staging_kib) * kKib;
  std::shared_ptr<NodeSegment> made(new NodeSegment(node, staging_bytes, std::move(charge)));
  made->map(setup, node);
  made->announce_addresses(setup, group, node);
  made->construct(node);
  const bool may_spin = !group.cores_are_shared() && node.process_count() > 1;
  // Nobody writes into the memory of others before they have constructed it, and nobody attaches
  // any more.
  setup.meet();
  made->segment_.close();
  // Whoever makes many of them knows the distance.
  if (group.options().memory != Options::Memory::alone) made->measure_distance(setup, may_spin);
  return made;
}

void NodeSegment::map(JointSetup& setup, const NodeMembership& node) {
  std::exception_ptr failure;
  for (const SharedSegment::Kind kind :
       {SharedSegment::Kind::anonymous, SharedSegment::Kind::named}) {
    failure = nullptr;
    if (attach(setup, node, kind, failure)) return;
    segment_ = SharedSegment();
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  setup.meet();  // with those who have met a failure
}

bool NodeSegment::attach(JointSetup& setup, const NodeMembership& node, SharedSegment::Kind kind,
                         std::exception_ptr& failure) {
  SharedSegment::Handle handle;
  try {
    if (node.process == 0) {
      segment_ = SharedSegment(kind, watch_offset(node, staging_bytes_) +
                                         ProcessWatch::size_bytes(node.process_count()));
      handle = segment_.handle();
    }
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  setup.meet();
  JointSetup::complete("MPI_Ibcast", [&](MPI_Request* request) {
    return MPI_Ibcast(&handle, sizeof(handle), MPI_BYTE, 0, node.neighbours, request);
  });
  const bool is_there = handle.size_bytes > 0;
  try {
    if (is_there && node.process != 0) segment_ = SharedSegment(handle);
    if (is_there) {
      settle(node);
      reserve(node);
    }
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  return setup.all(is_there && failure == nullptr);
}

void NodeSegment::settle(const NodeMembership& node) {
  for (const NodeMemory::Section section :
       {NodeMemory::Section::compact, NodeMemory::Section::rest}) {
    std::vector<MemoryHome> homes =
        memory_homes(section, first_worker_, node.thread_count(), staging_bytes_, node.domains);
    // A thread that is alone touches its areas itself, where it really runs.
    if (node.thread_count() == 1) {
      std::erase_if(homes, [](const MemoryHome& home) { return home.domains.size() == 1; });
    }
    settle_memory(segment_.bytes(), homes);
  }
}

void NodeSegment::reserve(const NodeMembership& node) {
  const NodeMemory::Extent compact = own_extent(NodeMemory::Section::compact, node, staging_bytes_);
  segment_.reserve(compact.offset_bytes, compact.size_bytes);
  if (!SharedSegment::can_reserve_mapped()) {
    segment_.reserve(rest_extent_.offset_bytes, rest_extent_.size_bytes);
  }
  if (node.process != 0) return;
  segment_.reserve(watch_offset(node, staging_bytes_),
                   ProcessWatch::size_bytes(node.process_count()));
}

void NodeSegment::construct(const NodeMembership& node) {
  const std::size_t watch_begin = watch_offset(node, staging_bytes_);
  memory_ = std::make_unique<NodeMemory>(segment_.bytes().first(watch_begin), node.threads.count(),
                                         staging_bytes_, addresses_.get());
  watch_ = std::make_unique<ProcessWatch>(segment_.bytes().subspan(watch_begin),
                                          node.process_count(), node.process);
  ExecutorOptions options;
  options.member_count = node.threads.count();
  for (int thread = 0; thread < node.thread_count(); ++thread) {
    const int worker = first_worker_ + thread;
    memory_->construct_worker(worker, NodeMemory::Section::compact);
    executors_.push_back(std::make_unique<WorkerExecutor>(
        *memory_, worker, std::vector<Endpoint*>{}, nullptr, options));
  }
}

void NodeSegment::announce_addresses(JointSetup& setup, const ProcessGroup& group,
                                     const NodeMembership& node) {
  if (!node.threads.is_one_each()) {
    addresses_ = std::make_unique<ThreadAddresses>(first_worker_, node.thread_count());
    return;
  }
  ExchangedArenas arenas = exchange_arenas(setup, node.neighbours);
  if (arenas.any_used && !arenas.all_reachable) say_heaps_are_apart(group, first_worker_);
  const bool wishes_copies = group.options().single_copy_kib.value_or(1) > 0;
  SingleCopy copies = wishes_copies ? SingleCopy(setup, node.neighbours) : SingleCopy();
  auto addresses =
      std::make_unique<NodeAddresses>(segment_.bytes(), std::move(arenas), std::move(copies));
  shareable_ = addresses.get();
  addresses_ = std::move(addresses);
}

void NodeSegment::set_distance(double handoff_ns) noexcept {
  handoff_ns_ = handoff_ns;
  memory_->set_far(handoff_ns > kFarHandoffNs);
}

void NodeSegment::measure_distance(JointSetup& setup, bool may_spin) {
  const auto measured = [this](const MeasurementTime& time) {
    return measure_half_a_node_apart(*memory_, first_workers_, process_, time);
  };
  // The bits of numbers that are not negative are in their order.
  const double here_ns = may_spin ? measured(kThorough) : 0.0;
  const JointSetup::Numbers least =
      setup.least({~std::bit_cast<std::int64_t>(here_ns), may_spin ? 1 : 0});
  set_distance(std::bit_cast<double>(~least[0]));
  if (least[1] == 0) return;
  // What it has left is made ready before the first look.
  reset(memory_->handoff_ball(first_worker_));
  looks_.emplace(
      *memory_, first_workers_, process_, handoff_ns_ > 0, [measured] { return measured(kLook); },
      [this](double handoff_ns) { set_distance(handoff_ns); });
}

void NodeSegment::exchange(std::vector<ExecutorContext>* next) {
  for (std::size_t thread = 0; thread < executors_.size(); ++thread) {
    if (current_ != nullptr) executors_[thread]->exchange((*current_)[thread]);
    if (next != nullptr) executors_[thread]->exchange((*next)[thread]);
    memory_->forget_operator_failure(first_worker_ + static_cast<int>(thread));
  }
  current_ = next;
}

}  // namespace hycoll
