#ifndef HYCOLL_THREADING_PROGRAM_STEP_STORES_H_
#define HYCOLL_THREADING_PROGRAM_STEP_STORES_H_

#include <cstddef>

#include "core/base/collective_traits.h"
#include "threading/program/program.h"
#include "threading/program/program_recipe.h"

namespace hycoll {

/// How the steps of one run store: past the caches where that pays. The same rule for all bindings.
class StepStores {
 public:
  StepStores() = default;
  /// Of a run that moves or combines buffers of the node's members of so many bytes together.
  StepStores(const CollectiveTraits& collective, std::size_t buffers_bytes,
             const BindingOptions& options) noexcept
      : streams_outputs_(streaming_pays(collective, buffers_bytes, options)),
        streaming_staging_bytes_(options.streaming_staging_bytes) {}

  bool streams_outputs() const noexcept { return streams_outputs_; }

  /// Sets how an instruction of that extent stores, which has its size.
  void apply(const ProgramRecipe::Extent& extent, Instruction& instruction) const noexcept {
    instruction.stores =
        streams_outputs_ && extent.makes_final_outputs ? Stores::streaming : Stores::cached;
    instruction.streams_if_far =
        extent.is_for_others && instruction.size_bytes >= streaming_staging_bytes_;
  }

 private:
  /// Whether outputs are too large to stay in the caches until somebody reads them. A prefix is
  /// read by the next one at once.
  static bool streaming_pays(const CollectiveTraits& collective, std::size_t buffers_bytes,
                             const BindingOptions& options) noexcept {
    return !is_prefix(collective) && buffers_bytes >= options.streaming_threshold_bytes;
  }

  bool streams_outputs_ = false;
  std::size_t streaming_staging_bytes_ = SIZE_MAX;
};

}  // namespace hycoll

#endif  // HYCOLL_THREADING_PROGRAM_STEP_STORES_H_
