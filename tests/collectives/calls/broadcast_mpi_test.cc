// Broadcast under real MPI: every algorithm in the layout processes, and data that different types
// describe, in all layouts.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hycoll/hycoll.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "tests/support/call_sweeps.h"
#include "tests/support/every_layout.h"
#include "tests/support/process_options.h"
#include "tests/support/sanitized.h"
#include "tests/support/world.h"

namespace hycoll::tests {
namespace broadcast_mpi_test {

constexpr std::int32_t kPoison = -77'777;

std::int32_t value_of(int root, std::size_t index) {
  return static_cast<std::int32_t>(1'000'003 * (root + 1) + 7 * static_cast<int>(index));
}

/// A committed datatype, for as long as this lives.
class OwnType {
 public:
  explicit OwnType(const std::function<void(MPI_Datatype*)>& make) {
    make(&handle_);
    MPI_Type_commit(&handle_);
  }
  ~OwnType() { MPI_Type_free(&handle_); }
  OwnType(const OwnType&) = delete;
  OwnType& operator=(const OwnType&) = delete;

  MPI_Datatype handle() const { return handle_; }

 private:
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;
};

/// 2 of every 3 numbers, so that there are gaps within elements and between them.
void make_gapped(MPI_Datatype* type) {
  MPI_Datatype pairs = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 2, 3, MPI_INT32_T, &pairs);
  MPI_Type_create_resized(pairs, 0, 6 * sizeof(std::int32_t), type);
  MPI_Type_free(&pairs);
}

constexpr std::size_t kDataPerElement = 4;
constexpr std::size_t kExtent = 6;
constexpr std::size_t position_of(std::size_t datum) { return datum / 2 * 3 + datum % 2; }

/// A buffer of `elements` gapped elements after a call with this root; the complaint.
std::string complaint_about(const std::vector<std::int32_t>& buffer, std::size_t elements, int root,
                            bool is_root) {
  std::vector<std::int32_t> expected(buffer.size(), is_root ? 5 : kPoison);
  for (std::size_t d = 0; d < elements * kDataPerElement; ++d) {
    expected[position_of(d)] = value_of(root, d);
  }
  const auto differing = std::ranges::mismatch(buffer, expected);
  if (differing.in1 == buffer.end()) return "";
  return fmt::format("element {} of a buffer with gaps is {}, not {} (root {}, {} elements)",
                     differing.in1 - buffer.begin(), *differing.in1, *differing.in2, root,
                     elements);
}

/// The root describes its data by a type with gaps, and others alternately by that and by numbers.
template <class Caller>
std::string try_gaps(Caller& caller, std::initializer_list<std::size_t> sizes, int first_root = 0) {
  const OwnType gapped(make_gapped);
  std::string first;
  for (const std::size_t elements : sizes) {
    for (int root = first_root; root < caller.size(); ++root) {
      const bool is_root = caller.rank() == root;
      std::vector<std::int32_t> buffer(elements * kExtent + 4, is_root ? 5 : kPoison);
      const std::size_t data = elements * kDataPerElement;
      for (std::size_t d = 0; is_root && d < data; ++d) buffer[position_of(d)] = value_of(root, d);
      if (is_root || (caller.rank() + root) % 2 == 0) {
        caller.broadcast(buffer.data(), elements, ElementType(gapped.handle()), root);
        note(first, complaint_about(buffer, elements, root, is_root));
        caller.ibroadcast(buffer.data(), elements, ElementType(gapped.handle()), root).wait();
        note(first, complaint_about(buffer, elements, root, is_root));
        continue;
      }
      caller.broadcast(std::span(buffer).first(data), root);
      for (std::size_t d = 0; d < data; ++d) {
        if (buffer[d] != value_of(root, d)) note(first, fmt::format("number {} is wrong", d));
      }
      caller.ibroadcast(buffer.data(), data, ElementType(MPI_INT32_T), root).wait();
      if (buffer[data] != kPoison) note(first, "a number after the last one was written");
    }
  }
  return first;
}

TEST_CASE("types with gaps, which only some of the members use") {
  in_every_layout([](auto& caller) { return try_gaps(caller, {1, 3, 50, 9'000}); });
}

struct Pair {
  double value;
  int index;
};

/// Pairs have padding, which is no part of the data; and buffers may lie where their type says.
template <class Caller>
std::string try_other_types(Caller& caller) {
  std::string first;
  const int root = caller.size() - 1;
  std::vector<Pair> pairs(700);
  for (std::size_t i = 0; caller.rank() == root && i < pairs.size(); ++i) {
    pairs[i] = {0.5 * static_cast<double>(i), static_cast<int>(i) + 3};
  }
  caller.broadcast(pairs.data(), pairs.size(), ElementType(MPI_DOUBLE_INT), root);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].value == 0.5 * static_cast<double>(i) && pairs[i].index == static_cast<int>(i) + 3)
      continue;
    note(first, fmt::format("pair {} is wrong", i));
  }

  std::vector<std::int32_t> scattered(100, caller.rank() == root ? 9 : kPoison);
  const OwnType absolute([&](MPI_Datatype* type) {
    int lengths[] = {2, 1};
    MPI_Aint places[2];
    MPI_Get_address(&scattered[90], &places[0]);
    MPI_Get_address(&scattered[3], &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT32_T, type);
  });
  if (caller.rank() == root) scattered[90] = 1, scattered[91] = 2, scattered[3] = 3;
  caller.broadcast(MPI_BOTTOM, 1, ElementType(absolute.handle()), root);
  if (scattered[90] != 1 || scattered[91] != 2 || scattered[3] != 3) {
    note(first, "data at absolute addresses are wrong");
  }
  return first;
}

TEST_CASE("pairs with padding, and data whose addresses the type has") {
  in_every_layout([](auto& caller) { return try_other_types(caller); });
}

/// No data, in three ways; all synchronise alike.
template <class Caller>
std::string try_nothing(Caller& caller) {
  const OwnType empty([](MPI_Datatype* type) { MPI_Type_contiguous(0, MPI_INT32_T, type); });
  std::int32_t untouched = kPoison;
  for (int round = 0; round < 3; ++round) {
    const int root = round % caller.size();
    switch ((caller.rank() + round) % 3) {
      case 0:
        caller.broadcast(nullptr, 0, DataType::int32, root);
        break;
      case 1:
        caller.broadcast(&untouched, 0, ElementType(MPI_DOUBLE), root);
        break;
      default:
        caller.broadcast(&untouched, 7, ElementType(empty.handle()), root);
    }
  }
  return untouched == kPoison ? "" : "a call without data wrote to a buffer";
}

TEST_CASE("calls without data") {
  in_every_layout([](auto& caller) { return try_nothing(caller); });
}

/// A type without data, and then another one, which may have got its handle.
template <class Caller>
std::string try_handles_of_empty_types(Caller& caller) {
  std::string first;
  for (int round = 0; round < 3; ++round) {
    for (const int numbers : {0, 1}) {
      const OwnType type([&](MPI_Datatype* t) { MPI_Type_contiguous(numbers, MPI_INT32_T, t); });
      std::vector<std::int32_t> buffer(7, caller.rank() == 0 ? round : kPoison);
      caller.broadcast(buffer.data(), buffer.size(), ElementType(type.handle()), 0);
      const bool is_there = numbers == 1 || caller.rank() == 0;
      if (buffer != std::vector<std::int32_t>(7, is_there ? round : kPoison)) {
        note(first, fmt::format("round {}: elements of {} numbers are wrong", round, numbers));
      }
    }
  }
  return first;
}

TEST_CASE("types without data whose handles go to others") {
  in_every_layout([](auto& caller) { return try_handles_of_empty_types(caller); });
}

TEST_CASE("containers and single values") {
  in_every_layout([](auto& caller) {
    const int root = caller.size() / 2;
    std::vector<double> vector(33, caller.rank() == root ? 1.5 : 0.0);
    caller.broadcast(vector, root);
    const bool is_right = vector == std::vector<double>(33, 1.5) &&
                          caller.broadcast(40 + caller.rank(), root) == 40 + root &&
                          caller.broadcast(caller.rank()) == 0;
    return std::string(is_right ? "" : "a container or a value is wrong");
  });
}

TEST_CASE("streams of several lanes share the FIFOs of nodes of processes") {
  Sample sample(static_cast<std::uint64_t>(world_size()));
  for (const char* name : {"fifo-binomial", "fifo-torus-colours"}) {
    for (const int nodes : {1, 2}) {
      for (const int lanes : {2, 5}) {
        Options options = options_with(nodes);
        options.algorithm = fmt::format("broadcast:{}", name);
        options.lanes = lanes;
        Communicator communicator(MPI_COMM_WORLD, options);
        for (const std::size_t count : {std::size_t{2}, std::size_t{40'000}}) {
          for (int root = 0; root < communicator.size(); ++root) {
            if (!sample.takes_next()) continue;
            const CollectiveReference reference{.collective = Collective::broadcast,
                                                .member_count = communicator.size(),
                                                .root = root,
                                                .count = count,
                                                .block_counts = {}};
            CallTrial trial(reference, communicator.rank(), Placement::in_place);
            int round = 0;
            CHECK(call_in_every_form(communicator, trial, round) == "");
          }
        }
      }
    }
  }
}

/// What a call complains about; nothing if it is refused because doubling serves powers of two.
template <class Call>
std::string complaint_of(const Algorithm& algorithm, const Call& call) {
  try {
    return call();
  } catch (const Error& error) {
    const bool is_refusal = error.kind() == ErrorKind::unsupported &&
                            algorithm.name.find("doubling") != std::string_view::npos;
    return is_refusal ? "" : error.what();
  }
}

TEST_CASE("every algorithm among processes, from every root, and of data with gaps") {
  const int size = world_size();
  Sample sample(static_cast<std::uint64_t>(size));
  for (const Algorithm& algorithm : algorithms_of(Collective::broadcast)) {
    for (const int nodes : {1, 2, 3}) {
      CAPTURE(algorithm.name);
      Options options = options_with(nodes);
      options.algorithm = fmt::format("broadcast:{}", algorithm.name);
      options.staging_kib = 64;
      Communicator communicator(MPI_COMM_WORLD, options);
      for (int root = 0; root < size; ++root) {
        for (const std::size_t count : {std::size_t{1}, std::size_t{450}, std::size_t{30'000}}) {
          if (algorithm.name.starts_with("lines") && count > 450) continue;
          if (!sample.takes_next()) continue;
          const CollectiveReference reference{.collective = Collective::broadcast,
                                              .member_count = size,
                                              .root = root,
                                              .count = count,
                                              .block_counts = {}};
          CallTrial trial(reference, communicator.rank(), Placement::in_place);
          trial.fill(1);
          CHECK(complaint_of(algorithm, [&] {
                  communicator.run(trial.call());
                  return trial.complaint();
                }) == "");
        }
      }
      if (!sample.takes_next()) continue;
      CHECK(complaint_of(algorithm, [&] { return try_gaps(communicator, {100}, size - 1); }) == "");
    }
  }
}

}  // namespace broadcast_mpi_test
}  // namespace hycoll::tests
