// The benchmark's own check of results: it accepts what independent kernels compute, and nothing
// else.
#include "tools/command/measuring/bench_data.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include "core/base/types.h"
#include "core/kernels/kernels.h"
#include "tools/command/line/routine.h"

namespace hycoll::command {
namespace bench_data_test {

using Bytes = std::vector<std::byte>;

constexpr std::size_t kCount = 333;

Bytes input_of(const CheckedData& data, int rank, std::size_t count) {
  Bytes input(count * size_of(data.type));
  data.fill(rank, input.data(), count);
  return input;
}

/// All elements over all members.
ExpectedOutput whole(const CheckedData& data, std::size_t count) {
  return {.first = 0, .count = count, .rank_count = data.member_count};
}

/// The right result over the first `rank_count` members, by the kernels of core.
Bytes reduced(const CheckedData& data, std::size_t count, int rank_count) {
  std::vector<Bytes> inputs;
  std::vector<const void*> sources;
  for (int rank = 0; rank < rank_count; ++rank) inputs.push_back(input_of(data, rank, count));
  for (const Bytes& input : inputs) sources.push_back(input.data());
  Bytes result(count * size_of(data.type));
  void* const destination = result.data();
  if (rank_count == 1) return inputs.front();
  reduce_kernel(data.op, data.type)(std::span(&destination, 1), sources, count, Stores::cached);
  return result;
}

Bytes reduced(const CheckedData& data, std::size_t count) {
  return reduced(data, count, data.member_count);
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
      CHECK_FALSE(data.first_difference(result.data(), whole(data, kCount)).has_value());
    });
  }
}

TEST_CASE("a wrong byte anywhere is found") {
  for_all_data(3, [](const CheckedData& data) {
    const Bytes result = reduced(data, 17);
    for (std::size_t i = 0; i < result.size(); ++i) {
      Bytes wrong = result;
      wrong[i] ^= std::byte{0x55};
      CHECK(data.first_difference(wrong.data(), whole(data, 17)).has_value());
    }
  });
}

TEST_CASE("a shifted result, one member's input and a missing member are found") {
  for_all_data(3, [](const CheckedData& data) {
    const Bytes result = reduced(data, kCount + 1);
    const ExpectedOutput all = whole(data, kCount);
    CHECK(data.first_difference(result.data() + size_of(data.type), all).has_value());
    CHECK(data.first_difference(input_of(data, 1, kCount).data(), all).has_value());
    CheckedData fewer = data;
    fewer.member_count = 2;
    CHECK(data.first_difference(reduced(fewer, kCount).data(), all).has_value());
  });
}

TEST_CASE("a part of the result is accepted in its place and over its members only") {
  for_all_data(5, [](const CheckedData& data) {
    const std::size_t block = 100;
    for (const int rank_count : {1, 3, 5}) {
      CAPTURE(rank_count);
      const Bytes result = reduced(data, 3 * block, rank_count);
      const std::byte* const second = result.data() + block * size_of(data.type);
      const auto differs = [&](std::size_t first, int ranks) {
        return data.first_difference(second, {.first = first, .count = block, .rank_count = ranks})
            .has_value();
      };
      CHECK_FALSE(differs(block, rank_count));
      CHECK(differs(0, rank_count));
      CHECK(differs(block, rank_count == 5 ? 4 : rank_count + 1));
    }
  });
}

TEST_CASE("one member's input is accepted where it is expected") {
  for_all_data(5, [](const CheckedData& data) {
    const Bytes copy = input_of(data, 3, kCount);
    const auto differs = [&](int rank) {
      return data
          .first_difference(copy.data(),
                            {.first = 0, .count = kCount, .first_rank = rank, .rank_count = 1})
          .has_value();
    };
    CHECK_FALSE(differs(3));
    CHECK(differs(2));
    CHECK(differs(4));
  });
}

