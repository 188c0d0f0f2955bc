// The collectives that combine, and the barrier.
#include <mpi.h>

#include "collectives/c_interface/forms.h"

namespace hycoll::c_interface {
namespace {

/// What all reductions pass, but for the operator.
struct Reduced {
  Reduced(const void* sendbuf, void* recvbuf, MPI_Datatype datatype)
      : output(not_in_place("recvbuf", recvbuf)),
        // In hycoll, a call in place has one address twice.
        input(sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf),
        type(type_of("datatype", datatype)) {}

  void* output;
  const void* input;
  ElementType type;
};

[[noreturn]] void refuse_operator() {
  throw ArgumentError(MPI_ERR_OP, "op is MPI_OP_NULL; expected an operator");
}

inline Operation operation_of(MPI_Op op) {
  if (op == MPI_OP_NULL) [[unlikely]]
    refuse_operator();
  return Operation(op);
}

Call allreduce_call(const MemberObject& /*member*/, const void* sendbuf, void* recvbuf,
                    MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  const Reduced of(sendbuf, recvbuf, datatype);
  return calls::allreduce(of.input, of.output, size_of_count("count", count), of.type,
                          operation_of(op));
}

Call reduce_call(const MemberObject& member, const void* sendbuf, void* recvbuf, MPI_Count count,
                 MPI_Datatype datatype, MPI_Op op, int root) {
  const bool is_root = member.rank() == root;
  if (!is_root) not_in_place("sendbuf", sendbuf);
  // Nobody looks at the output of the others.
  const Reduced of(sendbuf, is_root ? recvbuf : nullptr, datatype);
  return calls::reduce(of.input, of.output, size_of_count("count", count), of.type,
                       operation_of(op), root);
}

Call reduce_scatter_block_call(const MemberObject& /*member*/, const void* sendbuf, void* recvbuf,
                               MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op) {
  const Reduced of(sendbuf, recvbuf, datatype);
  return calls::reduce_scatter_block(of.input, of.output, size_of_count("recvcount", recvcount),
                                     of.type, operation_of(op));
}

Call reduce_scatter_call(const Caller& caller, const void* sendbuf, void* recvbuf,
                         const MPI_Count* recvcounts, MPI_Datatype datatype, MPI_Op op) {
  const Reduced of(sendbuf, recvbuf, datatype);
  const std::span<const std::size_t> counts =
      kept_counts("recvcounts", recvcounts, caller.member.size(), caller.lists.counts);
  return calls::reduce_scatter(of.input, of.output, counts, of.type, operation_of(op));
}

Call scan_call(const MemberObject& /*member*/, const void* sendbuf, void* recvbuf, MPI_Count count,
               MPI_Datatype datatype, MPI_Op op) {
  const Reduced of(sendbuf, recvbuf, datatype);
  return calls::scan(of.input, of.output, size_of_count("count", count), of.type, operation_of(op));
}

Call exscan_call(const MemberObject& /*member*/, const void* sendbuf, void* recvbuf,
                 MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  const Reduced of(sendbuf, recvbuf, datatype);
  return calls::exscan(of.input, of.output, size_of_count("count", count), of.type,
                       operation_of(op));
}

Call barrier_call(const MemberObject& /*member*/) { return calls::barrier(); }

}  // namespace
}  // namespace hycoll::c_interface

#define HYCOLL_C_ELEMENTS() \
  const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op,
#define HYCOLL_C_ELEMENTS_PASSED() , sendbuf, recvbuf, count, datatype, op
#define HYCOLL_C_ROOTED_ELEMENTS() HYCOLL_C_ELEMENTS() int root,
#define HYCOLL_C_ROOTED_ELEMENTS_PASSED() HYCOLL_C_ELEMENTS_PASSED(), root
#define HYCOLL_C_COUNTS() \
  const void *sendbuf, void *recvbuf, const MPI_Count *recvcounts, MPI_Datatype datatype, MPI_Op op,
#define HYCOLL_C_COUNTS_PASSED() , sendbuf, recvbuf, recvcounts, datatype, op
#define HYCOLL_C_NOTHING()

extern "C" {

HYCOLL_C_FORMS(allreduce, HYCOLL_C_ELEMENTS, HYCOLL_C_ELEMENTS_PASSED)
HYCOLL_C_FORMS(reduce, HYCOLL_C_ROOTED_ELEMENTS, HYCOLL_C_ROOTED_ELEMENTS_PASSED)
HYCOLL_C_FORMS(reduce_scatter_block, HYCOLL_C_ELEMENTS, HYCOLL_C_ELEMENTS_PASSED)
HYCOLL_C_FORMS(reduce_scatter, HYCOLL_C_COUNTS, HYCOLL_C_COUNTS_PASSED)
HYCOLL_C_FORMS(scan, HYCOLL_C_ELEMENTS, HYCOLL_C_ELEMENTS_PASSED)
HYCOLL_C_FORMS(exscan, HYCOLL_C_ELEMENTS, HYCOLL_C_ELEMENTS_PASSED)
HYCOLL_C_FORMS(barrier, HYCOLL_C_NOTHING, HYCOLL_C_NOTHING)

}  // extern "C"
