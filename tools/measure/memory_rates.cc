#include "tools/measure/memory_rates.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/kernels/kernels.h"
#include "tools/measure/copy_bandwidth.h"

namespace hycoll::measure {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
/// Two operands and a result.
constexpr std::size_t kVectors = 3;

}  // namespace

struct MemoryWorkers::Vectors {
  explicit Vectors(std::size_t size_bytes) {
    for (auto& vector : all) {
      vector.reset(new std::byte[size_bytes]);  // not touched
      std::memset(vector.get(), 0, size_bytes);
    }
  }
  std::array<std::unique_ptr<std::byte[]>, kVectors> all;
};

MemoryWorkers::MemoryWorkers(const Topology& topology, std::span<const Core> cores,
                             std::size_t size_bytes)
    : runs_(MPI_COMM_NULL, topology, cores), size_bytes_(size_bytes), vectors_(cores.size()) {
  runs_.run(
      [&](int worker, int) {
        vectors_[static_cast<std::size_t>(worker)] = std::make_unique<Vectors>(size_bytes_);
      },
      runs_.most_threads(), 1);
}

MemoryWorkers::~MemoryWorkers() = default;

MemoryWorkers::Rate MemoryWorkers::measure(Action action, int workers) const {
  static const ReduceKernel add = reduce_kernel(Operator::sum, DataType::float32);
  const auto work = [&](int worker, int times) {
    const auto& [first, second, result] = vectors_[static_cast<std::size_t>(worker)]->all;
    void* const destination = result.get();
    const std::array<const void*, 2> operands = {first.get(), second.get()};
    for (int i = 0; i < times; ++i) {
      if (action == Action::copies) {
        copy_kernel({&destination, 1}, first.get(), size_bytes_, Stores::cached);
      } else {
        add({&destination, 1}, operands, size_bytes_ / sizeof(float), Stores::cached);
      }
    }
  };
  const RunTime time = runs_.run(work, workers, 1);
  return {.gb_per_s = static_cast<double>(size_bytes_) * workers / (1e9 * time.seconds),
          .time = time};
}

std::size_t memory_vector_bytes(const Topology& topology, int workers) {
  const std::size_t most = kMostBytes / (kVectors * static_cast<std::size_t>(workers));
  return std::clamp(most, kLeastBytes, copy_size_bytes(topology, topology.cores().front()));
}

}  // namespace hycoll::measure
