#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_DATA_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_DATA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/types.h"
#include "tools/command/line/routine.h"

namespace hycoll::command {

/// What a reduction is checked with: inputs that differ between ranks and between indices, and the
/// result by scalar arithmetic of its own. Inputs are chosen so that every result is exact, also in
/// floating point and in any order. All functions are pure and may be called concurrently.
struct CheckedData {
  DataType type;
  Operator op;
  int member_count;
  std::uint64_t salt;  ///< Another salt, other inputs.

  /// Writes the input of one member.
  void fill(int rank, std::byte* input, std::size_t count) const;

  /// Compares an output of expected.count elements; says where the first difference is.
  std::optional<std::string> first_difference(const std::byte* output,
                                              const ExpectedOutput& expected) const;

  /// The same for what should be the input of one member, as fill wrote it.
  std::optional<std::string> first_change(int rank, const std::byte* input,
                                          std::size_t count) const;
};

/// Where the buffers of members lie.
enum class BufferMemory {
  own,          ///< Of the process alone.
  shared_heap,  ///< Which the processes of a node reach (heap/heap.h).
};

/// The buffers of one member: `slot_count` pairs of an input and an output of the same size. Each
/// is followed by a cache line that nobody may write to, nor to what an output has beyond the
/// result.
class MemberBuffers {
 public:
  /// Results are the first `result_bytes` <= size_bytes of an output. Does not touch the memory:
  /// its pages lie where the member first writes them.
  MemberBuffers(std::size_t size_bytes, std::size_t result_bytes, int slot_count,
                BufferMemory memory = BufferMemory::own);

  /// No others of this process have it, though they may lie where these have lain.
  std::uint64_t number() const noexcept { return number_; }
  int slot_count() const noexcept { return slot_count_; }
  std::size_t size_bytes() const noexcept { return size_bytes_; }
  std::size_t result_bytes() const noexcept { return result_bytes_; }
  std::byte* input(int slot) const noexcept { return at(2 * slot); }
  std::byte* output(int slot) const noexcept { return at(2 * slot + 1); }

  /// Fills all outputs, and the lines after all buffers, with a pattern that is no result.
  void poison();

  /// Whether nothing after an input or a result was written to since poison().
  bool guards_intact() const;

  /// What a program does between two calls: reads every cache line of all results, and writes every
  /// one of all inputs, leaving the values as they are.
  void use();

 private:
  std::byte* at(int buffer) const noexcept {
    return memory_.get() + static_cast<std::size_t>(buffer) * stride_bytes_;
  }
  struct Release {
    BufferMemory where;
    void operator()(std::byte* memory) const noexcept;
  };
  static std::byte* allocate(std::size_t size_bytes, BufferMemory where);
  static std::uint64_t next_number() noexcept;

  std::uint64_t number_ = next_number();
  std::size_t size_bytes_;
  std::size_t result_bytes_;
  int slot_count_;
  std::size_t stride_bytes_;
  std::unique_ptr<std::byte[], Release> memory_;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_BENCH_DATA_H_
