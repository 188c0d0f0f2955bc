// Steps on streams: through the node's broadcast FIFO, as many messages as there is room for, or
// that have arrived, at a time.

#include <algorithm>
#include <array>

#include "core/kernels/kernels.h"
#include "threading/execution/executor.h"

namespace hycoll {

bool WorkerExecutor::write_stream(StrandState& state, const Instruction& instruction) {
  // A worker has one place in the FIFO at a time.
  if (stream_writer_ != nullptr && stream_writer_ != &state) return false;
  const auto all = operands(instruction);
  const std::byte* source = address(all[1]);
  const std::uint64_t connection = stream_connection(arguments_.call, all[0].lines_buffer);
  do {
    const std::size_t size =
        std::min(fifo_->extent().slot_bytes, instruction.size_bytes - state.streamed_bytes);
    if (!fifo_->try_write(worker_, connection, {source + state.streamed_bytes, size})) {
      stream_writer_ = &state;
      return false;
    }
    state.streamed_bytes += size;
    has_progressed_ = true;
  } while (state.streamed_bytes < instruction.size_bytes);
  state.streamed_bytes = 0;
  stream_writer_ = nullptr;
  return true;
}

bool WorkerExecutor::read_stream(StrandState& state, const Instruction& instruction) {
  const auto all = operands(instruction);
  std::byte* destination = address(all[0]);
  const std::uint64_t connection = stream_connection(arguments_.call, all[1].lines_buffer);
  do {
    const auto message = next_message();
    if (!message || message->connection != connection) return false;
    const std::array<void* const, 1> part{destination + state.streamed_bytes};
    copy_kernel(part, message->bytes.data(), message->bytes.size(), instruction.stores);
    state.streamed_bytes += message->bytes.size();
    has_progressed_ = true;
    fifo_->release(worker_);
  } while (state.streamed_bytes < instruction.size_bytes);
  state.streamed_bytes = 0;
  return true;
}

/// A call that has failed may have left messages that nobody wants any more, and a place in the
/// FIFO that others wait for.
std::optional<FifoMessage> WorkerExecutor::next_message() {
  if (stream_writer_ == nullptr && fifo_->has_reserved(worker_)) {
    fifo_->try_write(worker_, stream_connection(0, 0), {});
  }
  for (;;) {
    const auto message = fifo_->front(worker_);
    if (!message || call_of_connection(message->connection) >= arguments_.call) return message;
    fifo_->release(worker_);
  }
}

}  // namespace hycoll
