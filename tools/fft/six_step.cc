#include "tools/fft/six_step.h"

#include <chrono>
#include <numbers>

namespace hycoll::fft {
namespace {

/// Adds the time until its end to a phase's.
class Timed {
 public:
  Timed(PhaseTimes& times, Phase phase) : time_(times[static_cast<std::size_t>(phase)]) {}
  ~Timed() {
    time_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  double& time_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// body(i) for each i below `count`.
template <class Body>
void for_each(Threads threads, std::size_t count, const Body& body) {
#pragma omp parallel for if (threads == Threads::whole_region)
  for (std::size_t i = 0; i < count; ++i) body(i);
}

/// Of finite numbers, without the looks at infinities that operator* takes.
Complex product(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// The member's factors w^(row * column), of its rows of the transpose, w an N-th root of one.
std::vector<Complex> twiddle_factors(const Grid& grid, std::size_t first_row, std::size_t rows) {
  std::vector<Complex> factors;
  factors.reserve(rows * grid.rows);
  const double step = -2 * std::numbers::pi / static_cast<double>(grid.size());
  for (std::size_t row = first_row; row < first_row + rows; ++row) {
    for (std::size_t column = 0; column < grid.rows; ++column) {
      factors.push_back(std::polar(1.0, step * static_cast<double>(row * column % grid.size())));
    }
  }
  return factors;
}

}  // namespace

std::string_view name_of(Phase phase) {
  constexpr std::array<std::string_view, kPhaseCount> names = {"pack", "exchange", "unpack",
                                                               "transform", "twiddle"};
  return names[static_cast<std::size_t>(phase)];
}

SixStep::SixStep(const Grid& grid, int member, int member_count, const RowTransform& of_rows,
                 const RowTransform& of_columns)
    : grid_(grid),
      member_count_(static_cast<std::size_t>(member_count)),
      of_rows_(of_rows),
      of_columns_(of_columns) {
  const std::size_t rows = grid.columns / member_count_;  // of the transpose
  factors_ = twiddle_factors(grid, static_cast<std::size_t>(member) * rows, rows);
  packed_.resize(factors_.size());
  received_.resize(factors_.size());
}

void SixStep::run(Exchange& exchange, std::span<Complex> part, Threads threads, PhaseTimes& times) {
  const Grid transposed{.rows = grid_.columns, .columns = grid_.rows};
  transpose(grid_, exchange, part, threads, times);
  transform(of_rows_, part, threads, times);
  twiddle(part, threads, times);
  transpose(transposed, exchange, part, threads, times);
  transform(of_columns_, part, threads, times);
  transpose(grid_, exchange, part, threads, times);
}

void SixStep::transpose(const Grid& from, Exchange& exchange, std::span<Complex> part,
                        Threads threads, PhaseTimes& times) {
  const std::size_t rows = from.rows / member_count_;
  const std::size_t columns = from.columns / member_count_;
  const std::size_t block = rows * columns;
  {
    // A member gets the elements of its rows of the transpose, column by column.
    const Timed timed(times, Phase::pack);
    for_each(threads, from.columns, [&](std::size_t column) {
      Complex* const to = packed_.data() + column * rows;
      for (std::size_t row = 0; row < rows; ++row) to[row] = part[row * from.columns + column];
    });
  }
  {
    const Timed timed(times, Phase::exchange);
    exchange.alltoall(packed_.data(), received_.data(), block);
  }
  const Timed timed(times, Phase::unpack);
  for_each(threads, columns, [&](std::size_t column) {
    Complex* to = part.data() + column * from.rows;
    for (std::size_t source = 0; source < member_count_; ++source) {
      const Complex* const received = received_.data() + source * block + column * rows;
      for (std::size_t row = 0; row < rows; ++row) *to++ = received[row];
    }
  });
}

void SixStep::transform(const RowTransform& transform, std::span<Complex> part, Threads threads,
                        PhaseTimes& times) const {
  const Timed timed(times, Phase::transform);
  const std::size_t length = transform.length();
  for_each(threads, part.size() / length,
           [&](std::size_t row) { transform.run(part.data() + row * length); });
}

void SixStep::twiddle(std::span<Complex> part, Threads threads, PhaseTimes& times) const {
  const Timed timed(times, Phase::twiddle);
  const std::size_t length = grid_.rows;
  for_each(threads, part.size() / length, [&](std::size_t row) {
    for (std::size_t i = row * length; i < (row + 1) * length; ++i) {
      part[i] = product(part[i], factors_[i]);
    }
  });
}

}  // namespace hycoll::fft
