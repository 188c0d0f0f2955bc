#ifndef HYCOLL_COLLECTIVES_API_HYCOLL_H_
#define HYCOLL_COLLECTIVES_API_HYCOLL_H_

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hycoll/call.h"
#include "hycoll/collective_calls.h"
#include "hycoll/errors.h"
#include "hycoll/types.h"
#include "hycoll/version.h"

/// Collectives for programs that mix MPI and threads. The public interface of hycoll.
///
/// Three layouts. With a Communicator every MPI process is one member with one buffer. Either a
/// pool of pinned leader threads inside the process works on it (`per_node`); or the processes of a
/// machine work together, each with its calling thread, through memory that they share
/// (`processes`, for programs with one process per core). With a Team every thread of a parallel
/// region is a member with its own buffers (`threads`), and the processes of a machine may again
/// work together. All need MPI_THREAD_MULTIPLE, but for the
/// blocking calls of a Communicator with one worker per process.
///
/// With Options::aggregators some processes have no members. They combine what the members of the
/// others send them, in the background, as switches would that reduce by themselves; their program
/// constructs the same communicators and teams, and calls serve() instead of collectives.
///
/// Example: the sum of a vector over all processes, and its largest element.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     std::vector<double> local(1000, 1.0);
///     std::vector<double> global(local.size());
///     communicator.allreduce(local, global);
///     const double largest = communicator.allreduce(local[0], hycoll::Operator::max);
///     check(global[0] == communicator.size() && largest == 1.0);
///
/// Example: the same over all threads of all processes, two in each.
///
///     hycoll::Team team(MPI_COMM_WORLD, 2);
///     auto work = [&](int thread) {
///       hycoll::Member member = team.join(thread);
///       check(member.allreduce(1) == member.size());
///     };
///     std::thread other(work, 1);
///     work(0);
///     other.join();
///
/// Who must outlive whom: communicators and teams are made after MPI_Init_thread and destroyed
/// before MPI_Finalize; members, persistent calls and requests that have not been waited for must
/// not outlive theirs; buffers, datatypes and operators must not go before the last call that uses
/// them has completed.
///
/// Every function reports misuse and a broken environment by throwing hycoll::Error. A member that
/// does not arrive within Options::warn_after is named on standard error; one that does not within
/// Options::timeout, if that is asked for, ends the job with a message that says who is missing and
/// in which call.
namespace hycoll {

/// Choices that apply to all calls of one communicator or team. All processes must pass the same
/// values, or constructors throw; but for `workers`, `pinning`, `warn_after` and `timeout`, and,
/// with the layout `per_node`, `placement`.
struct Options {
  /// What a node is: who exchanges through memory rather than messages.
  enum class Layout {
    per_node,   ///< Each process by itself: the caller of a Communicator and a pool of threads; the
                ///< threads of a Team.
    processes,  ///< The processes of a machine: each is one worker of a Communicator, and its
                ///< threads are those of a Team (for one process per NUMA domain). Those of a Team
                ///< only as far as their ranks follow each other; for a Communicator see
                ///< has_scattered_ranks().
  };
  /// What a node is.
  Layout layout = Layout::per_node;

  /// Layout `processes`: whose processes form a node. A process belongs to a NUMA domain if its
  /// share of the machine's cores lies in it; the others of a machine form a node of their own.
  enum class NodeScope { machine, numa_domain };
  NodeScope node_scope = NodeScope::machine;  ///< Whose processes form a node.

  /// Layout `processes`: how much memory each worker shares with other processes of its machine, in
  /// KiB, for vectors to pass through; 64 to 1048576. What a call stages of one element of the
  /// vector must fit into half of it. Calls take turns in it, and are fastest if it is as large as
  /// a core's own caches: what another core has read is out of that one's when it is written again.
  /// Team in a process that is alone: the same between its threads where they are far from one
  /// another; what does not fit is not staged.
  int staging_kib = 1024;

