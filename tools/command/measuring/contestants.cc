#include "tools/command/measuring/contestants.h"

#include <utility>

#include "core/base/collective_traits.h"
#include "core/base/errors.h"
#include "threading/transport/mpi/mpi_endpoint.h"

namespace hycoll::command {
namespace {

/// What MPI is told of a problem.
struct NativeProblem {
  int count;  ///< Of the input vector.
  int block_count;
  MPI_Datatype type;
  MPI_Op op;
  int root;
  MPI_Comm comm;
  bool is_root;

  /// The one buffer of a broadcast.
  void* buffer(const void* input, void* output) const {
    return is_root ? const_cast<void*>(input) : output;
  }
};

NativeProblem native_problem(MPI_Comm comm, const Problem& problem, std::size_t count) {
  int size = 1;
  int rank = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  const int whole = static_cast<int>(count);
  return {.count = whole,
          .block_count = whole / size,
          .type = mpi_type_of(problem.type),
          .op = mpi_operator_of(problem.op),
          .root = problem.root,
          .comm = comm,
          .is_root = rank == problem.root};
}

/// A lambda for each routine, so that a call costs no more than in a program that knows which one
/// it wants.
template <class Caller>
std::unique_ptr<Contestant> contestant_of(Caller& caller, const Problem& problem, std::size_t count,
                                          std::string name) {
  const DataType type = problem.type;
  const Operator op = problem.op;
  const int root = problem.root;
  const std::size_t block_count = count / static_cast<std::size_t>(caller.size());
  const auto make = [&name](auto call) { return make_contestant(std::move(name), call); };
  switch (problem.routine) {
    case Routine::allreduce:
      return make([&caller, count, type, op](const std::byte* in, std::byte* out) {
        caller.allreduce(in, out, count, type, op);
      });
    case Routine::reduce:
      return make([&caller, count, type, op, root](const std::byte* in, std::byte* out) {
        caller.reduce(in, out, count, type, op, root);
      });
    case Routine::reduce_scatter:
      return make([&caller, block_count, type, op](const std::byte* in, std::byte* out) {
        caller.reduce_scatter_block(in, out, block_count, type, op);
      });
    case Routine::scan:
      return make([&caller, count, type, op](const std::byte* in, std::byte* out) {
        caller.scan(in, out, count, type, op);
      });
    case Routine::exscan:
      return make([&caller, count, type, op](const std::byte* in, std::byte* out) {
        caller.exscan(in, out, count, type, op);
      });
    case Routine::broadcast:
      if (caller.rank() == root) {
        return make([&caller, count, type, root](const std::byte* in, std::byte*) {
          caller.broadcast(const_cast<std::byte*>(in), count, type, root);
        });
      }
      return make([&caller, count, type, root](const std::byte*, std::byte* out) {
        caller.broadcast(out, count, type, root);
      });
    case Routine::allgather:
      return make([&caller, block_count, type](const std::byte* in, std::byte* out) {
        caller.allgather(in, out, block_count, type);
      });
    case Routine::gather:
      return make([&caller, block_count, type, root](const std::byte* in, std::byte* out) {
        caller.gather(in, out, block_count, type, root);
      });
    case Routine::scatter:
      return make([&caller, block_count, type, root](const std::byte* in, std::byte* out) {
        caller.scatter(in, out, block_count, type, root);
      });
    case Routine::alltoall:
      return make([&caller, block_count, type](const std::byte* in, std::byte* out) {
        caller.alltoall(in, out, block_count, type);
      });
    case Routine::barrier:
      break;
  }
  return make([&caller](const std::byte*, std::byte*) { caller.barrier(); });
}

/// What MPI calls each routine, and what it is passed: routine, name, the same in lower case, and
/// arguments of a NativeProblem p, an input and an output.
// clang-format off
#define HYCOLL_NATIVE_ROUTINES(routine)                                                        \
  routine(allreduce, Allreduce, allreduce, input, output, p.count, p.type, p.op, p.comm)         \
  routine(reduce, Reduce, reduce, input, output, p.count, p.type, p.op, p.root, p.comm)          \
  routine(reduce_scatter, Reduce_scatter_block, reduce_scatter_block,                            \
          input, output, p.block_count, p.type, p.op, p.comm)                                    \
  routine(scan, Scan, scan, input, output, p.count, p.type, p.op, p.comm)                        \
  routine(exscan, Exscan, exscan, input, output, p.count, p.type, p.op, p.comm)                  \
  routine(broadcast, Bcast, bcast, p.buffer(input, output), p.count, p.type, p.root, p.comm)     \
  routine(allgather, Allgather, allgather,                                                       \
          input, p.block_count, p.type, output, p.block_count, p.type, p.comm)                   \
  routine(gather, Gather, gather,                                                                \
          input, p.block_count, p.type, output, p.block_count, p.type, p.root, p.comm)           \
  routine(scatter, Scatter, scatter,                                                             \
          input, p.block_count, p.type, output, p.block_count, p.type, p.root, p.comm)           \
  routine(alltoall, Alltoall, alltoall,                                                          \
          input, p.block_count, p.type, output, p.block_count, p.type, p.comm)                   \
  routine(barrier, Barrier, barrier, p.comm)
// clang-format on

/// use(call), with a lambda of a type of its own for each routine, as in contestant_of.
template <class Use>
auto with_native_call(Routine routine, const NativeProblem& p, Use use) {
  switch (routine) {
#define HYCOLL_CASE(routine, Name, name, ...)                                                     \
  case Routine::routine:                                                                          \
    return use([p]([[maybe_unused]] const std::byte* input, [[maybe_unused]] std::byte* output) { \
      check_mpi(MPI_##Name(__VA_ARGS__), "MPI_" #Name);                                           \
    });
    HYCOLL_NATIVE_ROUTINES(HYCOLL_CASE)
#undef HYCOLL_CASE
  }
  HYCOLL_ASSERT(false, "a routine");
}

}  // namespace

Call call_of(const Problem& problem, std::size_t count, int member_count, const void* input,
             void* output) {
  if (problem.routine == Routine::barrier) return calls::barrier();
  const Collective collective = collective_of(problem.routine);
  return {.collective = collective,
          .input = input,
          .output = output,
          .count = has_blocks(collective) ? count / static_cast<std::size_t>(member_count) : count,
          .type = problem.type,
          .op = problem.op,
          .root = has_root(collective) ? problem.root : 0};
}

std::unique_ptr<Contestant> hycoll_contestant(Communicator& caller, const Problem& problem,
                                              std::size_t count, std::string name) {
  return contestant_of(caller, problem, count, std::move(name));
}

std::unique_ptr<Contestant> hycoll_contestant(Member& caller, const Problem& problem,
                                              std::size_t count, std::string name) {
  return contestant_of(caller, problem, count, std::move(name));
}

std::unique_ptr<Contestant> native_contestant(MPI_Comm comm, const Problem& problem,
                                              std::size_t count) {
  return with_native_call(
      problem.routine, native_problem(comm, problem, count),
      [](auto call) -> std::unique_ptr<Contestant> { return make_contestant(kNativeName, call); });
}

std::function<void(const std::byte*, std::byte*)> native_call(MPI_Comm comm, const Problem& problem,
                                                              std::size_t count) {
  return with_native_call(
      problem.routine, native_problem(comm, problem, count),
      [](auto call) -> std::function<void(const std::byte*, std::byte*)> { return call; });
}

MPI_Request start_native(MPI_Comm comm, const Problem& problem, std::size_t count,
                         const void* input, void* output) {
  const NativeProblem p = native_problem(comm, problem, count);
  MPI_Request request = MPI_REQUEST_NULL;
  switch (problem.routine) {
#define HYCOLL_CASE(routine, Name, name, ...)                     \
  case Routine::routine:                                          \
    check_mpi(MPI_I##name(__VA_ARGS__, &request), "MPI_I" #name); \
    break;
    HYCOLL_NATIVE_ROUTINES(HYCOLL_CASE)
#undef HYCOLL_CASE
  }
  return request;
}

#if MPI_VERSION >= 4
MPI_Request prepare_native(MPI_Comm comm, const Problem& problem, std::size_t count,
                           const void* input, void* output) {
  const NativeProblem p = native_problem(comm, problem, count);
  MPI_Request request = MPI_REQUEST_NULL;
  switch (problem.routine) {
#define HYCOLL_CASE(routine, Name, name, ...)                                                 \
  case Routine::routine:                                                                      \
    check_mpi(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), "MPI_" #Name "_init"); \
    break;
    HYCOLL_NATIVE_ROUTINES(HYCOLL_CASE)
#undef HYCOLL_CASE
  }
  return request;
}
#endif

}  // namespace hycoll::command
