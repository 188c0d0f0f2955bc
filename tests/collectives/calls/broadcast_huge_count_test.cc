// Every broadcast algorithm bound to vectors of more bytes, or elements, than 32 bits count: what
// its instructions write, send and receive. tests/collectives/calls/huge_count_mpi_test.cc executes
// such a call.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "collectives/algorithms/registry.h"
#include "core/schedule/schedule_text.h"
#include "tests/support/lines_limit.h"
#include "threading/program/program.h"
#include "threading/program/schedule_binding.h"

namespace hycoll {
namespace {

/// Bytes [begin, end) of a buffer.
struct Extent {
  std::size_t begin;
  std::size_t end;
  friend auto operator<=>(const Extent&, const Extent&) = default;
};

/// Whether the extents are [0, size_bytes), every byte once.
bool tile(std::vector<Extent> extents, std::size_t size_bytes) {
  std::ranges::sort(extents);
  std::size_t end = 0;
  for (const Extent& extent : extents) {
    if (extent.begin != end) return false;
    end = extent.end;
  }
  return end == size_bytes;
}

/// What the programs of all nodes do together.
class Effects {
 public:
  Effects(const Schedule& schedule, std::size_t count, std::size_t element_bytes)
      : shape_(schedule.shape), written_(static_cast<std::size_t>(shape_.member_count())) {
    for (int node = 0; node < shape_.node_count(); ++node) {
      for (const Program& program :
           bind_schedule(schedule, node, {.count = count}, {.element_bytes = element_bytes})) {
        for (const StrandProgram& strand : program.strands) {
          for (const Instruction& instruction : strand.instructions) {
            add(node, program, instruction);
          }
        }
      }
    }
  }

  const std::vector<Extent>& written(int member) const {
    return written_[static_cast<std::size_t>(member)];
  }
  bool messages_match() const { return sent_ == received_; }
  std::size_t longest_message_bytes() const {
    std::size_t longest = 0;
    for (const auto& [message, size_bytes] : sent_) longest = std::max(longest, size_bytes);
    return longest;
  }

 private:
  using Message = std::tuple<int, int, int, int>;  // lane, from, to, tag

  void add(int node, const Program& program, const Instruction& instruction) {
    if (instruction.kind == InstructionKind::send) {
      sent_[{instruction.lane, node, instruction.peer, instruction.tag}] = instruction.size_bytes;
    } else if (instruction.kind == InstructionKind::receive) {
      received_[{instruction.lane, instruction.peer, node, instruction.tag}] =
          instruction.size_bytes;
    }
    const auto destinations =
        std::span(program.operands)
            .subspan(instruction.first_operand, instruction.destination_count);
    for (const Operand& operand : destinations) {
      if (operand.role != BufferRole::output || instruction.size_bytes == 0) continue;
      const int member = shape_.first_member(node) + operand.index;
      written_[static_cast<std::size_t>(member)].push_back(
          {operand.offset_bytes, operand.offset_bytes + instruction.size_bytes});
    }
  }

  Shape shape_;
  std::vector<std::vector<Extent>> written_;  // by member
  std::map<Message, std::size_t> sent_;
  std::map<Message, std::size_t> received_;
};

/// Returns the longest message.
std::size_t check(const Algorithm& algorithm, const Shape& shape, std::size_t count,
                  std::size_t element_bytes) {
  const std::size_t size_bytes = count * element_bytes;
  std::size_t longest = 0;
  for (const int segments : {1, 3}) {
    for (int root = 0; root < shape.member_count(); ++root) {
      CAPTURE(algorithm.name);
      CAPTURE(to_text(shape));
      CAPTURE(count);
      CAPTURE(root);
      const Schedule schedule = algorithm.generate(shape, segments, root);
      if (tests::too_long_for_lines(schedule, size_bytes)) return SIZE_MAX;
      const Effects effects(schedule, count, element_bytes);
      CHECK(effects.messages_match());
      longest = std::max(longest, effects.longest_message_bytes());
      for (int member = 0; member < shape.member_count(); ++member) {
        if (member == root) {
          CHECK(effects.written(member).empty());
        } else {
          CHECK(tile(effects.written(member), size_bytes));
        }
      }
    }
  }
  return longest;
}

TEST_CASE("beyond 32 bits every byte of every output is written once, and messages match") {
  constexpr std::size_t kTwoTo31 = std::size_t{1} << 31;
  const std::vector<Shape> shapes = {Shape::uniform(1, 3, 1), Shape::uniform(2, 2, 1),
                                     Shape::uniform(3, 1, 2), Shape({{1, 2}, {3, 3}, {2, 2}}, 2),
                                     Shape({{1, 1}, {3, 3}, {2, 2}, {0, 1}}, 2)};
  for (const Algorithm& algorithm : algorithms_of(Collective::broadcast)) {
    for (const Shape& shape : shapes) {
      if (!algorithm.serves_shape(shape)) continue;
      check(algorithm, shape, kTwoTo31 + 65'537, 1);
      const std::size_t longest = check(algorithm, shape, 2 * kTwoTo31 + 12'347, 12);
      if (shape.node_count() > 1) CHECK(longest > kTwoTo31);
    }
  }
}

}  // namespace
}  // namespace hycoll