  /// Layout `processes`: how much memory the processes of a machine share in all, in MiB, a part
  /// for each. Communicators that have no room for memory of their own in half of it share the
  /// memory of others that have the same processes in the same order, if the processes have not
  /// asked MPI for MPI_THREAD_MULTIPLE: has_own_memory(). Beyond the limit, constructors throw. Not
  /// set: 64, or room for eight communicators of each process, whichever is more.
  std::optional<int> staging_limit_mib;

  /// Layout `processes`: when a Communicator provides the memory that its processes share.
  enum class Memory {
    at_once,      ///< In the constructor, which throws if there is none.
    when_needed,  ///< There, what short calls need: some KiB for each process. The rest when the
                  ///< first blocking call needs it. Where there is none, that call throws
                  ///< MemoryRefused on all processes and has not been made; so does every other
                  ///< than a blocking call before. Not for programs whose members may pass
                  ///< different arguments: the members exchange messages before that call.
    in_turn,      ///< At once, and together with other communicators of the same processes in the
                  ///< same order: as if there were no room for memory of its own.
    alone,        ///< As when_needed, but never together with others: without room for memory of
                  ///< its own the constructor throws; if staging_limit_mib is not set, there is
                  ///< room for twice what others have. The processes do not look how far they are
                  ///< from one another, and count as near. For many communicators that make few
                  ///< calls each, such as those that hycoll makes itself for persistent calls.
  };
  Memory memory = Memory::at_once;  ///< When there is memory that processes share.

  /// Layout `processes`: vectors of so many KiB and more are read and written where they are, by
  /// the kernel (process_vm_readv), if all processes of the machine may do that to each other. 0:
  /// none. Not set: where the processes of a node are near one another, broadcasts, gathers and
  /// scatters of 1 MiB, allgathers of 2 MiB and all-to-alls of 8 MiB and more between two of them,
  /// and among more of them long vectors of all collectives but scans, from some 256 KiB to 512 KiB
  /// for each process on; elsewhere staging is faster, past the caches where they are far:
  /// docs/decisions/0043, 0073, 0077, 0080.
  std::optional<int> single_copy_kib;

  /// What the plans of a communicator or team may take on each process, in KiB, at least 1; beyond
  /// it those that have not been used for longest are given up, and made again when they are
  /// needed. A call whose plan alone takes more is refused. A team of threads of one process has as
  /// much again for each of the two other ways that they go when they are far from one another.
  int plan_cache_kib = 16 * 1024;

  /// What the leaders of a node may hold of an all-to-all that they gather and scatter, in KiB, at
  /// least 1: where what they hold by themselves, twice what the node sends, would be more, they
  /// exchange it in segments that follow one another through so much memory, but through four
  /// blocks for each leader at least. Not of blocks whose lengths only the members of a pair know,
  /// nor of an algorithm that is asked for by another name than `multi-leader-pairwise`.
  int exchange_kib = 64 * 1024;

  /// Layout `processes`, for tests on one machine: the processes of every machine (or NUMA domain)
  /// form so many nodes. 0: one.
  int emulated_nodes = 0;
  /// How the processes are dealt to emulated nodes: neighbouring ranks to one, or in turn.
  enum class EmulatedDealing { blocks, cyclic };
  EmulatedDealing emulated_dealing = EmulatedDealing::blocks;  ///< How they are dealt.

  /// Workers per process, for a Communicator with the layout `per_node`: the calling thread and
  /// workers - 1 pool threads. 0: one per core of the process's share of the node. A Team has one
  /// worker per thread instead.
  int workers = 0;

  /// Lanes per node: partitions that are worked on at once, each by a leader with its own MPI
  /// endpoint. 0: chosen per call, at most one per worker. May exceed the workers; at most 8 per
  /// worker.
  int lanes = 0;

  /// What messages between nodes go through. `ucx`: a worker of UCX (1.10 or later) for each lane,
  /// so that no leader waits for another one; constructors throw Error if a process cannot use UCX.
  /// `automatic`: UCX where all processes have it and it is faster, which is measured once in a
  /// process's life.
  enum class Transport { automatic, mpi, ucx };
  Transport transport = Transport::automatic;  ///< What messages go through.

