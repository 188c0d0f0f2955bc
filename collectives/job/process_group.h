#ifndef HYCOLL_COLLECTIVES_JOB_PROCESS_GROUP_H_
#define HYCOLL_COLLECTIVES_JOB_PROCESS_GROUP_H_

#include <mpi.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/api/hycoll.h"
#include "collectives/job/node_grouping.h"
#include "collectives/job/process_map.h"
#include "collectives/selection/selection.h"
#include "core/base/machine_prices.h"
#include "core/schedule/shape.h"
#include "numa/topology/topology.h"
#include "threading/execution/executor.h"
#include "threading/transport/mpi/joint_setup.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll {

/// In place of a call's signature: that the process's members have refused their arguments, or that
/// they differ among themselves.
inline constexpr PackedSignature kRefusedSignature{.call = ~std::uint64_t{0}, .detail = 0};
inline constexpr PackedSignature kMixedSignature{.call = ~std::uint64_t{0}, .detail = 1};

/// Which threads of a process call MPI on behalf of a group.
enum class MpiCallers : std::uint8_t {
  several,    ///< Several at once: MPI_THREAD_MULTIPLE is needed.
  user_only,  ///< Those of the user's that make calls: whatever they have asked of MPI is enough.
};

/// Throws Error (environment) unless MPI provides MPI_THREAD_MULTIPLE.
void require_thread_multiple();

/// An option whose values are numbers, or words, of which a number tells others.
struct NumberedOption {
  std::string_view name;
  int value = 0;
  const std::string* words = nullptr;

  static NumberedOption of_words(std::string_view name, const std::string& words);
};

/// Numbers that neighbouring nodes tell alike.
struct EqualNumbers {
  std::vector<int> numbers;
  int count = 1;
};

/// The processes of a communicator or team: what all layouts share. With the layouts `per_node` and
/// `threads` each is a node of the schedules.
/// Those with members come first, then the aggregators. Everything that may differ between
/// processes is exchanged here once, so that all decide alike.
class ProcessGroup {
 public:
  /// Throws Error unless MPI is initialised. Local.
  static void require_mpi();

