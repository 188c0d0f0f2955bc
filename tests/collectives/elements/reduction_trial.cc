#include "tests/collectives/elements/reduction_trial.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

namespace hycoll::testing {
namespace {

constexpr std::size_t kGuardBytes = 64;
constexpr std::byte kPoison{0xa7};

/// A vector between guards.
class Buffer {
 public:
  explicit Buffer(std::size_t size_bytes)
      : size_bytes_(size_bytes), memory_(size_bytes + 2 * kGuardBytes, kPoison) {}
  std::byte* data() { return memory_.data() + kGuardBytes; }
  bool has_guards() const {
    const auto is_poison = [](std::byte byte) { return byte == kPoison; };
    return std::all_of(memory_.begin(), memory_.begin() + kGuardBytes, is_poison) &&
           std::all_of(memory_.begin() + static_cast<std::ptrdiff_t>(kGuardBytes + size_bytes_),
                       memory_.end(), is_poison);
  }

 private:
  std::size_t size_bytes_;
  std::vector<std::byte> memory_;
};

/// One reduction: its operands, what is expected, and what came of it.
class Trial {
 public:
  Trial(const ReductionSubject& subject, ReductionOp op, const Arrangement& arrangement,
        std::size_t count)
      : subject_(subject),
        count_(count),
        size_bytes_(count * subject.size_bytes),
        sources_(static_cast<std::size_t>(arrangement.source_count), Buffer(size_bytes_)),
        destinations_(static_cast<std::size_t>(arrangement.destination_count),
                      Buffer(size_bytes_)) {
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      fill(sources_[index], index);
      source_addresses_.push_back(sources_[index].data());
    }
    expected_.assign(sources_[0].data(), sources_[0].data() + size_bytes_);
    for (std::size_t index = 1; index < sources_.size(); ++index) {
      subject.fold_into_left(op, sources_[index].data(), expected_.data(), count);
    }
    for (Buffer& destination : destinations_) addresses_.push_back(destination.data());
    use_source_as_destination(0, arrangement.first_destination_is_source);
    use_source_as_destination(1, arrangement.second_destination_is_source);
  }

  /// Reduces and returns what is wrong; empty if nothing is.
  std::string run(const Reducer& reducer) {
    reducer(addresses_, source_addresses_, count_, Stores::cached);
    for (std::size_t number = 0; number < addresses_.size(); ++number) {
      if (differs(static_cast<const std::byte*>(addresses_[number]), expected_.data())) {
        return fmt::format("destination {} of {} elements is wrong", number, count_);
      }
    }
    for (const auto* buffers : {&sources_, &destinations_}) {
      for (const Buffer& buffer : *buffers) {
        if (!buffer.has_guards()) return "bytes beside a buffer were written";
      }
    }
    for (std::size_t index = 0; index < sources_.size(); ++index) {
      if (std::find(addresses_.begin(), addresses_.end(), source_addresses_[index]) !=
          addresses_.end()) {
        continue;
      }
      Buffer original(size_bytes_);
      fill(original, index);
      if (differs(original.data(), sources_[index].data())) {
        return fmt::format("source {} was changed", index);
      }
    }
    return "";
  }

 private:
  void fill(Buffer& buffer, std::size_t source) const {
    subject_.fill(buffer.data(), count_, 1000 * count_ + source);
  }

  void use_source_as_destination(std::size_t destination, int source) {
    if (source >= 0) addresses_[destination] = sources_[static_cast<std::size_t>(source)].data();
  }

  bool differs(const std::byte* left, const std::byte* right) const {
    for (std::size_t offset = 0; offset < size_bytes_; offset += subject_.size_bytes) {
      if (!subject_.is_equal(left + offset, right + offset)) return true;
    }
    return false;
  }

  const ReductionSubject& subject_;
  std::size_t count_;
  std::size_t size_bytes_;
  std::vector<Buffer> sources_;
  std::vector<Buffer> destinations_;
  std::vector<const void*> source_addresses_;
  std::vector<void*> addresses_;
  std::vector<std::byte> expected_;
};

}  // namespace

std::vector<Arrangement> all_arrangements() {
  std::vector<Arrangement> arrangements;
  for (int sources = 1; sources <= 5; ++sources) {
    for (int destinations = 1; destinations <= 3; ++destinations) {
      for (int first = -1; first < sources; ++first) {
        for (int second = -1; second < (destinations > 1 ? sources : 0); ++second) {
          if (first != -1 && first == second) continue;
          arrangements.push_back({sources, destinations, first, second});
        }
      }
    }
  }
  return arrangements;
}

std::vector<std::size_t> counts_around_a_block(std::size_t element_bytes) {
  const std::size_t block = 8192 / element_bytes;
  return {0, 1, 3, block - 1, block, block + 1, 2 * block + 1};
}

std::string try_reducer(const ReductionSubject& subject, ReductionOp op, const Reducer& reducer,
                        const Arrangement& arrangement, std::size_t count) {
  return Trial(subject, op, arrangement, count).run(reducer);
}

void check_arrangements(const ReductionSubject& subject, ReductionOp op, const Reducer& reducer,
                        const std::vector<Arrangement>& arrangements,
                        const std::vector<std::size_t>& counts) {
  for (const Arrangement& arrangement : arrangements) {
    for (const std::size_t count : counts) {
      const std::string wrong = try_reducer(subject, op, reducer, arrangement, count);
      if (wrong.empty()) continue;
      FAIL_CHECK(
          fmt::format("{} sources, {} destinations (the first is source {}, the second {}): {}",
                      arrangement.source_count, arrangement.destination_count,
                      arrangement.first_destination_is_source,
                      arrangement.second_destination_is_source, wrong));
      return;
    }
  }
}

}  // namespace hycoll::testing