  /// Over UCX, whether long messages are put into memory of the receiving lane, from where it
  /// copies them, up to 16 MiB for each lane; where the network needs the receiver's help for that,
  /// as TCP does, or the memory is refused, they go as they do without. `automatic`: if that is
  /// measured to be faster, once in a process's life.
  enum class Puts { automatic, off, on };
  Puts puts = Puts::automatic;  ///< Whether long messages are put.

  /// An algorithm's name as `hycoll algorithms` lists them, or "auto".
  std::string algorithm = "auto";

  /// Where leaders run: "compact", "spread" (over NUMA domains) or "one_per_package".
  std::string placement = "spread";

  /// Which members of a node are near one another, for the algorithms that follow that, which are
  /// chosen where they are faster: "machine": neighbours that share a core, a cache, a NUMA domain,
  /// a package, if all have cores of their own. "flat": nobody. Or the workers of a group on each
  /// level from inner to outer, on every node: "4,16,64", each a multiple of the one before; the
  /// last group has what is left. They count as caches, NUMA domains and packages.
  std::string groups = "machine";

  /// What a cache line takes from core to core, by which such choices are made on nodes of more
  /// than two members: "": measured once on the machine of the first process, and kept in the
  /// user's cache directory; "measure": measured again; "published": published figures. Or
  /// nanoseconds on the same core, cache, NUMA domain and package, and between packages:
  /// "10,25,80,110,200".
  std::string latencies;

  /// Communicators: a file that describes the network as a tree of switches and hosts, of which the
  /// first process reads it (docs/topology.md); or "slurm": what Slurm tells each process of the
  /// switches above its host. Nodes are then numbered as in a ring on which no
  /// link carries two messages in the same direction, in those calls whose result does not depend
  /// on the order of ranks: broadcast and barrier, allreduce and reduce with operators that
  /// commute. Constructors throw Error if the file is none; if a host is not in it, or Slurm
  /// does not tell, they say so on standard error, and nodes keep the order of ranks. Without
  /// effect where has_scattered_ranks() is always false, and with aggregators. Empty: none.
  std::string topology;

  /// A file that describes what the machine's steps cost, as `hycoll calibrate` writes it, of which
  /// the first process reads the prices (docs/models.md). Between nodes, algorithms are chosen by
  /// them. Constructors throw Error if the file is none. Empty: published prices of a cluster with
  /// one network card of 100 Gbit/s for each node.
  std::string machine;

  /// A file of what has been measured to be fastest, as `hycoll tune` writes it (docs/tune.md):
  /// "auto" takes that for calls like those that were measured. Each process reads it. If a process
  /// cannot, or their files differ, one of them says so on standard error, and nothing is taken
  /// from it. Empty: none.
  std::string tuning;

  /// A folder into which the process writes what its workers did lately, as a file for Perfetto and
  /// `hycoll trace` (docs/trace.md): when it exits, and on SIGUSR2. Made if it is missing; the same
  /// for all communicators and teams of a process. Constructors throw Error if nothing can be
  /// written into it. Empty: nothing is traced.
  std::string trace;

  /// What the trace keeps for each thread, in KiB; what is older is dropped.
  int trace_kib = 1024;

  /// Whether pool threads (Communicator) or joining threads (Team) are bound to a core each.
  enum class Pinning { pinned, unpinned };
  Pinning pinning = Pinning::pinned;  ///< Whether threads are bound.

  /// The last so many processes of the parent communicator are aggregators: they have no member,
  /// and combine what the algorithms node-leader and socket-leader send them. At least one process
  /// must remain. The other algorithms do without them; the native ones are refused.
  int aggregators = 0;

  /// What is promised of the bits of every call's result; a single call may ask for more.
  Bits bits = Bits::same_on_all_members;

