#include "tools/command/measuring/contestants.h"

#include <utility>

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

/// use(call), with a lambda of a type of its own for each routine, as in contestant_of.
template <class Use>
auto with_native_call(Routine routine, const NativeProblem& p, Use use) {
  switch (routine) {
    case Routine::allreduce:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Allreduce(in, out, p.count, p.type, p.op, p.comm), "MPI_Allreduce");
      });
    case Routine::reduce:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Reduce(in, out, p.count, p.type, p.op, p.root, p.comm), "MPI_Reduce");
      });
    case Routine::reduce_scatter:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Reduce_scatter_block(in, out, p.block_count, p.type, p.op, p.comm),
                  "MPI_Reduce_scatter_block");
      });
    case Routine::scan:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Scan(in, out, p.count, p.type, p.op, p.comm), "MPI_Scan");
      });
    case Routine::exscan:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Exscan(in, out, p.count, p.type, p.op, p.comm), "MPI_Exscan");
      });
    case Routine::broadcast:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Bcast(p.buffer(in, out), p.count, p.type, p.root, p.comm), "MPI_Bcast");
      });
    case Routine::allgather:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Allgather(in, p.block_count, p.type, out, p.block_count, p.type, p.comm),
                  "MPI_Allgather");
      });
    case Routine::gather:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Gather(in, p.block_count, p.type, out, p.block_count, p.type, p.root, p.comm),
                  "MPI_Gather");
      });
    case Routine::scatter:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(
            MPI_Scatter(in, p.block_count, p.type, out, p.block_count, p.type, p.root, p.comm),
            "MPI_Scatter");
      });
    case Routine::alltoall:
      return use([p](const std::byte* in, std::byte* out) {
        check_mpi(MPI_Alltoall(in, p.block_count, p.type, out, p.block_count, p.type, p.comm),
                  "MPI_Alltoall");
      });
    case Routine::barrier:
      break;
  }
  return use([p](const std::byte*, std::byte*) { check_mpi(MPI_Barrier(p.comm), "MPI_Barrier"); });
}

}  // namespace

Call call_of(const Problem& problem, std::size_t count, int member_count, const void* input,
             void* output) {
  const std::size_t block_count = count / static_cast<std::size_t>(member_count);
  switch (problem.routine) {
    case Routine::allreduce:
      return calls::allreduce(input, output, count, problem.type, problem.op);
    case Routine::reduce:
      return calls::reduce(input, output, count, problem.type, problem.op, problem.root);
    case Routine::reduce_scatter:
      return calls::reduce_scatter_block(input, output, block_count, problem.type, problem.op);
    case Routine::scan:
      return calls::scan(input, output, count, problem.type, problem.op);
    case Routine::exscan:
      return calls::exscan(input, output, count, problem.type, problem.op);
    case Routine::broadcast: {
      Call call = calls::broadcast(output, count, problem.type, problem.root);
      call.input = input;
      return call;
    }
    case Routine::allgather:
      return calls::allgather(input, output, block_count, problem.type);
    case Routine::gather:
      return calls::gather(input, output, block_count, problem.type, problem.root);
    case Routine::scatter:
      return calls::scatter(input, output, block_count, problem.type, problem.root);
    case Routine::alltoall:
      return calls::alltoall(input, output, block_count, problem.type);
    case Routine::barrier:
      break;
  }
  return calls::barrier();
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
    case Routine::allreduce:
      check_mpi(MPI_Iallreduce(input, output, p.count, p.type, p.op, p.comm, &request),
                "MPI_Iallreduce");
      break;
    case Routine::reduce:
      check_mpi(MPI_Ireduce(input, output, p.count, p.type, p.op, p.root, p.comm, &request),
                "MPI_Ireduce");
      break;
    case Routine::reduce_scatter:
      check_mpi(
          MPI_Ireduce_scatter_block(input, output, p.block_count, p.type, p.op, p.comm, &request),
          "MPI_Ireduce_scatter_block");
      break;
    case Routine::scan:
      check_mpi(MPI_Iscan(input, output, p.count, p.type, p.op, p.comm, &request), "MPI_Iscan");
      break;
    case Routine::exscan:
      check_mpi(MPI_Iexscan(input, output, p.count, p.type, p.op, p.comm, &request), "MPI_Iexscan");
      break;
    case Routine::broadcast:
      check_mpi(MPI_Ibcast(p.buffer(input, output), p.count, p.type, p.root, p.comm, &request),
                "MPI_Ibcast");
      break;
    case Routine::allgather:
      check_mpi(MPI_Iallgather(input, p.block_count, p.type, output, p.block_count, p.type, p.comm,
                               &request),
                "MPI_Iallgather");
      break;
    case Routine::gather:
      check_mpi(MPI_Igather(input, p.block_count, p.type, output, p.block_count, p.type, p.root,
                            p.comm, &request),
                "MPI_Igather");
      break;
    case Routine::scatter:
      check_mpi(MPI_Iscatter(input, p.block_count, p.type, output, p.block_count, p.type, p.root,
                             p.comm, &request),
                "MPI_Iscatter");
      break;
    case Routine::alltoall:
      check_mpi(MPI_Ialltoall(input, p.block_count, p.type, output, p.block_count, p.type, p.comm,
                              &request),
                "MPI_Ialltoall");
      break;
    case Routine::barrier:
      check_mpi(MPI_Ibarrier(p.comm, &request), "MPI_Ibarrier");
      break;
  }
  return request;
}

