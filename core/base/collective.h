#ifndef HYCOLL_CORE_BASE_COLLECTIVE_H_
#define HYCOLL_CORE_BASE_COLLECTIVE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace hycoll {

/// The collectives, with P members of ranks 0..P-1. (A barrier is an allreduce of zero elements.)
/// Nobody leaves an allreduce or a reduce_scatter before all members of its process have entered;
/// in the others that holds for members whose outputs depend on all inputs only.
///
/// Example: names, as reports have them.
///
///     check(hycoll::name_of(hycoll::Collective::reduce_scatter) == "reduce_scatter");
///     check(hycoll::collective_named("scan") == hycoll::Collective::scan);
enum class Collective : std::uint8_t {
  allreduce,       ///< Every output: the reduction of all inputs.
  reduce,          ///< The output of the root: the reduction of all inputs.
  reduce_scatter,  ///< Output of member m: the reduction of all inputs, in m's block.
  scan,            ///< Output of member m: the reduction of the inputs of members 0..m.
  exscan,          ///< Output of member m > 0: the reduction of the inputs of members 0..m-1.
  broadcast,       ///< Output of every member but the root: the input of the root.
  allgather,       ///< Every output: the inputs of all members, in rank order.
  gather,          ///< The output of the root: the inputs of all members, in rank order.
  scatter,         ///< Output of member m: m's block of the input of the root.
  alltoall,        ///< Output of member m: of every input, in rank order, the block for m.
};
/// The number of collectives.
inline constexpr int kCollectiveCount = 10;

/// The lower-case name that the command line, the reports and the error messages use.
std::string_view name_of(Collective collective) noexcept;

/// The inverse of name_of; empty when there is none of that name.
std::optional<Collective> collective_named(std::string_view name) noexcept;

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_COLLECTIVE_H_
