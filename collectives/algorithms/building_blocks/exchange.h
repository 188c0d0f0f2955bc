#ifndef HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_EXCHANGE_H_
#define HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_EXCHANGE_H_

#include <cstdint>
#include <string_view>

#include "core/schedule/builder.h"

namespace hycoll {

/// What is promised of the order in which operands are combined. Each kind includes those before.
enum class OperandOrder : std::uint8_t {
  any,        ///< The same bits on every member; which ones may depend on lanes and sizes.
  by_rank,    ///< Operands stand in rank order, as operators that do not commute need.
  canonical,  ///< One tree for every algorithm of the collective that has this order, any lanes,
              ///< workers, segments and sizes: left to right over the members of a node, then the
              ///< binary tree of fold.h over the nodes; for scan and exscan the one in scan.h.
};

std::string_view name_of(OperandOrder order) noexcept;

/// What GeneratorParameters::segments cuts.
enum class Segmentation : std::uint8_t {
  none,       ///< Nothing: the schedule does not depend on it.
  messages,   ///< The messages between nodes.
  partition,  ///< Each lane's partition, on a single node too.
};

/// What one message of an exchange carries before it is cut: selection cuts by its size.
enum class MessageSize : std::uint8_t {
  vector,     ///< The lane's vector, or a large part of it.
  block,      ///< One of as many blocks of it as there are nodes, or two.
  passed_on,  ///< The lane's vector, which passes through many nodes.
};

/// Who takes part in an exchange besides the nodes' leaders.
enum class ExchangeHelp : std::uint8_t {
  none,
  mpi_library,  ///< It makes the exchange itself.
  aggregators,  ///< Nodes without members combine, or pass on.
};

// How many chunks an exchange cuts each lane into, given the nodes and the segments.

int one_chunk(int node_count, int segments) noexcept;
int chunk_per_segment(int node_count, int segments) noexcept;
int chunk_per_node(int node_count, int segments) noexcept;
int chunk_per_node_and_segment(int node_count, int segments) noexcept;
/// As many as the largest power of two of nodes (fold.h).
int chunk_per_partner(int node_count, int segments) noexcept;

/// The numbers of nodes that an exchange serves.
enum class NodesServed : std::uint8_t { one, any, even, powers_of_two };

struct LaneVector;
struct RootedVector;
struct PartedVector;
struct ScanVector;
struct BroadcastVector;
struct GatheredBlocks;
struct PartsTree;
struct ExchangedTiles;

/// How the leaders of one lane exchange what their nodes have: what it promises, what it needs, and
/// the function that appends its steps to the leaders' strands, for the collective that it serves.
/// Each kind is one file with one pure function and one constant in its collective's exchange.h,
/// and serves flat, hierarchical and multi-leader algorithms alike.
struct Exchange {
  OperandOrder order = OperandOrder::any;
  Segmentation segmentation = Segmentation::none;  ///< Of the exchange alone: none or messages.
  MessageSize messages = MessageSize::vector;
  ExchangeHelp help = ExchangeHelp::none;
  NodesServed nodes_served = NodesServed::any;
  bool passes_on_blocks = false;  ///< Of others, whose lengths a node has to know.
  int (*chunks_per_lane)(int node_count, int segments) = one_chunk;

  // All require at least two nodes; null for other collectives.
  void (*allreduce)(ScheduleBuilder& builder, const LaneVector& vector) = nullptr;
  void (*reduce)(ScheduleBuilder& builder, RootedVector& vector) = nullptr;
  void (*reduce_scatter)(ScheduleBuilder& builder, PartedVector& vector) = nullptr;
  void (*scan)(ScheduleBuilder& builder, ScanVector& vector) = nullptr;
  void (*broadcast)(ScheduleBuilder& builder, const BroadcastVector& vector) = nullptr;
  void (*allgather)(ScheduleBuilder& builder, const GatheredBlocks& blocks) = nullptr;
  const PartsTree* parts_tree = nullptr;  ///< Of gather and scatter, which are appended alike.
  void (*alltoall)(ScheduleBuilder& builder, const ExchangedTiles& tiles) = nullptr;
};

/// Of algorithms that only move data, inside a node.
inline constexpr Exchange kNoExchange{.order = OperandOrder::canonical,
                                      .nodes_served = NodesServed::one};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_ALGORITHMS_BUILDING_BLOCKS_EXCHANGE_H_
