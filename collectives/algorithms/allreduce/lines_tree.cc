// Lines along a tree: allreduce of short vectors among many members of a node.
//
// Idea: as in lines.cc data and signal travel in one cache-line transfer, but nobody reads the
// lines of all. The members of a group that is near (a shared cache, a NUMA domain, a package: the
// shape's groups) hand their lines to the one that leads it, who reads them at once; those that
// lead groups do the same a level up. On a single node the leaders of the outermost groups read one
// another's lines and all compute the result, as lines.cc does among all members: on a node without
// groups the two are the same. With more nodes one member has the node's sum, exchanges it with the
// other nodes, and has the result. It comes down the same tree as a line that the members of a
// group read. Whoever has the result knows that everybody has entered, so lines are used again as
// in lines.cc.
//
// Source: the n-level hierarchies of XHC (Open MPI; G. Katevenis et al., A framework for
// hierarchical single-copy MPI collectives on multicore nodes, CLUSTER 2022), over lines.
// Steps: with l levels of groups 2 l + 1 transfers that follow one another on a single node, 2 (l +
// 1) and the exchange otherwise.
// Cost: with G outermost groups 2 (M - G) + G (G - 1) reads of n elements, instead of M (M - 1).
// Serves: any shape with one lane whose leaders own a member, since leaders read and write lines.
//
// Example, 1 node of 4 members in groups of 2, with the values a, b, c, d: member 0 reads b and
// writes ab, 2 reads d and writes cd; both read the other's line and write abcd, which 1 and 3
// read.

#include "collectives/algorithms/building_blocks/lines_tree.h"

#include <utility>
#include <vector>

#include "collectives/algorithms/allreduce/allreduce.h"
#include "core/base/errors.h"
#include "core/schedule/builder.h"

namespace hycoll {
namespace {

Span output_of(const ScheduleBuilder& builder, int member) {
  return span_of(builder.output(member), builder.all_chunks());
}

void append_single_node(ScheduleBuilder& builder) {
  const MemberTree tree(builder.shape(), 0, 0);
  LinesTree trees(builder, 0, tree.without_root(), Entry::silent);
  const auto place = [&](int member) { return output_of(builder, member); };
  const std::vector<int>& peers = tree.peers();
  std::vector<Span> sums;
  std::vector<Span> lines;
  for (const int peer : peers) {
    sums.push_back(trees.gather(peer, place));
    if (peers.size() > 1) lines.push_back(trees.phases().publish(peer, sums.back()));
  }
  for (std::size_t p = 0; p < peers.size(); ++p) {
    const Span result = place(peers[p]);
    if (peers.size() > 1) {
      std::vector<Span> operands = lines;
      operands[p] = sums[p];
      builder.reduce(trees.phases().strand(peers[p]), std::span(&result, 1), operands);
    } else {
      builder.copy(trees.phases().strand(peers[p]), result, sums[p]);  // of the only member
    }
    trees.pass_down(peers[p], result);
  }
}

void append_node(ScheduleBuilder& builder, int node, const Exchange& exchange) {
  const Shape& shape = builder.shape();
  const int leading = shape.leader(node, 0) - shape.first_worker(node) + shape.first_member(node);
  LinesTree tree(builder, node, MemberTree(shape, node, leading), Entry::silent);
  const Span sum = tree.gather(leading, [&](int member) { return output_of(builder, member); });
  append_exchange(builder, exchange,
                  {.lane = 0,
                   .chunks = builder.all_chunks(),
                   .node = node,
                   .strand = tree.phases().strand(leading),
                   .source = sum.buffer,
                   .result = builder.output(leading)});
  tree.pass_down(leading, output_of(builder, leading));
}

}  // namespace

Schedule generate_lines_tree_allreduce(std::string name, const Shape& shape,
                                       const GeneratorParameters& parameters) {
  HYCOLL_ASSERT(shape.lane_count() == 1, "lines serve one lane");
  const int chunk_count =
      parameters.exchange.chunks_per_lane(shape.node_count(), parameters.segments);
  ScheduleBuilder builder(Collective::allreduce, std::move(name), shape, chunk_count,
                          parameters.root, parameters.nodes);
  for (const int node : builder.nodes()) {
    if (shape.node_count() == 1) {
      append_single_node(builder);
    } else {
      append_node(builder, node, parameters.exchange);
    }
  }
  return std::move(builder).finish();
}

}  // namespace hycoll
