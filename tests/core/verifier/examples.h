#ifndef HYCOLL_TESTS_CORE_VERIFIER_EXAMPLES_H_
#define HYCOLL_TESTS_CORE_VERIFIER_EXAMPLES_H_

#include <vector>

#include "core/schedule/schedule.h"

namespace hycoll::testing {

// Correct schedules, small enough to be understood step by step; together they use everything that
// a schedule can contain. Each is independent of the generators in collectives/.

/// 1 node, allreduce: every member announces itself, worker 0 reduces all inputs into all outputs
/// and says so.
Schedule central_example(int member_count);

/// The same for any collective: worker 0 computes one output after the other, the last one first.
Schedule central_example(const CollectiveTraits& collective, int member_count, int root = 0);
inline Schedule central_example(Collective collective, int member_count, int root = 0) {
  return central_example(traits_of(collective), member_count, root);
}

/// 1 node, staged: every member copies its input to staging, reduces everybody's into its own
/// output, and leaves when all have read. Two rounds of flags.
Schedule staged_example(int member_count);

/// 1 node: every member writes its input to lines and reduces everybody's lines.
Schedule lines_example(int member_count);

/// 1 node, 2 chunks: every member writes its input to a stream, a chunk at a time, reads the
/// others' streams into scratch, each in a strand of its own, and reduces.
Schedule streams_example(int member_count);

/// 2 nodes of 1 member: both exchange their vectors and reduce.
Schedule exchange_example();

/// Nodes of 1 member: the sum travels up from node to node, and the result down again, in two
/// segments.
Schedule chain_example(int node_count);

/// 2 nodes of 1 member and 2 lanes: the one worker of each node has a strand for each lane.
Schedule strands_example();

/// Nodes of 2 members: worker 0 reduces, calls the MPI library's allreduce, and copies the result.
Schedule native_example(int node_count);

/// 2 nodes of 1 member and 2 lanes: the one worker of each node calls the MPI library's allreduce
/// on one lane after the other, in one strand.
Schedule natives_example();

/// 2 nodes of 2 members: inputs and results travel through lines on a node, through messages
/// between the nodes.
Schedule lines_and_messages_example();

/// Nodes of 1 member, reduce: the sum travels from both ends of the chain to the root, in two
/// segments.
Schedule chain_reduce_example(int node_count, int root);

/// 1 node, reduce_scatter: every member reduces its block, when all have entered, and leaves when
/// all have done so. Blocks have 2 chunks.
Schedule blocks_example(int member_count);

/// Nodes of 1 member, scan or exscan: the sum so far travels up from node to node, in two segments.
Schedule chain_scan_example(Collective collective, int node_count);

/// An allreduce, or a reduce to member 1, on nodes of 2 members, of none with 2 workers, and of 1
/// member, with 2 lanes. The middle node reduces what it receives and sends the result back; what
/// one of its workers receives, the other one reduces.
Schedule aggregator_example(Collective collective);

inline constexpr CollectiveTraits kAllgather = traits_of(Collective::allgather);
inline constexpr CollectiveTraits kGather = traits_of(Collective::gather);
inline constexpr CollectiveTraits kScatter = traits_of(Collective::scatter);

/// Nodes of 1 member, allgather: every block travels round the ring, in two segments.
Schedule ring_allgather_example(int node_count);

/// 2 nodes of 2 members, allgather: worker 0 of each node collects the node's blocks in its output,
/// exchanges both at once with the other node, and copies the vector to its neighbour.
Schedule paired_allgather_example();

/// 2 nodes of 2 members, all-to-all: worker 0 of each node exchanges with the other one what their
/// nodes have for each other in one message, in a pack in which the senders' blocks come one after
/// the other.
Schedule packed_alltoall_example();

/// All of the above, in several sizes.
std::vector<Schedule> all_examples();

}  // namespace hycoll::testing

#endif  // HYCOLL_TESTS_CORE_VERIFIER_EXAMPLES_H_