#if MPI_VERSION >= 4
MPI_Request prepare_native(MPI_Comm comm, const Problem& problem, std::size_t count,
                           const void* input, void* output) {
  const NativeProblem p = native_problem(comm, problem, count);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Info info = MPI_INFO_NULL;
  switch (problem.routine) {
    case Routine::allreduce:
      check_mpi(MPI_Allreduce_init(input, output, p.count, p.type, p.op, p.comm, info, &request),
                "MPI_Allreduce_init");
      break;
    case Routine::reduce:
      check_mpi(
          MPI_Reduce_init(input, output, p.count, p.type, p.op, p.root, p.comm, info, &request),
          "MPI_Reduce_init");
      break;
    case Routine::reduce_scatter:
      check_mpi(MPI_Reduce_scatter_block_init(input, output, p.block_count, p.type, p.op, p.comm,
                                              info, &request),
                "MPI_Reduce_scatter_block_init");
      break;
    case Routine::scan:
      check_mpi(MPI_Scan_init(input, output, p.count, p.type, p.op, p.comm, info, &request),
                "MPI_Scan_init");
      break;
    case Routine::exscan:
      check_mpi(MPI_Exscan_init(input, output, p.count, p.type, p.op, p.comm, info, &request),
                "MPI_Exscan_init");
      break;
    case Routine::broadcast:
      check_mpi(
          MPI_Bcast_init(p.buffer(input, output), p.count, p.type, p.root, p.comm, info, &request),
          "MPI_Bcast_init");
      break;
    case Routine::allgather:
      check_mpi(MPI_Allgather_init(input, p.block_count, p.type, output, p.block_count, p.type,
                                   p.comm, info, &request),
                "MPI_Allgather_init");
      break;
    case Routine::gather:
      check_mpi(MPI_Gather_init(input, p.block_count, p.type, output, p.block_count, p.type, p.root,
                                p.comm, info, &request),
                "MPI_Gather_init");
      break;
    case Routine::scatter:
      check_mpi(MPI_Scatter_init(input, p.block_count, p.type, output, p.block_count, p.type,
                                 p.root, p.comm, info, &request),
                "MPI_Scatter_init");
      break;
    case Routine::alltoall:
      check_mpi(MPI_Alltoall_init(input, p.block_count, p.type, output, p.block_count, p.type,
                                  p.comm, info, &request),
                "MPI_Alltoall_init");
      break;
    case Routine::barrier:
      check_mpi(MPI_Barrier_init(p.comm, info, &request), "MPI_Barrier_init");
      break;
  }
  return request;
}
#endif

}  // namespace hycoll::command
