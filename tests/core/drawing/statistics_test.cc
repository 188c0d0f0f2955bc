#include "core/drawing/statistics.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstddef>

#include "collectives/algorithms/registry.h"
#include "core/schedule/builder.h"
#include "tests/core/verifier/examples.h"

namespace hycoll {
namespace statistics_test {

TEST_CASE("steps are counted by kind") {
  for (std::size_t members = 2; members <= 6; ++members) {
    const ScheduleStatistics counted =
        statistics(testing::central_example(static_cast<int>(members)));
    CHECK(counted.count_of(StepKind::reduce) == 1);
    CHECK(counted.count_of(StepKind::signal) == members);  // the others arrive, worker 0 has done
    CHECK(counted.count_of(StepKind::wait) == 2 * (members - 1));
    CHECK(counted.count_of(StepKind::send) == 0);
    CHECK(counted.count_of(StepKind::recv) == 0);
    CHECK(counted.count_of(StepKind::copy) == 0);
    CHECK(counted.count_of(StepKind::native) == 0);
  }
  for (const Schedule& schedule : testing::all_examples()) {
    CHECK(statistics(schedule).step_count() == schedule.step_count());
  }
}

TEST_CASE("volumes in chunks") {
  const ScheduleStatistics central = statistics(testing::central_example(3));
  REQUIRE(central.nodes.size() == 1);
  CHECK(central.maximum.reduce_read == 3 * 2);
  CHECK(central.maximum.reduce_written == 3 * 2);
  CHECK(central.maximum.scratch == 0);

  const ScheduleStatistics staged = statistics(testing::staged_example(3));
  CHECK(staged.maximum.staging == 3);
  CHECK(staged.maximum.copy_read == 3);
  CHECK(staged.maximum.copy_written == 3);
  CHECK(staged.maximum.reduce_read == 9);
  CHECK(staged.maximum.reduce_written == 3);

  CHECK(statistics(testing::lines_example(4)).maximum.lines == 4);

  const ScheduleStatistics native = statistics(testing::native_example(3));
  CHECK(native.message_count == 0);
  REQUIRE(native.nodes.size() == 3);
  for (const NodeStatistics& node : native.nodes) {
    CHECK(node.native_count == 1);
    CHECK(node.native == 1);
    CHECK(node.scratch == 1);
  }
}

TEST_CASE("aggregators count like other nodes") {
  const ScheduleStatistics counted = statistics(testing::aggregator_example(Collective::allreduce));
  REQUIRE(counted.nodes.size() == 3);
  const NodeStatistics& aggregator = counted.nodes[1];
  CHECK(aggregator.send_count == 4);
  CHECK(aggregator.sent == 4);
  CHECK(aggregator.received == 4);
  CHECK(aggregator.reduce_read == 4);
  CHECK(aggregator.reduce_written == 2);
  CHECK(aggregator.staging == 6);
  CHECK(counted.nodes[0].staging == 0);
  CHECK(counted.nodes[2].reduce_read == 0);
  CHECK(counted.message_count == 2 + 4 + 2);
  CHECK(counted.critical_message_count == 2);  // up and down, on both lanes at once
  // Nobody sends the result of a reduce any further.
  const ScheduleStatistics reduce = statistics(testing::aggregator_example(Collective::reduce));
  CHECK(reduce.message_count == 2 + 2 + 2);
  CHECK(reduce.nodes[2].received == 0);
}

TEST_CASE("the maximum is that of each field") {
  const ScheduleStatistics chain = statistics(testing::chain_example(4));
  REQUIRE(chain.nodes.size() == 4);
  CHECK(chain.message_count == 12);
  for (std::size_t node = 0; node < 4; ++node) {
    const bool is_end = node == 0 || node == 3;
    CHECK(chain.nodes[node].send_count == (is_end ? 2 : 4));
    CHECK(chain.nodes[node].sent == (is_end ? 2 : 4));
    CHECK(chain.nodes[node].received == (is_end ? 2 : 4));
    CHECK(chain.nodes[node].reduce_written == (node == 0 ? 0 : 2));
  }
  CHECK(chain.maximum.send_count == 4);
  CHECK(chain.maximum.reduce_written == 2);
  CHECK(chain.maximum.scratch == 2);
}

TEST_CASE("volumes in bytes follow the partition") {
  const Schedule chain = testing::chain_example(3);
  const Partition partition = Partition::explicit_offsets({0, 5, 7});
  const ScheduleStatistics counted = statistics(chain, partition, 8);
  CHECK(counted.message_count == 8);
  CHECK(counted.nodes[0].sent == 7 * 8);
  CHECK(counted.nodes[1].sent == 2 * 7 * 8);
  CHECK(counted.nodes[1].reduce_read == 2 * 7 * 8);
  CHECK(counted.nodes[1].reduce_written == 7 * 8);
  CHECK(counted.maximum.scratch == 7 * 8);
  // Nothing but the volumes depends on it.
  const ScheduleStatistics chunks = statistics(chain);
  CHECK(counted.step_counts == chunks.step_counts);
  CHECK(counted.critical_message_count == chunks.critical_message_count);
  CHECK(counted.critical_step_count == chunks.critical_step_count);
  CHECK(statistics(chain, Partition::uniform(0, 2), 8).maximum.sent == 0);
}

TEST_CASE("the longest chains by hand") {
  // recv, send | the other's reduce: its recv completes after this send, then it reduces.
  const ScheduleStatistics exchange = statistics(testing::exchange_example());
  CHECK(exchange.critical_message_count == 1);
  CHECK(exchange.critical_step_count == 4);  // recv, send, [message] the other's recv, reduce
  for (int nodes = 2; nodes <= 6; ++nodes) {
    CHECK(statistics(testing::chain_example(nodes)).critical_message_count ==
          2 * static_cast<std::size_t>(nodes - 1));
  }
  // Signal, wait, reduce, signal, wait; with more members worker 0 waits once for each.
  for (int members = 2; members <= 5; ++members) {
    const ScheduleStatistics central = statistics(testing::central_example(members));
    CHECK(central.critical_message_count == 0);
    CHECK(central.critical_step_count == static_cast<std::size_t>(members - 1) + 4);
  }
  // Copy into lines, reduce.
  CHECK(statistics(testing::lines_example(3)).critical_step_count == 2);
  const ScheduleStatistics native = statistics(testing::native_example(3));
  CHECK(native.critical_message_count == 1);
  CHECK(native.critical_step_count == 7);  // signal, wait, reduce, native, copy, signal, wait
}

TEST_CASE("the exchanges cost what their papers say") {
  constexpr std::size_t kElementBytes = 4;
  for (std::size_t nodes = 2; nodes <= 17; ++nodes) {
    CAPTURE(nodes);
    const Shape shape = Shape::uniform(static_cast<int>(nodes), 1, 1);
    const auto count = [&](std::string_view name) {
      const Schedule schedule = find_algorithm(Collective::allreduce, name).generate(shape);
      const auto partition = Partition::uniform(16, schedule.chunk_count);
      struct Counted {
        ScheduleStatistics statistics;
        std::size_t vector_bytes;
      };
      return Counted{statistics(schedule, partition, kElementBytes),
                     partition.element_count() * kElementBytes};
    };
    const auto [ring, ring_bytes] = count("ring");
    CHECK(ring.critical_message_count == 2 * (nodes - 1));
    CHECK(ring.maximum.send_count == 2 * (nodes - 1));
    CHECK(ring.maximum.sent * nodes == 2 * ring_bytes * (nodes - 1));

    const bool is_power = std::has_single_bit(nodes);
    const std::size_t log = std::bit_width(nodes) - 1;
    const auto [doubling, doubling_bytes] = count("recursive-doubling");
    const auto [halving, halving_bytes] = count("halving-doubling");
    if (is_power) {
      CHECK(doubling.critical_message_count == log);
      CHECK(doubling.maximum.sent == doubling_bytes * log);
      CHECK(halving.critical_message_count == 2 * log);
      CHECK(halving.maximum.sent * nodes == 2 * halving_bytes * (nodes - 1));
    } else {
      CHECK(doubling.critical_message_count <= log + 2);
      CHECK(halving.critical_message_count <= 2 * log + 2);
    }
  }
}

}  // namespace statistics_test
}  // namespace hycoll