  /// How long a call waits for a missing member before a line on standard error names it: one
  /// process of each node speaks, and again after twice, four times, ... as long. 0: never.
  std::chrono::milliseconds warn_after{60'000};

  /// How long a call waits for a missing member before it reports and ends the job. 0: for ever,
  /// for members may be late, as in MPI.
  std::chrono::milliseconds timeout{0};

  /// What a wait does with its core, alike on all processes. `automatic`: `spin` where there is a
  /// core for each worker of the machine's processes, `yield` elsewhere.
  enum class Waiting {
    automatic,
    spin,   ///< Looks for some 20 us, then yields between looks, and after 100 ms sleeps for a
            ///< hundredth of the time.
    yield,  ///< Yields after a few looks, and after 2 ms sleeps for 50 us between looks.
    sleep,  ///< As `automatic` for 1 ms; then sleeps until members of the node wake it. For
            ///< messages between nodes, and those of the MPI library, it looks from time to time,
            ///< which takes 2.5 % and less than 1 % of a core: docs/preload.md.
  };
  Waiting waiting = Waiting::automatic;  ///< What a wait does with its core.

  /// Arguments are always compared between the members of a process; a member that has left a short
  /// reduce, scan or exscan before others entered it gets the Error at the end of one of its next
  /// calls. `all_processes` compares them between processes too, at the cost of a small
  /// MPI_Allreduce per call, and lets nobody leave early.
  enum class Checking { process, all_processes };
  Checking checking = Checking::process;  ///< Whose arguments are compared.

  /// Buffers of one member that overlap: the blocks of a result, or input and output in part.
  /// `unspecified`, for programs that rely on MPI libraries which do not look: what lies where
  /// blocks overlap is that of any of them; input that overlaps the output is read before it is
  /// written.
  enum class Overlaps { refused, unspecified };
  Overlaps overlaps = Overlaps::refused;  ///< What is done about buffers that overlap.

  /// What a Communicator's or Team's own messages between constructor and destructor go through.
  /// `borrowed`: the parent communicator, which must live as long, and which the program uses for
  /// nothing else while one of its processes is in the constructor or in a blocking call. Its error
  /// handler meets what goes wrong. Takes none of the MPI library's communicators where all
  /// processes form one node.
  enum class Parent { duplicated, borrowed };
  Parent parent = Parent::duplicated;  ///< What hycoll's own messages go through.

  /// What the calling thread, of a Team that of the process's first member, does from time to time
  /// while it waits in a blocking call, e.g. to go on with DrivenCalls, which others may wait for.
  /// Must not throw, nor wait itself. Null: nothing.
  std::function<void()> while_waiting = nullptr;

  /// The defaults, changed by the environment: docs/settings.md says which variable stands for
  /// which field, and so does `hycoll info --settings`. Throws Error when a value cannot be read.
  /// The first call in a process names, on standard error, the variables HYCOLL_* that are no
  /// settings. Once MPI is initialised, only rank 0 of MPI_COMM_WORLD does.
  static Options from_environment();
};

/// A call that has not been made, on any process, for the processes may not share as much memory as
/// it needs, or have not provided it yet: Options::Memory::when_needed.
class MemoryRefused : public Error {
 public:
  using Error::Error;  ///< As those of Error.
};

struct OwnMemory;  // of collectives/calls/own_memory.h, for hycoll's own command

/// One member per process, worked on by a pool of leader threads (layout `per_node`), or together
/// with the other processes of the machine (layout `processes`).
///
/// As with MPI, one thread at a time calls functions of one communicator, and all processes make
/// the same calls in the same order. Different communicators may be used by different threads at
/// once.
class Communicator : public CollectiveCalls<Communicator> {
 public:
  /// Collective over `parent`, whose processes become the members in rank order. Duplicates
  /// communicators: one for control (Options::parent), and one per lane, of which more than eight
  /// share eight unless Options::algorithm names a native one. Throws Error if MPI is not
  /// initialised with MPI_THREAD_MULTIPLE; with one worker (Options::workers is 1, or the layout is
  /// `processes`, and there are no aggregators) any level will do, and nonblocking and persistent
  /// calls throw instead. Throws Error, on all processes, if one of them cannot set up what it
  /// needs: memory, threads, the machine's topology, or, with the layout `processes`, what those of
  /// a machine share. The message names a process and tells why.
  explicit Communicator(MPI_Comm parent, const Options& options = Options::from_environment());

