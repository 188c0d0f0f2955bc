// The six-step transform against the definition, with members that exchange in memory.

#include "tools/fft/six_step.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <numbers>
#include <thread>
#include <vector>

namespace hycoll::fft {
namespace {

/// Members that are threads of the test.
class Members {
 public:
  explicit Members(int count)
      : barrier_(count), inputs_(static_cast<std::size_t>(count), nullptr) {}

  class OneOfThem final : public Exchange {
   public:
    OneOfThem(Members& all, std::size_t member) : all_(all), member_(member) {}
    void alltoall(const Complex* input, Complex* output, std::size_t block) override {
      all_.inputs_[member_] = input;
      all_.barrier_.arrive_and_wait();
      for (std::size_t from = 0; from < all_.inputs_.size(); ++from) {
        std::copy_n(all_.inputs_[from] + member_ * block, block, output + from * block);
      }
      all_.barrier_.arrive_and_wait();
    }

   private:
    Members& all_;
    std::size_t member_;
  };

 private:
  std::barrier<> barrier_;
  std::vector<const Complex*> inputs_;
};

Complex element(std::size_t index) {
  return {static_cast<double>(index * index % 17), static_cast<double>(index % 5) - 2};
}

std::vector<Complex> by_definition(std::size_t size) {
  std::vector<Complex> result(size);
  const double step = -2 * std::numbers::pi / static_cast<double>(size);
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t j = 0; j < size; ++j) {
      result[k] += element(j) * std::polar(1.0, step * static_cast<double>(j * k % size));
    }
  }
  return result;
}

std::vector<Complex> transformed(const Grid& grid, int member_count, PhaseTimes& times) {
  std::vector<Complex> vector(grid.size());
  for (std::size_t i = 0; i < vector.size(); ++i) vector[i] = element(i);
  const RowTransform of_rows(grid.rows);
  const RowTransform of_columns(grid.columns);
  Members members(member_count);
  const std::size_t share = grid.size() / static_cast<std::size_t>(member_count);
  std::vector<PhaseTimes> all_times(static_cast<std::size_t>(member_count), PhaseTimes{});
  std::vector<std::thread> threads;
  for (int member = 0; member < member_count; ++member) {
    threads.emplace_back([&, member, m = static_cast<std::size_t>(member)] {
      SixStep transform(grid, member, member_count, of_rows, of_columns);
      Members::OneOfThem exchange(members, m);
      transform.run(exchange, std::span(vector).subspan(m * share, share), Threads::one,
                    all_times[m]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  times = all_times.front();
  return vector;
}

TEST_CASE("the transform is that of the definition, on any grid and number of members") {
  struct Case {
    Grid grid;
    std::vector<int> members;
  };
  for (const Case& c : {Case{{1, 1}, {1}}, Case{{4, 4}, {1, 2, 4}}, Case{{6, 12}, {1, 2, 3, 6}},
                        Case{{15, 5}, {1, 5}}, Case{{8, 1}, {1}}}) {
    const std::vector<Complex> expected = by_definition(c.grid.size());
    for (const int members : c.members) {
      CAPTURE(c.grid.rows);
      CAPTURE(c.grid.columns);
      CAPTURE(members);
      PhaseTimes times{};
      const std::vector<Complex> result = transformed(c.grid, members, times);
      for (std::size_t k = 0; k < result.size(); ++k) {
        CHECK(std::abs(result[k] - expected[k]) < 1e-12 * static_cast<double>(20 * c.grid.size()));
      }
      CHECK(std::ranges::all_of(times, [](double time) { return time > 0; }));
    }
  }
}

}  // namespace
}  // namespace hycoll::fft
