#include "threading/node_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/types.h"

namespace hycoll {
namespace {

constexpr std::size_t kLinesPerBuffer = line_count_for(kMaximumLinesBytes);
constexpr std::size_t kLinesPerSet = kLinesBuffersPerWorker * kLinesPerBuffer;

}  // namespace

std::string CallSignature::describe() const {
  const std::string type = type_code < kDataTypeCount
                               ? std::string(name_of(static_cast<DataType>(type_code)))
                           : element_bytes == 0 ? fmt::format("of MPI (code {})", type_code)
                                                : fmt::format("of MPI, {} bytes", element_bytes);
  const std::string op = op_code < kOperatorCount
                             ? std::string(name_of(static_cast<Operator>(op_code)))
                             : fmt::format("of MPI or the program (code {})", op_code);
  std::string text =
      fmt::format("{}, count {}, type {}, operator {}", name_of(collective), count, type, op);
  if (is_reproducible) text += ", reproducible";
  if (collective == Collective::reduce) text += fmt::format(", root {}", detail);
  if (collective == Collective::reduce_scatter && detail != 0) {
    text += fmt::format(", block counts with digest {:x}", detail);
  }
  return text;
}

void write_lines(Line* lines, const std::byte* source, std::size_t size_bytes,
                 std::uint64_t tag) noexcept {
  const std::size_t line_count = line_count_for(size_bytes);
  for (std::size_t l = 0; l < line_count; ++l) {
    const std::size_t offset = l * Line::kPayloadBytes;
    const std::size_t bytes = std::min(size_bytes - offset, Line::kPayloadBytes);
    const std::size_t word_count = (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    for (std::size_t w = 0; w < word_count; ++w) {
      const std::size_t begin = w * sizeof(std::uint64_t);
      std::uint64_t word = 0;
      std::memcpy(&word, source + offset + begin, std::min(bytes - begin, sizeof(word)));
      lines[l].payload[w].store(word, std::memory_order_relaxed);
    }
    // Pairs with the acquiring load of the tag by the reader (executor.cc).
    lines[l].tag.store(tag, std::memory_order_release);
  }
}

void own_lines(const Line* lines, std::size_t size_bytes) noexcept {
  const std::size_t line_count = line_count_for(size_bytes);
  for (std::size_t l = 0; l < line_count; ++l) {
    own_for_writing(&lines[l]);
  }
}

NodeMemory::NodeMemory(int worker_count)
    : posts_(static_cast<std::size_t>(worker_count)),
      flags_(static_cast<std::size_t>(worker_count * kFlagsPerWorker)),
      operator_failures_(static_cast<std::size_t>(worker_count)) {
  for (int worker = 0; worker < worker_count; ++worker) {
    lines_.push_back(std::make_unique<Line[]>(2 * kLinesPerSet));
  }
}

Line* NodeMemory::lines(int worker, int buffer, CallNumber call) noexcept {
  return lines_[static_cast<std::size_t>(worker)].get() + (call % 2) * kLinesPerSet +
         static_cast<std::size_t>(buffer) * kLinesPerBuffer;
}

void NodeMemory::fail(CallNumber call, const Error& error) {
  const std::lock_guard lock(failure_mutex_);
  if (failed_call_.load(std::memory_order_relaxed) == call) return;
  failure_ = error;
  // Pairs with the acquiring load in throw_if_failed.
  failed_call_.store(call, std::memory_order_release);
}

void NodeMemory::throw_if_failed(CallNumber call) {
  if (failed_call_.load(std::memory_order_acquire) != call) return;
  const std::lock_guard lock(failure_mutex_);
  if (failed_call_.load(std::memory_order_relaxed) == call) throw *failure_;
}

void NodeMemory::record_operator_failure(int slot, int rank, CallNumber call, const Error& error) {
  const std::lock_guard lock(failure_mutex_);
  OperatorFailure& failure = operator_failures_[static_cast<std::size_t>(slot)];
  if (failed_call_of(failure.mark) == call) return;
  failure.mark = (call << 24) | static_cast<std::uint64_t>(rank);
  failure.text = error.what();
}

std::optional<std::string> NodeMemory::operator_failure(int slot, std::uint64_t mark) const {
  const std::lock_guard lock(failure_mutex_);
  const OperatorFailure& failure = operator_failures_[static_cast<std::size_t>(slot)];
  return failure.mark == mark ? std::optional(failure.text) : std::nullopt;
}

}  // namespace hycoll
