#ifndef HYCOLL_COLLECTIVES_API_CALL_H_
#define HYCOLL_COLLECTIVES_API_CALL_H_

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ranges>
#include <span>
#include <type_traits>

#include "hycoll/collective.h"
#include "hycoll/element_type.h"
#include "hycoll/operation.h"
#include "hycoll/types.h"
#include "hycoll/values.h"

namespace hycoll {

/// What is promised of the bits of a result.
enum class Bits : std::uint8_t {
  /// All members that get the same element get the same bits (with native exchanges: if the MPI
  /// library keeps that). They may change with lanes, workers, algorithm, and size.
  same_on_all_members,
  /// Besides, the bits depend on nothing but the inputs, their types and operator, and which
  /// members share a process: not on lanes, workers, algorithm, count or position in the vector.
  /// Floating-point sums are folded in rank order within a process, and over the processes by one
  /// fixed binary tree. Algorithms that combine in another order are refused.
  reproducible,
};

/// One call of a collective, as a value: what blocking, nonblocking and persistent calls of both
/// layouts have in common. The functions in hycoll::calls make them; buffers are not owned.
///
/// Example: one call, made twice, in two ways.
///
///     hycoll::Communicator communicator(MPI_COMM_WORLD);
///     std::vector<double> local(100, 1.0);
///     std::vector<double> sums(local.size());
///     const hycoll::Call call = hycoll::calls::scan(local, sums).reproducible();
///     communicator.run(call);
///     communicator.start(call).wait();
///     check(sums[0] == communicator.rank() + 1);
///
/// A buffer holds whole elements of `type`. Every member passes the same collective, counts, type,
/// operator and root. Operators that do not commute see their operands in rank order.
///
/// Where nothing is combined, types are any that MPI can describe, and members may pass different
/// ones, with other counts, for the same data: the sizes in bytes must be equal. The operator and
/// `bits` mean nothing then.
struct Call {
  Collective collective = Collective::allreduce;  ///< Which one.
  const void* input = nullptr;  ///< May equal the output: in place. Only read otherwise.
  void* output = nullptr;       ///< Where the result goes.
  /// Elements of the input vector; with equal blocks (reduce_scatter, allgather, gather, scatter,
  /// alltoall) of one block; with unequal ones 0.
  std::size_t count = 0;
  /// With unequal blocks (reduce_scatter, allgatherv, gatherv, scatterv): the elements of each
  /// member's block, by rank, on all members; must stay unchanged until the call has completed.
  /// Empty otherwise.
  std::span<const std::size_t> block_counts = {};
  /// Where each member's block begins in this member's buffer of all blocks, by rank, in elements
  /// from its address; alike, or not, on other members. Only with unequal blocks that are moved;
  /// must stay unchanged as long. Empty: the blocks follow each other.
  std::span<const std::ptrdiff_t> displacements = {};
  /// Of an all-to-all of unequal blocks, where block_counts and displacements are those that this
  /// member sends: the elements of the block that it gets from each member, and where that begins
  /// in the output. As long, and to stay unchanged as long.
  std::span<const std::size_t> received_counts = {};
  std::span<const std::ptrdiff_t> received_displacements = {};  ///< Where it begins.
  /// The same: a type for each block, with displacements in bytes. Empty: `type`, for all.
  std::span<const ElementType> block_types = {};
  /// The same of received_counts.
  std::span<const ElementType> received_types = {};
  ElementType type = DataType::float64;  ///< Of all elements, unless there are block_types.
  Operation op = Operator::sum;          ///< Of collectives that combine.
  int root = 0;  ///< Of reduce and gather: the rank that gets the result. Of broadcast and scatter:
                 ///< whose input it is.
  Bits bits = Bits::same_on_all_members;  ///< What is promised of the bits of the result.
  /// What the containers hold that the call was made from, in elements: a call that needs another
  /// number is refused. Pointers do not tell.
  static constexpr std::size_t kUnknownSize = SIZE_MAX;
  std::size_t input_size = kUnknownSize;   ///< The elements that the input's container holds.
  std::size_t output_size = kUnknownSize;  ///< The elements that the output's container holds.

