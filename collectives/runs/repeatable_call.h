#ifndef HYCOLL_COLLECTIVES_RUNS_REPEATABLE_CALL_H_
#define HYCOLL_COLLECTIVES_RUNS_REPEATABLE_CALL_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "collectives/api/call.h"
#include "collectives/plans/plan_cache.h"
#include "core/base/cache_lines.h"
#include "threading/execution/executor.h"

namespace hycoll {

struct PreparedCall;

/// A call that needed nothing but a plan: those that follow, and differ by their buffers only, need
/// not be resolved again. What every such call passes through is inline.
class alignas(kSeparationBytes) RepeatableCall {
 public:
  /// Requires a call of predefined type and operator, which always mean the same.
  void remember(const Call& call, const PreparedCall& prepared, const Plan& plan);

  /// Whether a call is like the one remembered, on buffers that may be used as they are.
  bool is_like(const Call& call) const noexcept {
    return plan_ != nullptr && call.count == call_.count && call.collective == call_.collective &&
           call.type == call_.type && call.op == call_.op && call.root == call_.root &&
           call.bits == call_.bits && call.block_counts.empty() &&
           call.input_size == call_.input_size && call.output_size == call_.output_size &&
           may_use(call.input, call.output);
  }

  /// The arguments of such a call, but for its number and its buffers.
  const CallArguments& arguments() const noexcept { return arguments_; }
  const void* input_of(const Call& call) const noexcept {
    if (input_bytes_ == 0) return arguments_.input;
    return static_cast<const std::byte*>(call.input) + input_offset(call.input, call.output);
  }
  void* output_of(const Call& call) const noexcept {
    if (output_bytes_ == 0) return arguments_.output;
    return static_cast<std::byte*>(call.output) + output_offset(call.input, call.output);
  }

  const Plan& plan() const noexcept { return *plan_; }

 private:
  /// Where the input, and the output, are, from what is passed as their addresses.
  std::size_t input_offset(const void* input, const void* output) const noexcept {
    return input == output ? input_in_output_bytes_ : 0;
  }
  std::size_t output_offset(const void* input, const void* output) const noexcept {
    return input == output ? output_in_input_bytes_ : 0;
  }

  bool may_use(const void* input, const void* output) const noexcept {
    if (input_bytes_ > 0 && input == nullptr) return false;
    if (output_bytes_ > 0 && output == nullptr) return false;
    if (input_bytes_ == 0 || output_bytes_ == 0) return true;
    const auto input_begin = reinterpret_cast<std::uintptr_t>(input) + input_offset(input, output);
    const auto output_begin =
        reinterpret_cast<std::uintptr_t>(output) + output_offset(input, output);
    const bool apart =
        output_begin + output_bytes_ <= input_begin || input_begin + input_bytes_ <= output_begin;
    return apart || output_begin == input_begin + begins_apart_bytes_;
  }

  PlanPointer plan_;  // null: none is remembered
  Call call_;
  CallArguments arguments_;
  std::size_t input_bytes_ = 0;            // 0: the call's input is not used
  std::size_t output_bytes_ = 0;           // the same of its output
  std::size_t input_in_output_bytes_ = 0;  // where an input lies that is passed as the output
  std::size_t output_in_input_bytes_ = 0;  // where an output lies that is passed as the input
  std::size_t begins_apart_bytes_ = 0;     // modulo 2^64: from an input to an output in place,
                                           // where the call can be made like that
};

/// The latest of them: programs make a few different ones in turn.
class RepeatableCalls {
 public:
  /// Where a call is remembered, in the place of another one.
  RepeatableCall& place_of(const Call& call) noexcept {
    // Calls that differ by a little have places of their own.
    const std::size_t digest = static_cast<std::size_t>(call.collective) + 7 * call.count +
                               static_cast<std::size_t>(call.root);
    return places_[digest % kPlaces];
  }

 private:
  static constexpr std::size_t kPlaces = 16;
  std::array<RepeatableCall, kPlaces> places_;
};

}  // namespace hycoll

#endif  // HYCOLL_COLLECTIVES_RUNS_REPEATABLE_CALL_H_
