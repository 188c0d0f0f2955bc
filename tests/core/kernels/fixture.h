#ifndef HYCOLL_TESTS_CORE_KERNELS_FIXTURE_H_
#define HYCOLL_TESTS_CORE_KERNELS_FIXTURE_H_

#include <cstddef>
#include <functional>
#include <random>

#include "core/base/types.h"

namespace hycoll {

constexpr std::size_t kLineBytes = 64;

/// Pages between two that fault when touched. The range lies anywhere inside and is surrounded by
/// poison, as far as there is room: at the edge of the pages even a read outside it faults.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(std::size_t capacity_bytes);
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  /// Poisons the range and its surroundings.
  void place_at(std::size_t offset_bytes, std::size_t size_bytes);
  void place_at_end(std::size_t size_bytes);

  std::byte* data() const { return begin_; }
  bool is_poison_intact() const;
  void forbid_writes();

 private:
  std::byte* poison_begin() const;
  std::byte* poison_end() const;
  void place(std::byte* begin, std::size_t size_bytes);

  std::size_t pages_bytes_;
  std::byte* first_ = nullptr;
  std::byte* begin_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// Where the buffers of one call lie.
enum class Placement { at_page_end, same_offset, same_destination_offset, any_offsets };
Placement random_placement(std::minstd_rand& random);

/// Calls the function once for every instruction set that this machine has and the kernels were
/// compiled for; reduce_kernel and copy_kernel use it meanwhile.
void on_every_instruction_set(const std::function<void()>& function);

/// A sample of them under ThreadSanitizer.
void on_every_operator_and_type(const std::function<void(Operator, DataType)>& function);

}  // namespace hycoll

#endif  // HYCOLL_TESTS_CORE_KERNELS_FIXTURE_H_
