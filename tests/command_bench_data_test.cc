// The benchmark's own check of results: it accepts what independent kernels compute, and nothing
// else.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "core/kernels.h"
#include "core/types.h"
#include "tools/command/bench_data.h"

namespace hycoll::command {
namespace {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kCount = 333;

Bytes input_of(const CheckedData& data, int rank, std::size_t count) {
  Bytes input(count * size_of(data.type));
  data.fill(rank, input.data(), count);
  return input;
}

/// The right result, by the kernels of core.
Bytes reduced(const CheckedData& data, std::size_t count) {
  std::vector<Bytes> inputs;
  std::vector<const void*> sources;
  for (int rank = 0; rank < data.member_count; ++rank) {
    inputs.push_back(input_of(data, rank, count));
  }
  for (const Bytes& input : inputs) sources.push_back(input.data());
  Bytes result(count * size_of(data.type));
  void* const destination = result.data();
  if (data.member_count == 1) return inputs.front();
  reduce_kernel(data.op, data.type)(std::span(&destination, 1), sources, count, Stores::cached);
  return result;
}

/// Calls `function` with every type and operator that fit each other.
template <class Function>
void for_all_data(int member_count, Function function) {
  for (int type = 0; type < kDataTypeCount; ++type) {
    for (int op = 0; op < kOperatorCount; ++op) {
      const CheckedData data{static_cast<DataType>(type), static_cast<Operator>(op), member_count,
                             1};
      if (!is_defined_for(data.op, data.type)) continue;
      CAPTURE(name_of(data.type));
      CAPTURE(name_of(data.op));
      CAPTURE(member_count);
      function(data);
    }
  }
}

TEST_CASE("the right result is accepted for every type, operator and number of members") {
  for (const int members : {1, 2, 3, 8, 70}) {
    for_all_data(members, [](const CheckedData& data) {
      const Bytes result = reduced(data, kCount);
      CHECK_FALSE(data.first_difference(result.data(), kCount).has_value());
    });
  }
}

TEST_CASE("a wrong byte anywhere is found") {
  for_all_data(3, [](const CheckedData& data) {
    const Bytes result = reduced(data, 17);
    for (std::size_t i = 0; i < result.size(); ++i) {
      Bytes wrong = result;
      wrong[i] ^= std::byte{0x55};
      CHECK(data.first_difference(wrong.data(), 17).has_value());
    }
  });
}

TEST_CASE("a shifted result, one member's input and a missing member are found") {
  for_all_data(3, [](const CheckedData& data) {
    const Bytes result = reduced(data, kCount + 1);
    CHECK(data.first_difference(result.data() + size_of(data.type), kCount).has_value());
    CHECK(data.first_difference(input_of(data, 1, kCount).data(), kCount).has_value());
    CheckedData fewer = data;
    fewer.member_count = 2;
    CHECK(data.first_difference(reduced(fewer, kCount).data(), kCount).has_value());
  });
}

TEST_CASE("another salt means other inputs and another result") {
  for_all_data(2, [](const CheckedData& data) {
    CheckedData other = data;
    other.salt = 2;
    CHECK(input_of(data, 0, kCount) != input_of(other, 0, kCount));
    CHECK(other.first_difference(reduced(data, kCount).data(), kCount).has_value());
  });
}

TEST_CASE("poison is no result, and writing after a buffer is found") {
  for (const std::size_t size_bytes : {0, 4, 60, 64, 68, 4096}) {
    CAPTURE(size_bytes);
    MemberBuffers buffers(size_bytes, 3);
    const CheckedData data{DataType::float32, Operator::sum, 2, 1};
    for (int slot = 0; slot < 3; ++slot) data.fill(0, buffers.input(slot), size_bytes / 4);
    buffers.poison();
    CHECK(buffers.guards_intact());
    for (int slot = 0; slot < 3; ++slot) {
      CHECK(data.first_difference(buffers.output(slot), size_bytes / 4).has_value() ==
            (size_bytes > 0));
      for (std::byte* const end :
           {buffers.input(slot) + size_bytes, buffers.output(slot) + size_bytes}) {
        end[0] ^= std::byte{1};
        CHECK_FALSE(buffers.guards_intact());
        end[0] ^= std::byte{1};
        end[63] ^= std::byte{1};
        CHECK_FALSE(buffers.guards_intact());
        end[63] ^= std::byte{1};
      }
    }
    CHECK(buffers.guards_intact());
  }
}

TEST_CASE("using the buffers leaves all values as they are") {
  constexpr std::size_t kBytes = 1000;
  MemberBuffers buffers(kBytes, 2);
  const CheckedData data{DataType::int32, Operator::sum, 1, 1};
  for (int slot = 0; slot < 2; ++slot) {
    data.fill(0, buffers.input(slot), kBytes / 4);
    std::memcpy(buffers.output(slot), buffers.input(slot), kBytes);
  }
  buffers.use();
  for (int slot = 0; slot < 2; ++slot) {
    CHECK_FALSE(data.first_difference(buffers.input(slot), kBytes / 4).has_value());
    CHECK_FALSE(data.first_difference(buffers.output(slot), kBytes / 4).has_value());
  }
}

}  // namespace
}  // namespace hycoll::command