  /// Collective over `parent`, whose set-up the group is a part of. Requires MPI. Throws Error if
  /// its thread level is too low for `callers`; and, on every process, if their options differ
  /// where they must not, they run different builds of hycoll, or no process is left with members.
  ///
  /// `order`: the processes of `parent` have the numbers of the ranks that users know; null: they
  /// are these ranks.
  ProcessGroup(JointSetup& setup, MPI_Comm parent, const Options& options,
               MpiCallers callers = MpiCallers::several,
               std::shared_ptr<const RankOrder> order = nullptr);
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }

  /// How many processes have members, and how many have none; of which kind this one is.
  int member_process_count() const noexcept { return size_ - options_.aggregators; }
  int aggregator_count() const noexcept { return options_.aggregators; }
  bool is_aggregator() const noexcept { return rank_ >= member_process_count(); }
  /// Whether this process tells the aggregators of calls.
  bool announces() const noexcept { return rank_ == 0 && aggregator_count() > 0; }

  /// For messages between processes outside of any lane.
  MPI_Comm control() const noexcept { return control_->handle(); }

  /// What the group is a part of, until it is set up. What is collective over the group before
  /// that is a step of it.
  JointSetup& setup() const noexcept { return *setup_; }

  const Options& options() const noexcept { return options_; }

  /// The cores of this process: its share of the machine when the launcher gave none of its own.
  const Topology& topology() const { return map_.share().topology; }

  /// Whether this machine runs more processes than it has cores.
  bool cores_are_shared() const { return map_.share().cores_are_shared; }

  /// How many processes this machine runs, as far as they are known: all of MPI_COMM_WORLD's, or
  /// those of the group.
  int neighbour_count() const { return map_.neighbour_count(); }

  /// How workers wait when each process has this many.
  WaitPolicy wait_policy(int worker_count) const {
    return share().wait_policy(worker_count, options_.waiting);
  }

  /// Collective: every process's value, by rank.
  RankMap gather(int value) const;
  /// Collective: the largest one.
  int maximum(int value) const;

  /// By rank: a number for each place whose processes may form a node, as node_places() has it.
  /// Collective.
  RankMap node_places() const;

  /// Collective: what each node says, by node. Every process passes its own node's numbers, of
  /// which the first process's count, whose rank `first_rank_of` tells; if they are equally many
  /// everywhere, that is not told.
  enum class Lengths { equal, differ };
  std::vector<EqualNumbers> gather_lists(const std::vector<int>& own, Lengths lengths,
                                         int node_count,
                                         const std::function<int(int node)>& first_rank_of) const;

  /// Collective: everybody has the first process's numbers.
  void broadcast_first(std::span<double> numbers) const;
  void broadcast_first(std::span<int> numbers) const;

  /// The name of a process's machine, by rank.
  const std::string& host(int rank) const { return map_.host(rank); }
  /// "process 3 on host a", by rank. The second outlives the group.
  std::string process_name(int rank) const { return names_(rank); }
  const PeerNames& process_names() const noexcept { return names_; }
  /// Whether a process runs on this one's machine, by rank. Outlives the group.
  std::function<bool(int rank)> neighbours() const;

  /// Collective: makes one endpoint per lane. Requires that no lane is there yet.
  void open_lanes(int lane_count);
  std::vector<Endpoint*> endpoints() const;
  /// LaneTransport::description() of these; empty if there are none.
  const std::string& transport() const noexcept { return transport_; }
  /// The tags that each of them has: the same on all processes, as MPI has it.
  int tag_count() const;

  /// How many lanes a node with these workers may ask for.
  static int maximum_lanes(int worker_count) noexcept { return kMostLanesOfWorker * worker_count; }

  /// The lanes that the options ask for, for all calls or with an algorithm; 0 if they do not.
  int requested_lanes() const;
  /// The lanes that such nodes open.
  int lane_count(std::span<const EqualNodes> nodes) const;

  /// Whether the options name an algorithm whose lanes use the MPI library's collectives.
  bool asks_for_native() const;

  /// Throws Error (invalid_argument) if the options ask for more.
  void check_lanes(int worker_count) const;

  /// What the plans of a communicator may take.
  std::size_t plan_limit_bytes() const noexcept {
    return static_cast<std::size_t>(options_.plan_cache_kib) << 10;
  }
  /// What leaders may hold of an all-to-all.
  std::size_t exchange_limit_bytes() const noexcept {
    return static_cast<std::size_t>(options_.exchange_kib) << 10;
  }
  /// What selection reckons with: those of Options::machine, or the defaults. Alike on all
  /// processes.
  const MachinePrices& prices() const noexcept { return prices_; }
  /// What has been measured to be fastest; null if nothing has. Alike on all processes.
  const std::shared_ptr<const TuningTable>& tuning() const noexcept { return tuning_; }
  /// Where calls of one size stop fitting into the caches: see BindingOptions.
  std::size_t streaming_threshold_bytes() const;

  /// For the executor of one worker of this process. `node_count` nodes make calls, aggregators
  /// included.
  ExecutorOptions executor_options(const Core& core, int first_rank, int member_count,
                                   int node_count, const WaitPolicy& policy) const;

  /// For one more worker.
  Observation observation() const;
  /// For a member of this process, which `size` members have. Null if there is no memory for it.
  std::shared_ptr<MemberRecord> record_of(int rank, int size) const;

  /// With Checking::all_processes: collective over the processes with members; throws Error
  /// (mismatch) on every one if the signatures differ.
  /// The message names this process's call and one that differs from it.
  void check_signature(CallNumber call, const PackedSignature& signature) const;

 private:
  void agree_on_options();
  void agree_on_aggregators();
  void agree_on_prices();
  /// What observers, and the trace if there is one, know the group by.
  void take_part_in_trace();
  /// What must be alike on all processes.
  std::vector<NumberedOption> common_options() const;
  /// Collective: throws Error (mismatch) on every process unless all pass the same values, in other
  /// words than those of options if that is what `of` says.
  enum class ValuesOf { options, builds };
  void require_same(std::span<const NumberedOption> values, ValuesOf of) const;
  /// Collective: what that process passes, of which as much as fits a message for people.
  std::string words_on(int rank, const std::string& own) const;
  const MachineShare& share() const { return map_.share(); }

  JointSetup* setup_;
  std::shared_ptr<const MpiCommunicator> control_;
  std::shared_ptr<const MpiCommunicator> members_;  ///< The processes with members.
  int rank_ = 0;
  int size_ = 1;
  Options options_;
  MachinePrices prices_;
  std::shared_ptr<const TuningTable> tuning_;
  std::uint64_t observed_number_ = 0;
  std::string name_;                        // of the parent, as the program has named it
  std::shared_ptr<const RankOrder> order_;  // or null
  ProcessMap map_;
  PeerNames names_;
  std::vector<std::unique_ptr<Endpoint>> lanes_;
  std::string transport_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_JOB_PROCESS_GROUP_H_