TEST_CASE("every collective leaves in a member's output what MPI says") {
  constexpr int kMembers = 4;
  constexpr std::size_t kElements = 12;
  const auto expected = [](Routine routine, int rank) {
    return expected_output({.routine = routine, .root = 2}, kElements, rank, kMembers);
  };
  for (int rank = 0; rank < kMembers; ++rank) {
    CAPTURE(rank);
    const ExpectedOutput everything = expected(Routine::allreduce, rank);
    CHECK(everything.first == 0);
    CHECK(everything.count == kElements);
    CHECK(everything.rank_count == kMembers);
    CHECK(expected(Routine::reduce, rank).count == (rank == 2 ? kElements : 0));
    CHECK(expected(Routine::reduce, rank).rank_count == kMembers);
    const ExpectedOutput block = expected(Routine::reduce_scatter, rank);
    CHECK(block.first == 3 * static_cast<std::size_t>(rank));
    CHECK(block.count == 3);
    CHECK(block.rank_count == kMembers);
    CHECK(expected(Routine::scan, rank).count == kElements);
    CHECK(expected(Routine::scan, rank).rank_count == rank + 1);
    CHECK(expected(Routine::exscan, rank).count == (rank == 0 ? 0 : kElements));
    CHECK(expected(Routine::exscan, rank).rank_count == rank);
    CHECK(expected(Routine::broadcast, rank).count == (rank == 2 ? 0 : kElements));
    CHECK(expected(Routine::broadcast, rank).first_rank == 2);
    CHECK(expected(Routine::broadcast, rank).rank_count == 1);
    CHECK(expected(Routine::allgather, rank).count == kElements);
    CHECK(expected(Routine::allgather, rank).block == 3);
    CHECK(expected(Routine::gather, rank).count == (rank == 2 ? kElements : 0));
    CHECK(expected(Routine::gather, rank).first_rank == 0);
    CHECK(expected(Routine::gather, rank).block == 3);
    const ExpectedOutput own = expected(Routine::scatter, rank);
    CHECK(own.first == 3 * static_cast<std::size_t>(rank));
    CHECK(own.count == 3);
    CHECK(own.first_rank == 2);
    CHECK(own.rank_count == 1);
    CHECK(expected(Routine::alltoall, rank).first == 3 * static_cast<std::size_t>(rank));
    CHECK(expected(Routine::alltoall, rank).count == kElements);
    CHECK(expected(Routine::alltoall, rank).block == 3);
    CHECK(expected(Routine::barrier, rank).count == 0);
  }
}

TEST_CASE("only routines with blocks need equal ones") {
  for (int value = 0; value < kRoutineCount; ++value) {
    const Problem problem{.routine = static_cast<Routine>(value)};
    CAPTURE(name_of(problem.routine));
    CHECK(parse_routine(name_of(problem.routine)) == problem.routine);
    CHECK_FALSE(unsuitable_count(problem, 12, 4).has_value());
    CHECK(unsuitable_count(problem, 13, 4).has_value() ==
          (problem.routine == Routine::reduce_scatter || problem.routine == Routine::allgather ||
           problem.routine == Routine::gather || problem.routine == Routine::scatter ||
           problem.routine == Routine::alltoall));
  }
  CHECK_FALSE(parse_routine("alltoallw").has_value());
}

TEST_CASE("what lies after a short result is guarded") {
  MemberBuffers buffers(64, 16, 1);
  const CheckedData data{DataType::float32, Operator::sum, 2, 1};
  data.fill(0, buffers.input(0), 16);
  buffers.poison();
  buffers.output(0)[15] = std::byte{0};
  CHECK(buffers.guards_intact());
  buffers.output(0)[16] = std::byte{0};
  CHECK_FALSE(buffers.guards_intact());
}

TEST_CASE("another salt means other inputs and another result") {
  for_all_data(2, [](const CheckedData& data) {
    CheckedData other = data;
    other.salt = 2;
    CHECK(input_of(data, 0, kCount) != input_of(other, 0, kCount));
    CHECK(other.first_difference(reduced(data, kCount).data(), whole(other, kCount)).has_value());
  });
}

TEST_CASE("poison is no result, and writing after a buffer is found") {
  for (const std::size_t size_bytes : {0, 4, 60, 64, 68, 4096}) {
    CAPTURE(size_bytes);
    MemberBuffers buffers(size_bytes, size_bytes, 3);
    const CheckedData data{DataType::float32, Operator::sum, 2, 1};
    for (int slot = 0; slot < 3; ++slot) data.fill(0, buffers.input(slot), size_bytes / 4);
    buffers.poison();
    CHECK(buffers.guards_intact());
    for (int slot = 0; slot < 3; ++slot) {
      CHECK(data.first_difference(buffers.output(slot), whole(data, size_bytes / 4)).has_value() ==
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
  MemberBuffers buffers(kBytes, kBytes, 2);
  const CheckedData data{DataType::int32, Operator::sum, 1, 1};
  for (int slot = 0; slot < 2; ++slot) {
    data.fill(0, buffers.input(slot), kBytes / 4);
    std::memcpy(buffers.output(slot), buffers.input(slot), kBytes);
  }
  buffers.use();
  for (int slot = 0; slot < 2; ++slot) {
    const ExpectedOutput all = whole(data, kBytes / 4);
    CHECK_FALSE(data.first_difference(buffers.input(slot), all).has_value());
    CHECK_FALSE(data.first_difference(buffers.output(slot), all).has_value());
  }
}

}  // namespace bench_data_test
}  // namespace hycoll::command
