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
  const CollectiveTraits traits = traits_of(collective);
  Streams streams{Form::fold, 0, thread_count, 0, thread_count};
  if (is_prefix(traits)) streams.form = Form::prefix;
  if (has_pairs(traits)) streams.form = Form::pairs;

  if (begins_at_root(traits)) {
    streams.first_input = root;
    streams.input_count = 1;
  } else if (traits.input.extent == Extent::block) {
    streams.first_input = thread;
    streams.input_count = 1;
  } else if (traits.result == Result::exclusive_prefix) {
    streams.input_count = thread_count - 1;  // the last one is in no result
  }

  if (traits.output.extent != Extent::vector) {
    streams.first_output = thread;
    streams.output_count = 1;
  } else if (delivers_to_root(traits)) {
    streams.first_output = root;
    streams.output_count = 1;
  } else if (traits.output.holders == Holders::all_but_first) {
    streams.first_output = 1;
    streams.output_count = thread_count - 1;
  } else if (traits.output.holders == Holders::all_but_root) {
    streams.not_output = root;
  }
  return streams;
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
  const Streams streams = streams_of(collective, 0, thread_count, 0);
  const bool has_pairs = streams.form == LimitShare::Form::pairs;
  const int outputs = has_pairs ? thread_count : streams.output_count;
  const int not_outputs = streams.not_output >= 0 ? 1 : 0;
  return static_cast<std::size_t>(streams.input_count + outputs - not_outputs) * size_bytes;
}

}  // namespace hycoll::measure