  /// Collective. All requests must have completed.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  /// Local. Requests and persistent calls stay valid. The other one must only be destroyed, which
  /// is local then, or assigned to.
  Communicator(Communicator&&) noexcept;
  /// As the destructor for the communicator that it has been.
  Communicator& operator=(Communicator&&) noexcept;

  /// Among the members; -1 on an aggregator.
  int rank() const noexcept;
  /// The number of members.
  int size() const noexcept;
  /// Of this process: 1 with the layout `processes`.
  int worker_count() const noexcept;

  /// Whether this process is one of Options::aggregators. Calls on it throw Error.
  bool is_aggregator() const noexcept;

  /// On an aggregator: returns when the members have destroyed their communicators. The destructor
  /// waits for that too. Throws Error if the aggregator cannot serve them any more (an aggregator
  /// that is destroyed without having been asked reports that, and ends the job).
  void serve();

  /// MPI's communicator that it was made of, for calls of MPI's own. hycoll does not keep it alive.
  MPI_Comm parent() const noexcept;

  /// What the communicator was made with.
  const Options& options() const noexcept;

  /// Whether the ranks of a node's processes do not follow each other, as where a launcher deals
  /// them to machines in turn (layout `processes`). Then only those calls are worked on by nodes
  /// whose result does not depend on the order of ranks: broadcast and barrier, allreduce and
  /// reduce with operators that commute. In the others, a node is what follows each other: mostly
  /// single processes, which exchange messages. False if all processes are compared
  /// (Options::checking) or all bits are to be reproducible, where nodes always follow the ranks.
  /// The same on all processes.
  bool has_scattered_ranks() const noexcept;

  /// The blocking, nonblocking and persistent form of any call; CollectiveCalls has the
  /// collectives by name. Setting up a persistent call is local; its starts are calls, which all
  /// processes make in the same order as their other ones (see Persistent).
  void run(const Call& call);
  /// The nonblocking form of run().
  [[nodiscard]] Request start(const Call& call);
  /// The persistent form of run().
  [[nodiscard]] Persistent prepare(const Call& call);

  /// A nonblocking call that its owner drives. Any thread level will do. Throws Error where all
  /// processes compare their calls (Options::checking), and without memory of its own.
  [[nodiscard]] DrivenCall drive(const Call& call);

  /// The same, to be started any number of times: collective, and waits for the others, so that
  /// everything that a start takes is there before. No call of drive() may be under way, but starts
  /// may. The buffers must last as long as what is returned, which must not outlive the
  /// communicator; so must the datatype and operator of a reduction. The call's lists need not, nor
  /// the datatypes of what is only moved: likewise of drive(). Throws Error as drive(), and
  /// MemoryRefused, on all processes, where there is too little memory.
  ///
  /// Starts are matched by their set-up: processes may start such calls in any order, which may
  /// differ between them, also between all other calls, and none waits for others. For that each
  /// set-up has memory and lanes of its own, up to 64 at a time. Later set-ups take them over when
  /// what is returned has gone, which each process may let go when it likes. (With
  /// Options::aggregators starts are calls like any other, made in one order.)
  [[nodiscard]] DrivenCall prepare_driven(const Call& call);

  /// False if other communicators of the same processes use the same memory in turn
  /// (Options::staging_limit_mib), so that there are blocking calls only. The same on all
  /// processes.
  bool has_own_memory() const noexcept;

  /// Whether all members share memory, so that calls send no messages, native algorithms apart.
  bool is_one_node() const noexcept;

  /// What messages between nodes go through, and why, for people: "UCX 1.13.1 (asked for)". Empty
  /// if there are none.
  const std::string& transport() const noexcept;

  /// Many inputs of this process, one output: the thread-local copies of a parallel region are
  /// reduced by all workers, in the order given, and then over the processes. Every input has
  /// `count` elements; there is at least one. The inputs may include the output itself.
  void allreduce_many(std::span<const void* const> inputs, void* output, std::size_t count,
                      DataType type, Operator op);

