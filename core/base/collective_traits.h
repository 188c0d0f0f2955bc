#ifndef HYCOLL_CORE_BASE_COLLECTIVE_TRAITS_H_
#define HYCOLL_CORE_BASE_COLLECTIVE_TRAITS_H_

#include <cstdint>
#include <string_view>

#include "core/base/collective.h"

namespace hycoll {

/// What a buffer holds of the vector that a collective is about.
enum class Extent : std::uint8_t {
  vector,  ///< All of it.
  block,   ///< The member's own block. The blocks follow each other in rank order.
  row,     ///< The blocks from the member, one for each member, in rank order.
  column,  ///< The blocks for the member, one from each member, in rank order.
};

/// Which members have a buffer.
enum class Holders : std::uint8_t { all, root, all_but_root, all_but_first };

/// The inputs, or the outputs, of a collective.
struct BufferTraits {
  Extent extent;
  Holders holders;

  constexpr bool are_held_by(int member, int root) const noexcept {
    switch (holders) {
      case Holders::all:
        return true;
      case Holders::root:
        return member == root;
      case Holders::all_but_root:
        return member != root;
      case Holders::all_but_first:
        return member != 0;
    }
    return false;
  }

  friend bool operator==(const BufferTraits&, const BufferTraits&) = default;
};

/// What an element of an output is made of: the elements at its place in the vector, of inputs that
/// hold it.
enum class Result : std::uint8_t {
  reduction,         ///< Of all members' inputs.
  inclusive_prefix,  ///< The reduction of the inputs of the members up to the output's own.
  exclusive_prefix,  ///< The reduction of the inputs of the members before the output's own.
  copy,              ///< Of the one input that holds it.
};

/// Everything that distinguishes a collective from the others, wherever it is not written for that
/// one alone. A schedule carries its collective's traits, so that what makes, proves, stages, binds
/// and draws schedules serves any that these words can describe.
///
/// Input and output may be in place: the same memory for the same elements of the vector, so that
/// the shorter of the two lies inside the longer one. A row and a column are not: almost all of
/// their elements are others.
struct CollectiveTraits {
  std::string_view name;
  BufferTraits input;
  BufferTraits output;
  Result result;

  friend bool operator==(const CollectiveTraits&, const CollectiveTraits&) = default;
};

/// The table.
constexpr CollectiveTraits traits_of(Collective collective) noexcept {
  constexpr BufferTraits everybodys_vector{Extent::vector, Holders::all};
  constexpr BufferTraits everybodys_block{Extent::block, Holders::all};
  switch (collective) {
    case Collective::allreduce:
      return {.name = "allreduce",
              .input = everybodys_vector,
              .output = everybodys_vector,
              .result = Result::reduction};
    case Collective::reduce:
      return {.name = "reduce",
              .input = everybodys_vector,
              .output = {Extent::vector, Holders::root},
              .result = Result::reduction};
    case Collective::reduce_scatter:
      return {.name = "reduce_scatter",
              .input = everybodys_vector,
              .output = everybodys_block,
              .result = Result::reduction};
    case Collective::scan:
      return {.name = "scan",
              .input = everybodys_vector,
              .output = everybodys_vector,
              .result = Result::inclusive_prefix};
    case Collective::exscan:
      return {.name = "exscan",
              .input = everybodys_vector,
              .output = {Extent::vector, Holders::all_but_first},
              .result = Result::exclusive_prefix};
    case Collective::broadcast:
      return {.name = "broadcast",
              .input = {Extent::vector, Holders::root},
              .output = {Extent::vector, Holders::all_but_root},
              .result = Result::copy};
    case Collective::allgather:
      return {.name = "allgather",
              .input = everybodys_block,
              .output = everybodys_vector,
              .result = Result::copy};
    case Collective::gather:
      return {.name = "gather",
              .input = everybodys_block,
              .output = {Extent::vector, Holders::root},
              .result = Result::copy};
    case Collective::scatter:
      return {.name = "scatter",
              .input = {Extent::vector, Holders::root},
              .output = everybodys_block,
              .result = Result::copy};
    case Collective::alltoall:
      return {.name = "alltoall",
              .input = {Extent::row, Holders::all},
              .output = {Extent::column, Holders::all},
              .result = Result::copy};
  }
  return {};
}
static_assert(!traits_of(static_cast<Collective>(kCollectiveCount - 1)).name.empty() &&
                  traits_of(static_cast<Collective>(kCollectiveCount)).name.empty(),
              "kCollectiveCount counts the collectives");

/// Whether the vector consists of a block for each pair of members, from one to the other: a matrix
/// of which every member has a row and gets a column.
constexpr bool has_pairs(const CollectiveTraits& traits) noexcept {
  return traits.input.extent == Extent::row;
}

/// Whether the vector consists of blocks, for each member or for each pair of them.
constexpr bool has_blocks(const CollectiveTraits& traits) noexcept {
  return traits.input.extent == Extent::block || traits.output.extent == Extent::block ||
         has_pairs(traits);
}

/// Whether the root alone gets a result.
constexpr bool delivers_to_root(const CollectiveTraits& traits) noexcept {
  return traits.output.holders == Holders::root;
}

/// Whether everything comes from the root.
constexpr bool begins_at_root(const CollectiveTraits& traits) noexcept {
  return traits.input.holders == Holders::root;
}

/// Whether one member, the root, has a part of its own.
constexpr bool has_root(const CollectiveTraits& traits) noexcept {
  return delivers_to_root(traits) || begins_at_root(traits);
}

/// Whether inputs are combined by an operator; otherwise they are only moved.
constexpr bool combines(const CollectiveTraits& traits) noexcept {
  return traits.result != Result::copy;
}

/// Whether a member's result depends on its rank, and on the inputs of those below only.
constexpr bool is_prefix(const CollectiveTraits& traits) noexcept {
  return traits.result == Result::inclusive_prefix || traits.result == Result::exclusive_prefix;
}

constexpr bool has_pairs(Collective collective) noexcept {
  return has_pairs(traits_of(collective));
}
constexpr bool has_blocks(Collective collective) noexcept {
  return has_blocks(traits_of(collective));
}
constexpr bool delivers_to_root(Collective collective) noexcept {
  return delivers_to_root(traits_of(collective));
}
constexpr bool begins_at_root(Collective collective) noexcept {
  return begins_at_root(traits_of(collective));
}
constexpr bool has_root(Collective collective) noexcept { return has_root(traits_of(collective)); }
constexpr bool combines(Collective collective) noexcept { return combines(traits_of(collective)); }
constexpr bool is_prefix(Collective collective) noexcept {
  return is_prefix(traits_of(collective));
}

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_COLLECTIVE_TRAITS_H_
