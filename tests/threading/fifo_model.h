#ifndef HYCOLL_TESTS_THREADING_FIFO_MODEL_H_
#define HYCOLL_TESTS_THREADING_FIFO_MODEL_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "threading/memory/node_memory.h"

namespace hycoll::tests {

/// Zero bytes at a multiple of the separation.
class FifoBlock {
 public:
  explicit FifoBlock(std::size_t size_bytes)
      : size_bytes_(size_bytes),
        bytes_(static_cast<std::byte*>(
            ::operator new(size_bytes, std::align_val_t(kSeparationBytes)))) {
    std::fill_n(bytes_, size_bytes_, std::byte{0});
  }
  ~FifoBlock() { ::operator delete(bytes_, std::align_val_t(kSeparationBytes)); }
  FifoBlock(const FifoBlock&) = delete;
  FifoBlock& operator=(const FifoBlock&) = delete;

  std::span<std::byte> bytes() const { return {bytes_, size_bytes_}; }

  /// A FIFO holds no pointers, so its bytes are its state.
  std::string save() const { return {reinterpret_cast<const char*>(bytes_), size_bytes_}; }
  void restore(const std::string& state) { std::memcpy(bytes_, state.data(), size_bytes_); }

 private:
  std::size_t size_bytes_;
  std::byte* bytes_;
};

/// Visits every state that sequences of a model's actions reach, each once. A model has save(),
/// restore(state), actions() -> how many there are, perform(action) -> whether it was possible, and
/// finish(), called where no action is. Returns the number of states.
template <class Model>
std::size_t visit_all(Model& model) {
  std::set<std::string> known{model.save()};
  std::vector<std::string> open(known.begin(), known.end());
  while (!open.empty()) {
    const std::string state = std::move(open.back());
    open.pop_back();
    bool is_last = true;
    for (int action = 0; action < model.actions(); ++action) {
      model.restore(state);
      if (!model.perform(action)) continue;
      is_last = false;
      std::string next = model.save();
      if (known.insert(next).second) open.push_back(std::move(next));
    }
    if (!is_last) continue;
    model.restore(state);
    model.finish();
  }
  return known.size();
}

/// What byte `i` of message `index` of a connection is.
inline std::byte fifo_byte(std::uint64_t connection, std::size_t index, std::size_t i) {
  return static_cast<std::byte>(1 + 61 * connection + 7 * index + 3 * i);
}

}  // namespace hycoll::tests

#endif  // HYCOLL_TESTS_THREADING_FIFO_MODEL_H_
