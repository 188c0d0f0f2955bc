#include "tools/measure/memory_limit.h"

#include <array>

#include "core/base/collective_traits.h"
#include "core/base/partition.h"

namespace hycoll::measure {
namespace {

constexpr std::size_t kLineBytes = 64;

/// The threads whose outputs a thread writes parts of, and what comes into them.
struct Streams {
  LimitShare::Form form;
  int first_input;
  int input_count;
  int first_output;
  int output_count;
  int not_output = -1;  ///< A thread among them whose output is not written; -1: there is none.
};

Streams streams_of(Collective collective, int thread, int thread_count, int root) {
  using Form = LimitShare::Form;
  switch (collective) {
    case Collective::allreduce:
      return {Form::fold, 0, thread_count, 0, thread_count};
    case Collective::reduce:
      return {Form::fold, 0, thread_count, root, 1};
    case Collective::reduce_scatter:
      return {Form::fold, 0, thread_count, thread, 1};
    case Collective::scan:
      return {Form::prefix, 0, thread_count, 0, thread_count};
    case Collective::broadcast:
      return {Form::fold, root, 1, 0, thread_count, root};
    case Collective::allgather:
      return {Form::fold, thread, 1, 0, thread_count};
    case Collective::gather:
      return {Form::fold, thread, 1, root, 1};
    case Collective::scatter:
      return {Form::fold, root, 1, thread, 1};
    case Collective::alltoall:
      return {Form::pairs, 0, thread_count, thread, 1};
    case Collective::exscan:
      break;
  }
  return {Form::prefix, 0, thread_count - 1, 1, thread_count - 1};
}

}  // namespace

std::string_view name_of(LimitKernel kernel) noexcept {
  constexpr std::array<std::string_view, kLimitKernelCount> names = {
      "compiler", "vectors", "vectors, streaming", "blocks, streaming"};
  return names[static_cast<std::size_t>(kernel)];
}

LimitShare limit_share(const LimitCall& call, int thread) {
  const auto thread_count = static_cast<int>(call.inputs.size());
  const std::size_t element_bytes = size_of(call.type);
  const bool blocks = has_blocks(call.collective);
  const Partition slices =
      blocks ? Partition::uniform(call.count / call.inputs.size(), thread_count)
             : Partition::balanced(call.count, thread_count, kLineBytes / element_bytes);
  const ElementRange slice = slices.range(thread);
  // A block is all that a buffer holds of the vector.
  const CollectiveTraits traits = traits_of(call.collective);
  const auto offset_in = [&](const BufferTraits& buffer) {
    return buffer.extent == Extent::block ? 0 : slice.begin * element_bytes;
  };
  const Streams streams = streams_of(call.collective, thread, thread_count, call.root);

  LimitShare share{.form = streams.form, .inputs = {}, .outputs = {}, .count = slice.size()};
  for (int i = 0; i < streams.input_count; ++i) {
    const void* const input = call.inputs[static_cast<std::size_t>(streams.first_input + i)];
    share.inputs.push_back(static_cast<const std::byte*>(input) + offset_in(traits.input));
  }
  for (int i = 0; i < streams.output_count; ++i) {
    if (streams.first_output + i == streams.not_output) continue;
    auto* const output =
        static_cast<std::byte*>(call.outputs[static_cast<std::size_t>(streams.first_output + i)]);
    if (streams.form != LimitShare::Form::pairs) {
      share.outputs.push_back(output + offset_in(traits.output));
      continue;
    }
    for (int from = 0; from < thread_count; ++from) {
      share.outputs.push_back(output + slices.range(from).begin * element_bytes);
    }
  }
  return share;
}

std::size_t limit_traffic_bytes(Collective collective, int thread_count, std::size_t size_bytes) {
  const auto threads = static_cast<std::size_t>(thread_count);
  switch (collective) {
    case Collective::allreduce:
    case Collective::scan:
    case Collective::alltoall:
      return 2 * threads * size_bytes;
    case Collective::reduce:
    case Collective::reduce_scatter:
    case Collective::allgather:
      return (threads + 1) * size_bytes;
    case Collective::broadcast:
      // Every thread reads its slice, also where there is nobody to write it to.
      return threads * size_bytes;
    case Collective::gather:
    case Collective::scatter:
      return 2 * size_bytes;
    case Collective::exscan:
      break;
  }
  return 2 * (threads - 1) * size_bytes;
}

}  // namespace hycoll::measure