  /// The same for the thread-local vectors of a `tbb::combinable<std::vector<T>>`,
  /// a `tbb::enumerable_thread_specific<std::vector<T>>` or anything else with combine_each. Each
  /// vector must have output.size() elements. Threads that have no copy contribute nothing; without
  /// any copy the output itself is the input.
  template <class Combinable, Element T>
  void allreduce_combinable(Combinable& copies, std::span<T> output, Operator op = Operator::sum) {
    std::vector<const void*> inputs;
    copies.combine_each([&](const auto& copy) {
      require_same_size(copy.size(), output.size());
      inputs.push_back(copy.data());
    });
    if (inputs.empty()) inputs.push_back(output.data());
    allreduce_many(inputs, output.data(), output.size(), data_type_of<T>(), op);
  }

  /// What a call uses, e.g. for reports.
  struct Choice {
    std::string algorithm;  ///< By name.
    int lanes;              ///< Per node.
    int workers;            ///< Per process.
    int segments;           ///< Parts into which messages are cut.
  };
  /// What this call would use.
  Choice choice(const Call& call) const;

 private:
  friend OwnMemory own_memory(const Communicator& communicator);
  struct State;
  /// Throws Error unless calls can be driven.
  void require_driving();
  /// Gives the memory of its own up for that of others: Options::Memory::in_turn. Collective.
  void take_turns();
  std::unique_ptr<State> state_;
};

class Team;

/// One thread of a team: a member with a rank of its own. A handle, used by one thread at a time.
class Member : public CollectiveCalls<Member> {
 public:
  /// Rank among all members of all processes: process by process, then by thread.
  int rank() const noexcept;
  /// All members of all processes.
  int size() const noexcept;

  /// As Communicator's, with every member contributing its own buffers. Nonblocking and persistent
  /// calls run on a thread of the member's own, in the background.
  void run(const Call& call);
  /// The nonblocking form of run().
  [[nodiscard]] Request start(const Call& call);
  /// The persistent form of run().
  [[nodiscard]] Persistent prepare(const Call& call);

 private:
  friend class Team;
  struct State;
  explicit Member(State* state) noexcept : state_(state) {}
  State* state_;
};

/// The threads of a parallel region as members (layout `threads`): OpenMP threads, TBB workers,
/// std::thread alike. With Options::layout `processes` the threads of all processes of a machine
/// work together: through each other's buffers inside a process, through memory that the processes
/// share between them; and there is one exchange between machines for all of them.
class Team {
 public:
  /// Collective over `parent`, called by one thread of each process; processes may have different
  /// thread counts. Throws Error if MPI is not initialised with MPI_THREAD_MULTIPLE; and, on all
  /// processes, as a Communicator does, or if thread_count is below 1 on one of them.
  Team(MPI_Comm parent, int thread_count, const Options& options = Options::from_environment());

  /// Collective; no member may be inside a call.
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  /// Local. Members, requests and persistent calls stay valid. The other one must only be
  /// destroyed, which is local then, or assigned to.
  Team(Team&&) noexcept;
  /// As the destructor for the team that it has been.
  Team& operator=(Team&&) noexcept;

  /// The members of this process: 0 on an aggregator, whatever it passed.
  int thread_count() const noexcept;

  /// As Communicator's. A team's aggregator has nobody to join it.
  bool is_aggregator() const noexcept;
  /// As Communicator's.
  void serve();

  /// The member with this index among the process's threads (e.g. omp_get_thread_num()). Every
  /// index is used by one thread at a time. May be called in every parallel region, at little cost.
  ///
  /// With Options::pinning, the first call for an index binds the calling thread to the core of
  /// this member, for good: also when the team is gone, and also the program's main thread. Threads
  /// that OpenMP has bound (OMP_PROC_BIND) stay where they are. Pass `unpinned` where somebody else
  /// binds the threads, or where they serve several teams.
  ///
  /// Throws Error in a parallel region of OpenMP with fewer threads than the team. Elsewhere hycoll
  /// cannot know: members that make no call are waited for. What a member's call throws must not
  /// leave an OpenMP region: catch it there (docs/examples/openmp_team.cc).
  Member join(int thread_index);

  /// What this call would use.
  Communicator::Choice choice(const Call& call) const;

 private:
  friend class Member;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_HYCOLL_H_
