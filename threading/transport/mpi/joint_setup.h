#ifndef HYCOLL_THREADING_TRANSPORT_MPI_JOINT_SETUP_H_
#define HYCOLL_THREADING_TRANSPORT_MPI_JOINT_SETUP_H_

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace hycoll {

/// What all processes of a communicator set up together, or not at all.
///
/// A process that fails alone, since it is refused memory, a thread or anything else, must not
/// leave the others in a collective. So all meet before each collective of the set-up, and once
/// more at its end. Whoever has failed since the last meeting says so in the next one, wherever the
/// others are by then, and all throw. Between a meeting and the collective behind it nothing may be
/// done that can fail on one process alone.
///
/// The processes of a part of the communicator may have a set-up of their own in the midst of it,
/// if all have met just before; an error that leaves the inner one is an error of its processes in
/// the outer one.
///
/// Used by one thread. Telling a failure takes no memory. Whoever waits for the others gives its
/// core away: one of them may need it.
class JointSetup {
 public:
  /// How many numbers go with a meeting.
  static constexpr std::size_t kNumbers = 4;
  using Numbers = std::array<std::int64_t, kNumbers>;
  /// What is less than no other number.
  static constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

  /// Over the processes of a communicator, which outlives the object, though not its use by run().
  explicit JointSetup(MPI_Comm communicator) noexcept : communicator_(communicator) {}
  JointSetup(const JointSetup&) = delete;
  JointSetup& operator=(const JointSetup&) = delete;

  /// Calls `body(setup)` and returns what it returns, if it has returned on all processes.
  /// Otherwise throws on all: on those where it has thrown, its Error, or an Error (environment)
  /// that tells of another exception; on the others, that of the first such process, whom it names.
  /// Collective; body's collectives, and what they need, must be the same everywhere.
  template <class Body>
  static auto run(MPI_Comm communicator, const Body& body) {
    JointSetup setup(communicator);
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<const Body&, JointSetup&>>) {
        body(setup);
        setup.meet();
      } else {
        auto made = body(setup);
        setup.meet();
        return made;
      }
    } catch (...) {
      setup.give_up();
    }
  }

  /// Collective: returns when all processes have called it, or throws on all if one has failed.
  void meet() { least({}); }
  /// The same, and tells the least of each number that processes pass.
  Numbers least(const Numbers& own);
  /// The same for one number.
  std::int64_t least(std::int64_t own) { return least(Numbers{own})[0]; }
  std::int64_t most(std::int64_t own) { return ~least(~own); }
  /// Whether all processes pass the same number.
  bool same(std::int64_t own) {
    const Numbers extremes = least({own, ~own});
    return extremes[0] == ~extremes[1];
  }
  /// Whether something holds on all processes.
  bool all(bool holds) { return least(holds ? 1 : 0) == 1; }

  /// A collective of the MPI library's behind a meeting. `start(request)` starts its nonblocking
  /// form, which `name` names, and returns MPI's code. Throws Error (environment) if it fails.
  template <class Start>
  static void complete(const char* name, const Start& start) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = start(&request);
    complete_started(name, code, request);
  }

  /// How messages name the processes; "process 3" where nobody has said it.
  void name_processes(std::function<std::string(int rank)> names) { names_ = std::move(names); }

 private:
  static constexpr std::int64_t kNobody = kMost;
  /// What all reduce in a meeting: the least of each.
  struct Meeting {
    std::int64_t failed = kNobody;  ///< The first process that has.
    Numbers numbers{};
  };
  struct Failure;

  static void complete_started(const char* name, int code, MPI_Request& request);
  Meeting reduced(const Meeting& own) const;
  /// Of the process with this rank, on all.
  void tell(Failure& failure, std::int64_t rank) const;
  int rank() const;
  /// From the handler of an exception: tells the others, unless that is what they have met for.
  [[noreturn]] void give_up();
  [[noreturn]] void throw_failure_of(std::int64_t rank) const;

  MPI_Comm communicator_;
  bool is_over_ = false;  // nobody meets any more
  std::function<std::string(int rank)> names_;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_TRANSPORT_MPI_JOINT_SETUP_H_
