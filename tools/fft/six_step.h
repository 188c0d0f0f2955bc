#ifndef HYCOLL_TOOLS_FFT_SIX_STEP_H_
#define HYCOLL_TOOLS_FFT_SIX_STEP_H_

#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "tools/fft/row_transform.h"

namespace hycoll::fft {

/// What the time of a transform goes to.
enum class Phase { pack, exchange, unpack, transform, twiddle };
inline constexpr std::size_t kPhaseCount = 5;
std::string_view name_of(Phase phase);

/// Seconds.
using PhaseTimes = std::array<double, kPhaseCount>;

/// A member's way to the other members.
class Exchange {
 public:
  virtual ~Exchange() = default;
  /// Every member's block m, of `block` elements, becomes a block of member m's output.
  virtual void alltoall(const Complex* input, Complex* output, std::size_t block) = 0;
};

/// The vector's elements as a matrix, row by row. Each member has neighbouring rows of it, and of
/// its transpose: the numbers of both are multiples of the number of members.
struct Grid {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t size() const { return rows * columns; }
};

/// Who works on a member's rows.
enum class Threads {
  one,           ///< The caller.
  whole_region,  ///< A parallel region of OpenMP's, which each loop begins.
};

/// One member's part of a forward transform of the whole vector, which is spread over the members
/// in equal parts, in their order, before and after: the six-step algorithm (D. H. Bailey, FFTs in
/// external or hierarchical memory, 1990), three transposes and the transforms of all rows before
/// the second and the third of them.
class SixStep {
 public:
  /// The transforms, of length grid.rows and grid.columns, outlive this object.
  SixStep(const Grid& grid, int member, int member_count, const RowTransform& of_rows,
          const RowTransform& of_columns);

  /// Transforms the member's part in place. Adds to the times what each phase takes. Collective.
  void run(Exchange& exchange, std::span<Complex> part, Threads threads, PhaseTimes& times);

 private:
  void transpose(const Grid& from, Exchange& exchange, std::span<Complex> part, Threads threads,
                 PhaseTimes& times);
  void transform(const RowTransform& transform, std::span<Complex> part, Threads threads,
                 PhaseTimes& times) const;
  void twiddle(std::span<Complex> part, Threads threads, PhaseTimes& times) const;

  Grid grid_;
  std::size_t member_count_;
  const RowTransform& of_rows_;
  const RowTransform& of_columns_;
  std::vector<Complex> factors_;
  std::vector<Complex> packed_;
  std::vector<Complex> received_;
};

}  // namespace hycoll::fft

#endif  // HYCOLL_TOOLS_FFT_SIX_STEP_H_