  /// The same call with reproducible bits.
  Call reproducible() const {
    Call copy = *this;
    copy.bits = Bits::reproducible;
    return copy;
  }
};

/// What one member sends to, or gets from, each of the others in an all-to-all of unequal blocks:
/// by rank, elements, and where each block begins in its buffer, in elements; no displacements:
/// blocks follow each other. To stay unchanged until the call has completed.
struct PairCounts {
  std::span<const std::size_t> counts;                 ///< Elements of each block.
  std::span<const std::ptrdiff_t> displacements = {};  ///< Where each begins, in elements.
};

/// The same with a type for each block, and displacements in bytes.
struct TypedPairCounts {
  std::span<const std::size_t> counts;                  ///< Elements of each block.
  std::span<const std::ptrdiff_t> displacements_bytes;  ///< Where each begins.
  std::span<const ElementType> types;                   ///< Of the elements of each block.
};

/// Whether the order in which members are numbered makes a difference for anything but the root.
/// Calls that are refused do: everybody sees them as they are.
bool depends_on_rank_order(const Call& call);

/// A contiguous container or view of elements, e.g. std::vector<double>& or std::span<const int>.
/// Not a temporary container, whose elements would be gone when the call is made.
template <class R>
concept InputVector = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::ranges::borrowed_range<R> && Value<std::ranges::range_value_t<R>>;

/// The same, and writable.
template <class R>
concept OutputVector =
    InputVector<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// An output of the same elements as this input.
template <class Out, class In>
concept OutputOf = OutputVector<Out> &&
    std::same_as<std::ranges::range_value_t<In>, std::ranges::range_value_t<Out>>;

/// The type of a container's elements.
template <InputVector R>
ElementType element_type_in() noexcept {
  return element_type_of<std::ranges::range_value_t<R>>();
}

/// Throws Error (invalid_argument) unless the sizes are equal.
void require_same_size(std::size_t input_size, std::size_t output_size);

/// The call of containers whose sizes are to be compared with what it needs.
template <class In, class Out>
Call with_sizes(Call call, const In& input, const Out& output) {
  call.input_size = std::ranges::size(input);
  call.output_size = std::ranges::size(output);
  return call;
}

/// The calls. Those over containers take element type and count from them; both containers of a
/// call have the same element type. Containers whose sizes do not fit one another, or the members,
/// are refused, here or when the call is made.
namespace calls {

/// output[i] = the reduction of input[i] over all members, on every member, for i in 0..count-1.
inline Call allreduce(const void* input, void* output, std::size_t count, ElementType type,
                      const Operation& op) {
  return {.collective = Collective::allreduce,
          .input = input,
          .output = output,
          .count = count,
          .type = type,
          .op = op};
}

/// The same on the root only; the output of the others is not touched and may be null.
inline Call reduce(const void* input, void* output, std::size_t count, ElementType type,
                   const Operation& op, int root) {
  return {.collective = Collective::reduce,
          .input = input,
          .output = output,
          .count = count,
          .type = type,
          .op = op,
          .root = root};
}

/// The input has P blocks of `block_count` elements, P the number of members; the output of member
/// m is the reduction of block m. In place, the result lies at the buffer's start, and the rest of
/// the buffer is unspecified.
inline Call reduce_scatter_block(const void* input, void* output, std::size_t block_count,
                                 ElementType type, const Operation& op) {
  return {.collective = Collective::reduce_scatter,
          .input = input,
          .output = output,
          .count = block_count,
          .type = type,
          .op = op};
}

/// The same with blocks of block_counts[m] elements, one for each member; some may be 0.
inline Call reduce_scatter(const void* input, void* output,
                           std::span<const std::size_t> block_counts, ElementType type,
                           const Operation& op) {
  return {.collective = Collective::reduce_scatter,
          .input = input,
          .output = output,
          .block_counts = block_counts,
          .type = type,
          .op = op};
}

/// Output of member m: the reduction of the inputs of members 0..m.
inline Call scan(const void* input, void* output, std::size_t count, ElementType type,
                 const Operation& op) {
  return {.collective = Collective::scan,
          .input = input,
          .output = output,
          .count = count,
          .type = type,
          .op = op};
}

/// Output of member m > 0: the reduction of the inputs of members 0..m-1. That of member 0 is not
/// touched.
inline Call exscan(const void* input, void* output, std::size_t count, ElementType type,
                   const Operation& op) {
  return {.collective = Collective::exscan,
          .input = input,
          .output = output,
          .count = count,
          .type = type,
          .op = op};
}

/// The root's buffer is copied to those of all others. Derived datatypes may have gaps, which are
/// left as they are; their data pass through a copy.
inline Call broadcast(void* buffer, std::size_t count, ElementType type, int root) {
  return {.collective = Collective::broadcast,
          .input = buffer,
          .output = buffer,
          .count = count,
          .type = type,
          .root = root};
}

/// The output of every member: the inputs of all P members, of `block_count` elements each, in rank
/// order. In place, with the output's address passed for both, the input is this member's block of
/// the output; so is an input at that block's address. Derived datatypes may have gaps, which are
/// left as they are; their data pass through a copy.
inline Call allgather(const void* input, void* output, std::size_t block_count, ElementType type) {
  return {.collective = Collective::allgather,
          .input = input,
          .output = output,
          .count = block_count,
          .type = type};
}

/// The output of the root: the inputs of all P members, of `block_count` elements each, in rank
/// order; the output of the others is not touched and may be null. In place at the root, with the
/// output's address passed for both, its input is its block of the output. Derived datatypes as in
/// allgather.
inline Call gather(const void* input, void* output, std::size_t block_count, ElementType type,
                   int root) {
  return {.collective = Collective::gather,
          .input = input,
          .output = output,
          .count = block_count,
          .type = type,
          .root = root};
}

/// The input of the root has P blocks of `block_count` elements; the output of member m is block m.
/// The input of the others is not read and may be null. In place at the root, with the input's
/// address passed for both, its block stays where it is. Derived datatypes as in allgather.
inline Call scatter(const void* input, void* output, std::size_t block_count, ElementType type,
                    int root) {
  return {.collective = Collective::scatter,
          .input = input,
          .output = output,
          .count = block_count,
          .type = type,
          .root = root};
}

/// As allgather, with blocks of block_counts[m] elements, one from each member; some may be 0. They
/// follow each other in rank order, or that of member m begins at element displacements[m] of the
/// output; then the blocks may lie apart and in any order, but not overlap, and the data pass
/// through a copy. All members pass the same block_counts; displacements are each member's own.
inline Call allgatherv(const void* input, void* output, std::span<const std::size_t> block_counts,
                       ElementType type, std::span<const std::ptrdiff_t> displacements = {}) {
  return {.collective = Collective::allgather,
          .input = input,
          .output = output,
          .block_counts = block_counts,
          .displacements = displacements,
          .type = type};
}

/// As gather, with such blocks. All members pass the same block_counts; the root's displacements
/// count.
inline Call gatherv(const void* input, void* output, std::span<const std::size_t> block_counts,
                    ElementType type, int root,
                    std::span<const std::ptrdiff_t> displacements = {}) {
  return {.collective = Collective::gather,
          .input = input,
          .output = output,
          .block_counts = block_counts,
          .displacements = displacements,
          .type = type,
          .root = root};
}

/// As scatter, with such blocks; those of the root's input may overlap. All members pass the same
/// block_counts; the root's displacements count.
inline Call scatterv(const void* input, void* output, std::span<const std::size_t> block_counts,
                     ElementType type, int root,
                     std::span<const std::ptrdiff_t> displacements = {}) {
  return {.collective = Collective::scatter,
          .input = input,
          .output = output,
          .block_counts = block_counts,
          .displacements = displacements,
          .type = type,
          .root = root};
}

/// Block m of the input, of `block_count` elements as all P blocks, becomes this member's block of
/// member m's output; the output has one from each member, in rank order. In place, with one
/// address for both, the result passes through a copy of it. Derived datatypes may have gaps, which
/// are left as they are; their data pass through copies.
inline Call alltoall(const void* input, void* output, std::size_t block_count, ElementType type) {
  return {.collective = Collective::alltoall,
          .input = input,
          .output = output,
          .count = block_count,
          .type = type};
}

/// As alltoall, with blocks of any length: what member m has for this one is what this one expects
/// of it, to the byte, which is checked where both are on one node. Blocks may be empty. Only the
/// two members of a pair know their block, so the members of a node meet first.
inline Call alltoallv(const void* input, const PairCounts& sent, void* output,
                      const PairCounts& received, ElementType type) {
  return {.collective = Collective::alltoall,
          .input = input,
          .output = output,
          .block_counts = sent.counts,
          .displacements = sent.displacements,
          .received_counts = received.counts,
          .received_displacements = received.displacements,
          .type = type};
}

/// The same, with a type for each block.
inline Call alltoallw(const void* input, const TypedPairCounts& sent, void* output,
                      const TypedPairCounts& received) {
  return {.collective = Collective::alltoall,
          .input = input,
          .output = output,
          .block_counts = sent.counts,
          .displacements = sent.displacements_bytes,
          .received_counts = received.counts,
          .received_displacements = received.displacements_bytes,
          .block_types = sent.types,
          .received_types = received.types,
          .type = DataType::uint8};
}

/// A call that moves nothing and completes when all members have entered.
inline Call barrier() { return allreduce(nullptr, nullptr, 0, DataType::uint8, Operator::max); }

/// Input and output have the same size.
template <InputVector In, OutputOf<In> Out>
Call allreduce(In&& input, Out&& output, const Operation& op = Operator::sum) {
  require_same_size(std::ranges::size(input), std::ranges::size(output));
  return allreduce(std::ranges::data(input), std::ranges::data(output), std::ranges::size(output),
                   element_type_in<In>(), op);
}

/// In place.
template <OutputVector Buffer>
Call allreduce(Buffer&& buffer, const Operation& op = Operator::sum) {
  return allreduce(buffer, buffer, op);
}

/// On members other than the root the output may be empty.
template <InputVector In, OutputOf<In> Out>
Call reduce(In&& input, Out&& output, const Operation& op = Operator::sum, int root = 0) {
  if (!std::ranges::empty(output)) {
    require_same_size(std::ranges::size(input), std::ranges::size(output));
  }
  return with_sizes(reduce(std::ranges::data(input), std::ranges::data(output),
                           std::ranges::size(input), element_type_in<In>(), op, root),
                    input, output);
}

/// The output is this member's block; the input has P blocks of its size. In place, the output is
/// the beginning of the input: std::span(input).first(block_count).
template <InputVector In, OutputOf<In> Out>
Call reduce_scatter_block(In&& input, Out&& output, const Operation& op = Operator::sum) {
  return with_sizes(reduce_scatter_block(std::ranges::data(input), std::ranges::data(output),
                                         std::ranges::size(output), element_type_in<In>(), op),
                    input, output);
}

/// The same with blocks of these sizes. In place, the output may be the whole input, too.
template <InputVector In, OutputOf<In> Out>
Call reduce_scatter(In&& input, Out&& output, std::span<const std::size_t> block_counts,
                    const Operation& op = Operator::sum) {
  return with_sizes(reduce_scatter(std::ranges::data(input), std::ranges::data(output),
                                   block_counts, element_type_in<In>(), op),
                    input, output);
}

/// Input and output have the same size.
template <InputVector In, OutputOf<In> Out>
Call scan(In&& input, Out&& output, const Operation& op = Operator::sum) {
  require_same_size(std::ranges::size(input), std::ranges::size(output));
  return scan(std::ranges::data(input), std::ranges::data(output), std::ranges::size(output),
              element_type_in<In>(), op);
}

/// Input and output have the same size.
template <InputVector In, OutputOf<In> Out>
Call exscan(In&& input, Out&& output, const Operation& op = Operator::sum) {
  require_same_size(std::ranges::size(input), std::ranges::size(output));
  return exscan(std::ranges::data(input), std::ranges::data(output), std::ranges::size(output),
                element_type_in<In>(), op);
}

/// Every member's buffer has the same size.
template <OutputVector Buffer>
Call broadcast(Buffer&& buffer, int root = 0) {
  return broadcast(std::ranges::data(buffer), std::ranges::size(buffer), element_type_in<Buffer>(),
                   root);
}

/// The input is this member's block; the output has P blocks of its size. In place, the input is
/// part of the output: std::span(output).subspan(rank * block_count, block_count).
template <InputVector In, OutputOf<In> Out>
Call allgather(In&& input, Out&& output) {
  return with_sizes(allgather(std::ranges::data(input), std::ranges::data(output),
                              std::ranges::size(input), element_type_in<In>()),
                    input, output);
}

/// The input is this member's block; the root's output has P blocks of its size, that of others may
/// be empty. In place at the root as in allgather.
template <InputVector In, OutputOf<In> Out>
Call gather(In&& input, Out&& output, int root = 0) {
  return with_sizes(gather(std::ranges::data(input), std::ranges::data(output),
                           std::ranges::size(input), element_type_in<In>(), root),
                    input, output);
}

/// The output is this member's block; the root's input has P blocks of its size, that of others may
/// be empty. In place at the root, the output is part of the input:
/// std::span(input).subspan(rank * block_count, block_count).
template <InputVector In, OutputOf<In> Out>
Call scatter(In&& input, Out&& output, int root = 0) {
  return with_sizes(scatter(std::ranges::data(input), std::ranges::data(output),
                            std::ranges::size(output), element_type_in<In>(), root),
                    input, output);
}

/// The input is this member's block, of block_counts[rank] elements; the output has all blocks. In
/// place, the input is part of the output.
template <InputVector In, OutputOf<In> Out>
Call allgatherv(In&& input, Out&& output, std::span<const std::size_t> block_counts) {
  return with_sizes(allgatherv(std::ranges::data(input), std::ranges::data(output), block_counts,
                               element_type_in<In>()),
                    input, output);
}

/// The input is this member's block; the root's output has all blocks, that of others may be empty.
/// In place at the root as in allgatherv.
template <InputVector In, OutputOf<In> Out>
Call gatherv(In&& input, Out&& output, std::span<const std::size_t> block_counts, int root = 0) {
  return with_sizes(gatherv(std::ranges::data(input), std::ranges::data(output), block_counts,
                            element_type_in<In>(), root),
                    input, output);
}

/// The output is this member's block; the root's input has all blocks, that of others may be empty.
/// In place at the root, the output is part of the input.
template <InputVector In, OutputOf<In> Out>
Call scatterv(In&& input, Out&& output, std::span<const std::size_t> block_counts, int root = 0) {
  return with_sizes(scatterv(std::ranges::data(input), std::ranges::data(output), block_counts,
                             element_type_in<In>(), root),
                    input, output);
}

/// Input and output have P blocks of `block_count` elements.
template <InputVector In, OutputOf<In> Out>
Call alltoall(In&& input, Out&& output, std::size_t block_count) {
  return with_sizes(alltoall(std::ranges::data(input), std::ranges::data(output), block_count,
                             element_type_in<In>()),
                    input, output);
}

/// Input and output have the blocks, one after the other.
template <InputVector In, OutputOf<In> Out>
Call alltoallv(In&& input, std::span<const std::size_t> sent_counts, Out&& output,
               std::span<const std::size_t> received_counts) {
  return with_sizes(
      alltoallv(std::ranges::data(input), {.counts = sent_counts}, std::ranges::data(output),
                {.counts = received_counts}, element_type_in<In>()),
      input, output);
}

}  // namespace calls
}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_API_CALL_H_
